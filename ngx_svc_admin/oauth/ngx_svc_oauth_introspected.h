/*
 * What introspection answers about a token (RFC 7662, 2.2).
 */

#ifndef _NGX_SVC_OAUTH_INTROSPECTED_H_INCLUDED_
#define _NGX_SVC_OAUTH_INTROSPECTED_H_INCLUDED_


#include "ngx_svc_oauth_issue.h"


/*
 * A token that is active: its members, as text.  A member without data is left
 * out.
 */

typedef struct {
    ngx_str_t  sub;
    ngx_str_t  client_id;
    ngx_str_t  scope;
    ngx_str_t  exp;
    ngx_str_t  iss;             /* from here on of access tokens alone */
    ngx_str_t  aud;
    ngx_str_t  iat;
    ngx_str_t  jti;
    ngx_str_t  chain;
    ngx_str_t  jkt;             /* NGX_SVC_SHA256_LEN bytes */
    ngx_str_t  auth_time;       /* of a user's token alone, as is acr */
    ngx_str_t  acr;
    ngx_uint_t access;          /* 1: it is an access token */
} ngx_svc_oauth_introspected_t;


/*
 * Sets token->iat from ms and token->exp from ends, both in milliseconds, and
 * token->jti from its NGX_SVC_UUID_LEN bytes.  Their texts are of the request's
 * pool.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_introspected_times(ngx_svc_oauth_t *o, int64_t ms,
    int64_t ends, u_char *jti, ngx_svc_oauth_introspected_t *token);

/*
 * Decodes the text of a bytea into *jkt, of the request's pool; leaves *jkt
 * alone if the text has no data.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_introspected_jkt(ngx_svc_oauth_t *o,
    const ngx_str_t *text, ngx_str_t *jkt);

/*
 * Answers with the token; NULL: it is not active.  A reply returns what this
 * returns.
 */
ngx_int_t ngx_svc_oauth_introspected_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_introspected_t *token);


#endif /* _NGX_SVC_OAUTH_INTROSPECTED_H_INCLUDED_ */
