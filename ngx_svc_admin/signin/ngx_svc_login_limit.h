/*
 * How often a sign-in may be tried.
 */

#ifndef _NGX_SVC_LOGIN_LIMIT_H_INCLUDED_
#define _NGX_SVC_LOGIN_LIMIT_H_INCLUDED_


#include "ngx_svc_login.h"
#include "ngx_svc_signin_fragments.row.h"


/*
 * For a public route: makes sr->data of size bytes, zeroed, which begin with a
 * ngx_svc_login_t, and calls take() to fill it in.  When that returns
 * NGX_DECLINED with sr->error set, login->invalid is 1.  Returns NULL when
 * memory runs out, or take() returns NGX_ERROR.
 */
ngx_svc_login_t *ngx_svc_login_create(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login));

/*
 * For the prepare of a public route: counts the request, by the family
 * login->limit.family, which is that of logins by default.  Returns NGX_OK when
 * the limits have answered; NGX_DONE when they will, and the prepare is called
 * again then; otherwise what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_login_limit(ngx_svc_login_t *login);

/* Such a prepare: creates, limits, and calls ngx_svc_login_admitted(). */
ngx_int_t ngx_svc_login_prepare(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login));

/*
 * Reads the answer of the limits.  Returns NGX_OK, or NGX_DECLINED with
 * sr->error set when the request is one too many, which the audit log is told
 * once in a window.
 */
ngx_int_t ngx_svc_login_limited(ngx_svc_login_t *login);

/*
 * For the reply of a session's route, which has set limit.family, and limit.mac
 * unless login->asked.mac is to be counted: counts the request and calls
 * next().  Returns what next() returns, or what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_login_limit_then(ngx_svc_login_t *login,
    ngx_int_t (*next)(ngx_svc_login_t *login));

/*
 * Adds the route's statements to sr->op when the limits have answered.  Returns
 * NGX_OK; NGX_DECLINED with sr->error set when the request is one too many or
 * login->invalid is 1; NGX_ERROR.
 */
ngx_int_t ngx_svc_login_admitted(ngx_svc_login_t *login);

/*
 * For a sign-in whose first step was another request: ngx_svc_login_begun()
 * takes when and where it began, and returns NGX_OK or NGX_ERROR.
 * When the sign-in is complete, ngx_svc_login_give_back() takes so many hits
 * back from that request's counters, and from those of login->asked.mac.
 */
ngx_int_t ngx_svc_login_begun(ngx_svc_login_t *login,
    const ngx_svc_row_login_begun_t *row);
void ngx_svc_login_give_back(ngx_svc_login_t *login, ngx_uint_t hits);


#endif /* _NGX_SVC_LOGIN_LIMIT_H_INCLUDED_ */
