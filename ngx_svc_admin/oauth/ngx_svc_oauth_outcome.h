/*
 * The outcome of an authorization request: its round trip, and its verdict.
 */

#ifndef _NGX_SVC_OAUTH_OUTCOME_H_INCLUDED_
#define _NGX_SVC_OAUTH_OUTCOME_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


typedef enum {
    NGX_SVC_OAUTH_FAILED = 0,       /* 500 */
    NGX_SVC_OAUTH_REFUSED,          /* the browser stays here, with the error */
    NGX_SVC_OAUTH_WRONG,            /* the client gets the error */
    NGX_SVC_OAUTH_NO_SESSION,       /* there is none of the client's tenant */
    NGX_SVC_OAUTH_AGAIN,            /* the user must sign in again */
    NGX_SVC_OAUTH_ASK,              /* the user must consent */
    NGX_SVC_OAUTH_JUDGED,           /* the access policy allows it: run the
                                       statement again */
    NGX_SVC_OAUTH_DONE              /* the request is granted */
} ngx_svc_oauth_outcome_e;


/*
 * Adds to sr->op the credential of a public route, if there is one, the
 * client's login and ar->statement.  If there is an id_token_hint, a round trip
 * before that finds its key.  Call it in a prepare.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_outcome_calls(ngx_svc_oauth_request_t *ar);

/*
 * Tells the outcome from the results of the login and of ar->statement, whose
 * row has "_verdict".  Call it in the reply.  sr->error is set, except with
 * _FAILED, _JUDGED and _DONE.
 */
ngx_svc_oauth_outcome_e ngx_svc_oauth_outcome(ngx_svc_oauth_request_t *ar,
    PGresult *login, PGresult *res);

/*
 * Sets sr->error to what the client is told when the user denies its request.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_outcome_denied(ngx_svc_oauth_request_t *ar);

/*
 * Runs the statement again, after _JUDGED.  Returns what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_oauth_outcome_again(ngx_svc_oauth_request_t *ar);


#endif /* _NGX_SVC_OAUTH_OUTCOME_H_INCLUDED_ */
