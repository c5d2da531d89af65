/*
 * What a request for a sign-in says.
 */

#ifndef _NGX_SVC_LOGIN_REQUEST_H_INCLUDED_
#define _NGX_SVC_LOGIN_REQUEST_H_INCLUDED_


#include "ngx_svc_login.h"


/* A body begins with these values. */

typedef struct {
    ngx_svc_value_t            email;
    ngx_svc_value_t            tenant;
} ngx_svc_login_body_t;

#define ngx_svc_login_members                                                 \
                                                                              \
    { .name = ngx_string("email"),                                            \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .min = 1,                                                               \
      .max = NGX_SVC_EMAIL_MAX,                                               \
      .check = ngx_svc_email_form_check,                                      \
      .offset = offsetof(ngx_svc_login_body_t, email) },                      \
                                                                              \
    { .name = ngx_string("tenant"),                                           \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SLUG,                                              \
      .check = ngx_svc_login_slug,                                            \
      .offset = offsetof(ngx_svc_login_body_t, tenant) }


/* Takes these values, and the client.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_login_take_address(ngx_svc_login_t *login,
    ngx_svc_login_body_t *body);

/*
 * Takes the body of a route that has these members alone, and the client.
 * Returns NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.
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
