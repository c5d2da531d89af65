/*
 * What comes of an authorization request: its round trip, and its verdict.
 */

#ifndef _NGX_SVC_OAUTH_OUTCOME_H_INCLUDED_
#define _NGX_SVC_OAUTH_OUTCOME_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


typedef enum {
    NGX_SVC_OAUTH_FAILED = 0,       /* 500 */
    NGX_SVC_OAUTH_REFUSED,          /* nobody is sent anywhere */
    NGX_SVC_OAUTH_WRONG,            /* an error of the client's */
    NGX_SVC_OAUTH_NO_SESSION,       /* of the client's tenant */
    NGX_SVC_OAUTH_AGAIN,            /* there is one: another one is needed */
    NGX_SVC_OAUTH_ASK,              /* the user must consent */
    NGX_SVC_OAUTH_JUDGED,           /* the policy allows it: come again */
    NGX_SVC_OAUTH_DONE
} ngx_svc_oauth_outcome_e;


/*
 * For a prepare: adds the credential of a public route, if it has one, the
 * client's login and ar->statement to sr->op; with an id_token_hint by another
 * round trip, after one that finds its key.  NGX_OK; NGX_DECLINED with
 * sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_outcome_calls(ngx_svc_oauth_request_t *ar);

/*
 * For a reply: of the results of both; the latter's row has "_verdict".  With
 * sr->error, but _FAILED, _JUDGED and _DONE.
 */
ngx_svc_oauth_outcome_e ngx_svc_oauth_outcome(ngx_svc_oauth_request_t *ar,
    PGresult *login, PGresult *res);

/* Sets sr->error to what is told when the user refuses.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_outcome_denied(ngx_svc_oauth_request_t *ar);

/* Of _JUDGED.  Returns what goes to ngx_http_finalize_request(). */
ngx_int_t ngx_svc_oauth_outcome_again(ngx_svc_oauth_request_t *ar);


#endif /* _NGX_SVC_OAUTH_OUTCOME_H_INCLUDED_ */
