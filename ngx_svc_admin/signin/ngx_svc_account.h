/*
 * The account of somebody who comes with a password of his own: how it is made,
 * and how he is signed in to it.
 */

#ifndef _NGX_SVC_ACCOUNT_H_INCLUDED_
#define _NGX_SVC_ACCOUNT_H_INCLUDED_


#include "ngx_svc_login_request.h"


typedef struct ngx_svc_account_s  ngx_svc_account_t;

typedef ngx_int_t (*ngx_svc_account_pt)(ngx_svc_account_t *account);

/* Of the request's pool: the part of a sign-in comes first, in sr->data. */

struct ngx_svc_account_s {
    ngx_svc_login_t            login;
    ngx_str_t                  display_name;    /* no data: none */
    ngx_str_t                  sealed;          /* the password's hash */
    ngx_svc_account_pt         hashed;
    ngx_uint_t                 proved;      /* the address, by a mail */
};


#define ngx_svc_account_param(field)                                          \
    ngx_svc_param_data(ngx_svc_account_t, field)


/* Members of a body, of that type, and what they are called there. */

#define ngx_svc_account_password(body, field)                                 \
    { .name = ngx_string("password"),                                         \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .min = 1,                                                               \
      .max = NGX_SVC_PASSWORD_LEN,                                            \
      .offset = offsetof(body, field) }

#define ngx_svc_account_display_name(body, field)                             \
    { .name = ngx_string("displayName"),                                      \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_PROFILE_MAX,                                             \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(body, field) }

#define ngx_svc_account_tenant(body, field)                                   \
    { .name = ngx_string("tenant"),                                           \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SLUG,                                              \
      .check = ngx_svc_login_slug,                                            \
      .offset = offsetof(body, field) }


/* Of a route whose accounts are "proved". */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_account_proved;

/*
 * Takes the password of a body, normalised, and its displayName.  NGX_OK;
 * NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_account_take(ngx_svc_account_t *account,
    const ngx_svc_value_t *password, const ngx_svc_value_t *display_name);

/*
 * For a reply: a new user's id, and then the hash of the password, which is to
 * be as the row of the read says (ngx_svc_new_password.h); "hashed" goes on,
 * with account->sealed, and returns what a reply does.
 */
ngx_int_t ngx_svc_account_hash(ngx_svc_account_t *account, PGresult *res,
    ngx_svc_account_pt hashed);

/* What becomes of a request: of NGX_DECLINED, with sr->error, or NGX_ERROR. */
ngx_int_t ngx_svc_account_failed(ngx_svc_request_t *sr, ngx_int_t rc);

/*
 * For a reply: what comes behind the user's making.  Nobody knows anything of
 * who is new: there is no risk to be told.
 */
void ngx_svc_account_stage(ngx_svc_login_t *login);

/*
 * For ngx_svc_request_again(), in the write pool: adds the statements of the
 * list, of which the last one stores the account, and those of a sign-in;
 * signed_in: of one that is complete.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_account_write(ngx_svc_account_t *account,
    const ngx_svc_pg_statement_t *const *list,
    ngx_svc_pg_committed_pt committed, ngx_svc_pg_committed_pt signed_in);

/* For such hooks: user.created, and user.login too; store: the list's last. */
void ngx_svc_account_committed(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store);
void ngx_svc_account_signed_in(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store);


#endif /* _NGX_SVC_ACCOUNT_H_INCLUDED_ */
