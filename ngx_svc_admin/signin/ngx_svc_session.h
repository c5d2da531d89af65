/*
 * Sessions: the cookie, the statements that find it, and the CSRF token.
 */

#ifndef _NGX_SVC_SESSION_H_INCLUDED_
#define _NGX_SVC_SESSION_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * A session's key is the id of its tenant and a secret; svc.session has the
 * digest of the secret.
 */

#define NGX_SVC_SESSION_SECRET  32
#define NGX_SVC_SESSION_KEY     (NGX_SVC_UUID_LEN + NGX_SVC_SESSION_SECRET)
#define NGX_SVC_SESSION_COOKIE  64          /* base64url of a key */
#define NGX_SVC_CSRF_TOKEN      22          /* base64url of a MAC */


/* What a session waits for; a second factor comes before a new password. */

typedef enum {
    NGX_SVC_STAGE_FULL = 0,
    NGX_SVC_STAGE_MFA,
    NGX_SVC_STAGE_ENROLL,
    NGX_SVC_STAGE_PASSWORD
} ngx_svc_stage_e;

/*
 * The stage of a session that was pending when its user was locked.  The
 * session has ended for all routes but those of step-ups, which tell of the
 * lock while it lasts.
 */

#define NGX_SVC_SESSION_LOCKED  "locked"


/* sr->session, in the request's pool. */

typedef struct {
    u_char          key[NGX_SVC_SESSION_KEY];
    ngx_uint_t      csrf_failed;
} ngx_svc_session_t;


extern const ngx_svc_credential_t  ngx_svc_session_credential;

/* The stages' names: "full", "mfa", "enroll", "password". */
extern const ngx_str_t  ngx_svc_stages[];


/*
 * Call these at the start and at the end of a worker: they make and free the
 * keys of CSRF tokens.  _init_worker() returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_session_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_session_exit_worker(void);

/*
 * Reads the key in the request's cookie, whether or not its session is alive.
 * Returns NGX_OK; NGX_DONE when there is no cookie; NGX_DECLINED when it cannot
 * be one of ours, or there are several; NGX_ERROR.
 */
ngx_int_t ngx_svc_session_cookie(ngx_svc_request_t *sr,
    u_char key[NGX_SVC_SESSION_KEY]);

/*
 * Computes the CSRF token of a session.  Returns NGX_OK, or NGX_ERROR when
 * OpenSSL fails.
 */
ngx_int_t ngx_svc_session_csrf(const u_char key[NGX_SVC_SESSION_KEY],
    u_char token[NGX_SVC_CSRF_TOKEN]);

/*
 * Sets the cookie of the CSRF token anew in a browser whose cookie has another
 * token, as one that was made with an older key.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_session_renew_csrf(ngx_svc_request_t *sr,
    const u_char key[NGX_SVC_SESSION_KEY]);

/*
 * Add the two cookies of a new session to the answer, or delete both.  Return
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_session_set_cookies(ngx_svc_request_t *sr,
    const u_char key[NGX_SVC_SESSION_KEY]);
ngx_int_t ngx_svc_session_delete_cookies(ngx_svc_request_t *sr);

/*
 * Sets sr->error to that of a session that has ended, and deletes the cookies
 * if the route has NGX_SVC_ROUTE_FORGET.  Returns NGX_DECLINED or NGX_ERROR.
 */
ngx_int_t ngx_svc_session_over(ngx_svc_request_t *sr);

/*
 * Sets sr->error to what a session of that stage gets on routes that it may not
 * call.  Returns NGX_DECLINED.
 */
ngx_int_t ngx_svc_session_pending(ngx_svc_request_t *sr, ngx_svc_stage_e stage);


#endif /* _NGX_SVC_SESSION_H_INCLUDED_ */
