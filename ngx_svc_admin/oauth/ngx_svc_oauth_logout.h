/*
 * Requests of clients to sign a user out (OpenID Connect RP-Initiated Logout
 * 1.0): what the endpoint, and the API of the page that asks, have in common.
 */

#ifndef _NGX_SVC_OAUTH_LOGOUT_H_INCLUDED_
#define _NGX_SVC_OAUTH_LOGOUT_H_INCLUDED_


#include "ngx_svc_jws.h"
#include "ngx_svc_oauth_client.h"


/* sr->data; of the request's pool, as all that it points to. */

typedef struct {
    ngx_svc_oauth_t       oauth;        /* first: the client, if it is named,
                                           by the hint or by itself */
    ngx_str_t             redirect_uri; /* no data: none, as below */
    ngx_str_t             state;
    ngx_str_t             digest;       /* of the browser's session */
    ngx_svc_jws_t        *hint;         /* NULL: none that could be ours */

    unsigned              hinted:1;     /* there is a hint, whatever it is */
    unsigned              named:1;      /* there is "client_id" */

    /* once PostgreSQL has answered */

    unsigned              valid:1;      /* it is an ID token of the client */
    unsigned              session:1;    /* the browser has one of the tenant, */
    unsigned              same:1;       /* and it is the hint's */
} ngx_svc_oauth_logout_t;

#define ngx_svc_oauth_logout_param(field)                                     \
    ngx_svc_param_data(ngx_svc_oauth_logout_t, field)


/*
 * For a prepare: takes a query apart, into sr->data.  NGX_OK; NGX_DECLINED with
 * sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_parse(ngx_svc_request_t *sr,
    const ngx_str_t *query, ngx_svc_oauth_logout_t **logout);

/* 1: there is a client to be looked for. */
#define ngx_svc_oauth_logout_client_is(lo)                                    \
    ((lo)->oauth.client.digest.len != 0)

/*
 * Adds what finds the client, the key of the hint, and the session that the
 * credential has let in.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_calls(ngx_svc_oauth_logout_t *lo);

/*
 * For a reply, of their results.  NGX_OK; NGX_DECLINED with sr->error: the
 * client is unknown, or the URI is not one of its; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_judge(ngx_svc_oauth_logout_t *lo);

/*
 * Behind that, and for a request without a client: where the browser goes once
 * its user has signed out; no data: nowhere.  A hint that is none of the
 * client's leads nowhere.  asked: the user was, so that one without does.
 */
ngx_int_t ngx_svc_oauth_logout_target(ngx_svc_oauth_logout_t *lo,
    ngx_uint_t asked, ngx_str_t *location);

/* The query once more, each name and value encoded.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_logout_query(ngx_svc_oauth_logout_t *lo,
    ngx_str_t *query);


#endif /* _NGX_SVC_OAUTH_LOGOUT_H_INCLUDED_ */
