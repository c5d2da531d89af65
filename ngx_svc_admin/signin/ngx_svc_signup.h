/*
 * Sign-up, of a user and of an organization: what comes with a request, and
 * waits, sealed, until the address is proved.
 */

#ifndef _NGX_SVC_SIGNUP_H_INCLUDED_
#define _NGX_SVC_SIGNUP_H_INCLUDED_


#include "ngx_svc_account.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_email_challenge.h"


/* Of the request's pool: the part of an account comes first, in sr->data. */

typedef struct {
    ngx_svc_account_t          account;
    ngx_str_t                  slug;            /* of an organization */
    ngx_str_t                  name;            /* likewise */
    ngx_str_t                  tenant;          /* likewise, its id */
} ngx_svc_signup_t;


#define ngx_svc_signup_param(field)                                           \
    ngx_svc_param_data(ngx_svc_signup_t, field)


/* What begins it, and what shows the code or the token of the mail. */

typedef struct {
    ngx_svc_value_t            email;
    ngx_svc_value_t            password;
    ngx_svc_value_t            display_name;
    ngx_svc_value_t            tenant;
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


extern const ngx_svc_login_method_t  ngx_svc_signup_method;


/* 1: svc_mail is on; and, organizations may be signed up. */
ngx_uint_t ngx_svc_signup_mails(ngx_svc_request_t *sr);
ngx_uint_t ngx_svc_signup_organizations(const ngx_svc_admin_main_conf_t *amcf,
    const ngx_svc_main_conf_t *smcf);

/*
 * The prepare of what begins it: as ngx_svc_login_prepare(), and 503 while the
 * mail that it needs cannot be sent.
 */
ngx_int_t ngx_svc_signup_prepare(ngx_svc_request_t *sr);

/*
 * With login->row.tenant, login->user and account->sealed: makes the challenge,
 * with login->mailed.data.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_signup_challenge(ngx_svc_signup_t *signup,
    const char *kind);

/*
 * For a reply: holds what is shown against the row of a try, and takes what has
 * been waiting in it; account->sealed, too.  NGX_OK; NGX_DECLINED with
 * sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_signup_shown(ngx_svc_signup_t *signup, PGresult *res);


#endif /* _NGX_SVC_SIGNUP_H_INCLUDED_ */
