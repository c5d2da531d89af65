/*
 * Sessions: the cookie, the statements that find it, and the CSRF token.
 */

#ifndef _NGX_SVC_SESSION_H_INCLUDED_
#define _NGX_SVC_SESSION_H_INCLUDED_


#include "ngx_svc_request.h"


#define NGX_SVC_SESSION_SECRET  32
#define NGX_SVC_SESSION_KEY     (NGX_SVC_UUID_LEN + NGX_SVC_SESSION_SECRET)
#define NGX_SVC_SESSION_COOKIE  64          /* base64url of a key */
#define NGX_SVC_CSRF_TOKEN      22          /* base64url of a MAC */


/*
 * A key: the id of the tenant, and a secret, of which svc.session has the
 * SHA-256.  What a session waits for is in the order of what comes first.
 */

typedef enum {
    NGX_SVC_STAGE_FULL = 0,
    NGX_SVC_STAGE_MFA,
    NGX_SVC_STAGE_ENROLL,
    NGX_SVC_STAGE_PASSWORD
} ngx_svc_stage_e;

/*
 * The stage of one that waited when its user was locked.  It has ended, for all
 * but who tries to go on with it: he is told of the lock, while that lasts.
 */

#define NGX_SVC_SESSION_LOCKED  "locked"


/* Of the request's pool: sr->session. */

typedef struct {
    u_char          key[NGX_SVC_SESSION_KEY];
    ngx_uint_t      csrf_failed;
} ngx_svc_session_t;


extern const ngx_svc_credential_t  ngx_svc_session_credential;

/* "full", "mfa", "enroll", "password". */
extern const ngx_str_t  ngx_svc_stages[];


/* A worker's start and end: the keys of CSRF tokens.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_session_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_session_exit_worker(void);

/*
 * The request's cookie, whatever PostgreSQL would say of it.  NGX_OK; NGX_DONE:
 * there is none; NGX_DECLINED: it cannot be one of ours, or there are several;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_session_cookie(ngx_svc_request_t *sr,
    u_char key[NGX_SVC_SESSION_KEY]);

/* The CSRF token of a session.  NGX_OK, or NGX_ERROR when OpenSSL fails. */
ngx_int_t ngx_svc_session_csrf(const u_char key[NGX_SVC_SESSION_KEY],
    u_char token[NGX_SVC_CSRF_TOKEN]);

/*
 * Has a browser whose cookie has another one, as of a key that is gone, get it
 * anew.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_session_renew_csrf(ngx_svc_request_t *sr,
    const u_char key[NGX_SVC_SESSION_KEY]);

/*
 * Adds both cookies to the answer, of a new session; or deletes them.  NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_session_set_cookies(ngx_svc_request_t *sr,
    const u_char key[NGX_SVC_SESSION_KEY]);
ngx_int_t ngx_svc_session_delete_cookies(ngx_svc_request_t *sr);

/* Sets sr->error to what one that has ended gets; NGX_DECLINED or NGX_ERROR. */
ngx_int_t ngx_svc_session_over(ngx_svc_request_t *sr);

/* Sets sr->error to what a session of that stage gets everywhere else. */
ngx_int_t ngx_svc_session_pending(ngx_svc_request_t *sr, ngx_svc_stage_e stage);


#endif /* _NGX_SVC_SESSION_H_INCLUDED_ */
