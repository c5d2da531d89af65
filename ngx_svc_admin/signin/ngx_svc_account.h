/*
 * The account of a new user who sets the password himself: how it is made, and
 * how the user is signed in.
 */

#ifndef _NGX_SVC_ACCOUNT_H_INCLUDED_
#define _NGX_SVC_ACCOUNT_H_INCLUDED_


#include "ngx_svc_login_request.h"


typedef struct ngx_svc_account_s  ngx_svc_account_t;

typedef ngx_int_t (*ngx_svc_account_pt)(ngx_svc_account_t *account);

/* sr->data, in the request's pool.  It begins with the sign-in. */

struct ngx_svc_account_s {
    ngx_svc_login_t            login;
    ngx_str_t                  display_name;    /* no data: none */
    ngx_str_t                  sealed;          /* hash of the password */
    ngx_svc_account_pt         hashed;
    ngx_uint_t                 proved;      /* 1: a mail has proved the
                                               address */
};


#define ngx_svc_account_param(field)                                          \
    ngx_svc_param_data(ngx_svc_account_t, field)


/* Members of a body, whose values go to a field of the struct "body". */

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


/* How the first session of a new account begins. */
extern const ngx_svc_login_method_t  ngx_svc_account_method;

/* Records in the new session that its user has proved the address. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_account_proved;

/*
 * Takes the password of a body, normalised, and its displayName.  Returns
 * NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_account_take(ngx_svc_account_t *account,
    const ngx_svc_value_t *password, const ngx_svc_value_t *display_name);

/*
 * For a reply: makes the id of the new user, and hashes the password if it is
 * as the policy in the row res wants it (ngx_svc_new_password.h).  Then calls
 * hashed() with account->sealed set; it returns what a reply returns.
 */
ngx_int_t ngx_svc_account_hash(ngx_svc_account_t *account, PGresult *res,
    ngx_svc_account_pt hashed);

/* For a reply: answers sr->error for NGX_DECLINED, or 500 for NGX_ERROR. */
ngx_int_t ngx_svc_account_failed(ngx_svc_request_t *sr, ngx_int_t rc);

/*
 * For a reply: sets the stage of the new user's session by the access policy
 * alone.  There is no risk to read, as nothing is known of a new user.
 */
void ngx_svc_account_stage(ngx_svc_login_t *login);

/*
 * For ngx_svc_request_again(), in the write pool: adds the statements of a list
 * that a NULL ends, the last of which stores the account, and those that store
 * its password and a sign-in.  The op's hook is signed_in() when the sign-in is complete, or else
 * committed().  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_account_write(ngx_svc_account_t *account,
    const ngx_svc_pg_statement_t *const *list,
    ngx_svc_pg_committed_pt committed, ngx_svc_pg_committed_pt signed_in);

/*
 * For these hooks: emit user.created, and ngx_svc_account_signed_in() emits
 * user.login, too.  store is the last statement of the list.
 */
void ngx_svc_account_committed(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store);
void ngx_svc_account_signed_in(const ngx_svc_pg_results_t *results,
    const ngx_svc_pg_statement_t *store);


#endif /* _NGX_SVC_ACCOUNT_H_INCLUDED_ */
