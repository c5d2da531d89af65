/*
 * Sign-up of a user and of an organization: what the request says is kept,
 * sealed, until the address is proved.
 */

#ifndef _NGX_SVC_SIGNUP_H_INCLUDED_
#define _NGX_SVC_SIGNUP_H_INCLUDED_


#include "ngx_svc_account_take.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_email_challenge.h"


/* sr->data, in the request's pool.  It begins with the account. */

typedef struct {
    ngx_svc_account_t          account;
    ngx_str_t                  slug;            /* of an organization */
    ngx_str_t                  name;            /* of an organization */
    ngx_str_t                  tenant;          /* id of an organization */
    ngx_str_t                  method;          /* the account's, by name */
} ngx_svc_signup_t;


#define ngx_svc_signup_param(field)                                           \
    ngx_svc_param_data(ngx_svc_signup_t, field)


/* The body of a request that begins a sign-up. */

typedef struct {
    ngx_svc_account_body_t     account;
    ngx_svc_value_t            email;
    ngx_svc_value_t            slug;
    ngx_svc_value_t            name;
} ngx_svc_signup_body_t;

#define ngx_svc_signup_email                                                  \
    { .name = ngx_string("email"),                                            \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .min = 1,                                                               \
      .max = NGX_SVC_EMAIL_MAX,                                               \
      .check = ngx_svc_email_check,                                           \
      .offset = offsetof(ngx_svc_signup_body_t, email) }



/* Tells whether svc_mail is on. */
ngx_uint_t ngx_svc_signup_mails(ngx_svc_request_t *sr);

/* Tells whether organizations may be signed up. */
ngx_uint_t ngx_svc_signup_organizations(const ngx_svc_admin_main_conf_t *amcf,
    const ngx_svc_main_conf_t *smcf);

/*
 * The prepare of routes that begin a sign-up: does what ngx_svc_login_prepare()
 * does, and answers 503 while the mail that they need cannot be sent.
 */
ngx_int_t ngx_svc_signup_prepare(ngx_svc_request_t *sr);

/*
 * Makes the challenge, with login->mailed.data, when login->row.tenant,
 * login->user and account->stored are set.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_signup_challenge(ngx_svc_signup_t *signup,
    const char *kind);

/*
 * For a reply: verifies the code or the token by the row of a try, and takes
 * from it what the sign-up's beginning has sealed.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_signup_presented(ngx_svc_signup_t *signup, PGresult *res);


#endif /* _NGX_SVC_SIGNUP_H_INCLUDED_ */
