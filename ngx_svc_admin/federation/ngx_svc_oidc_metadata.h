/*
 * What other identity providers publish of themselves (OpenID Connect Discovery
 * 1.0, 3, with RFC 8414 and RFC 9207).
 */

#ifndef _NGX_SVC_OIDC_METADATA_H_INCLUDED_
#define _NGX_SVC_OIDC_METADATA_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_OIDC_URL_MAX  2048      /* bytes of an endpoint */


/* A document; its texts are in the pool. */

typedef struct {
    ngx_str_t        issuer;
    ngx_str_t        authorization_endpoint;
    ngx_str_t        token_endpoint;
    ngx_str_t        jwks_uri;
    ngx_str_t        userinfo_endpoint;     /* no data: there is none */
    ngx_str_t        end_session_endpoint;  /* no data: there is none */
    ngx_uint_t       algs;          /* those that it names for ID tokens and
                                       that are verified, as
                                       ngx_svc_jwa_bit(); 0: it names none */
    unsigned         basic:1;       /* client_secret_basic is supported */
    unsigned         post:1;        /* client_secret_post is supported */
    unsigned         iss:1;         /* each authorization response has iss */
    unsigned         auth_time:1;   /* it says that ID tokens have auth_time */
    const char      *why;           /* with NGX_DECLINED: "is ...",
                                       "has ..." */
} ngx_svc_oidc_metadata_t;


/*
 * Reads a document, as it was fetched or as ngx_svc_oidc_metadata_keep() wrote
 * it.  issuer: what its "issuer" must be, byte for byte.  Endpoints are https,
 * without a user and a fragment, and may have a query; with loopback they may
 * also be http to 127.0.0.1, ::1 or localhost, for tests.
 *
 * The addresses are not looked at here.  Before a document is stored the caller
 * checks token_endpoint, jwks_uri and userinfo_endpoint, which we call, as it
 * checks the URL of a webhook; the helper checks the addresses once more when
 * it connects.  The two others are for browsers.
 *
 * Returns NGX_OK; NGX_DECLINED with m->why, printable ASCII without '"';
 * NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_oidc_metadata_read(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *issuer, ngx_uint_t loopback, ngx_svc_oidc_metadata_t *m);

/*
 * Writes what is kept of a document.  Returns NGX_OK with *kept, which is of
 * the pool, or NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_oidc_metadata_keep(ngx_pool_t *pool,
    const ngx_svc_oidc_metadata_t *m, ngx_str_t *kept);


#endif /* _NGX_SVC_OIDC_METADATA_H_INCLUDED_ */
