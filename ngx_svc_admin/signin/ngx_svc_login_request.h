/*
 * What a request for a sign-in says.
 */

#ifndef _NGX_SVC_LOGIN_REQUEST_H_INCLUDED_
#define _NGX_SVC_LOGIN_REQUEST_H_INCLUDED_


#include "ngx_svc_login.h"


/*
 * Takes all members of the body of POST /v1/auth/login, the client and the
 * browser's session.  Returns NGX_OK, NGX_DECLINED with sr->error set, or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_login_request(ngx_svc_login_t *login);

/*
 * Takes the members "email" and "tenant" of a route with these members, and
 * the client.  Returns as ngx_svc_login_request().
 */
extern const ngx_svc_member_t  ngx_svc_login_address_members[];
ngx_int_t ngx_svc_login_address(ngx_svc_login_t *login);

/*
 * Takes where the request comes from, and which tenant it is for; tenant is
 * NULL when that is known already.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_take_client(ngx_svc_login_t *login,
    ngx_svc_value_t *tenant);

/* Takes the tenant and the Host alone.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_take_site(ngx_svc_login_t *login,
    ngx_svc_value_t *tenant);

/*
 * Takes the session that the browser has, which a success ends.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_login_take_session(ngx_svc_login_t *login);

/* Adds the device's cookie to an answer.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_set_device(ngx_svc_login_t *login);

/* Copies a value into the request's pool.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_copy(ngx_svc_login_t *login, ngx_str_t *dst,
    ngx_str_t value);

/* Checks a member that is a tenant's slug (ngx_svc_check_pt). */
ngx_int_t ngx_svc_login_slug(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_LOGIN_REQUEST_H_INCLUDED_ */
