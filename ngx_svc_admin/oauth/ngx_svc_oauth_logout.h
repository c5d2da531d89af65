/*
 * Requests of clients to sign a user out (OpenID Connect RP-Initiated Logout
 * 1.0): what the endpoint shares with the API of the page that asks the user.
 */

#ifndef _NGX_SVC_OAUTH_LOGOUT_H_INCLUDED_
#define _NGX_SVC_OAUTH_LOGOUT_H_INCLUDED_


#include "ngx_svc_jws.h"
#include "ngx_svc_oauth_client.h"


/* sr->data.  It is of the request's pool, as is everything it points to. */

typedef struct {
    ngx_svc_oauth_t       oauth;        /* must be first; has the client, if
                                           the hint or client_id names one */
    ngx_str_t             redirect_uri; /* no data: there is none */
    ngx_str_t             state;        /* no data: there is none */
    ngx_str_t             digest;       /* of the session's token; no data:
                                           the browser has no session */
    ngx_svc_jws_t        *hint;         /* NULL: none that could be ours */

    unsigned              hinted:1;     /* there is a hint, good or bad */
    unsigned              named:1;      /* there is "client_id" */

    /* These are known when PostgreSQL has answered. */

    unsigned              valid:1;      /* hint is an ID token of the client */
    unsigned              session:1;    /* the browser has a session of the
                                           client's tenant */
    unsigned              same:1;       /* that session is the hint's, too */
} ngx_svc_oauth_logout_t;

#define ngx_svc_oauth_logout_param(field)                                     \
    ngx_svc_param_data(ngx_svc_oauth_logout_t, field)


/*
 * Takes a query apart, into sr->data.  Call it in a prepare.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_parse(ngx_svc_request_t *sr,
    const ngx_str_t *query, ngx_svc_oauth_logout_t **logout);

/* 1: the request names a client, which can be looked for. */
#define ngx_svc_oauth_logout_client_is(lo)                                    \
    ((lo)->oauth.client.digest.len != 0)

/*
 * Adds the calls that find the client, the key of the hint, and the session
 * that the credential has let in.  Returns NGX_OK; NGX_DECLINED with sr->error
 * set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_calls(ngx_svc_oauth_logout_t *lo);

/*
 * Reads the results of those calls.  Call it in the reply.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set: client_id is unknown, or the URI is not one
 * of the client's; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_judge(ngx_svc_oauth_logout_t *lo);

/*
 * Sets *location to where the browser goes when its user has signed out; no
 * data: nowhere.  Call it after ngx_svc_oauth_logout_judge(), or for a request
 * without a client.  The browser goes to the URI if the hint is the client's;
 * asked: the user has been asked, and so no hint will do, too.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_target(ngx_svc_oauth_logout_t *lo,
    ngx_uint_t asked, ngx_str_t *location);

/*
 * Writes the query once more, with each name and value encoded.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_logout_query(ngx_svc_oauth_logout_t *lo,
    ngx_str_t *query);


#endif /* _NGX_SVC_OAUTH_LOGOUT_H_INCLUDED_ */
