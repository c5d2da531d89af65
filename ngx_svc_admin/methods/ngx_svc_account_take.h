/*
 * What a new account takes of a body, and the method that it begins with.
 */

#ifndef _NGX_SVC_ACCOUNT_TAKE_H_INCLUDED_
#define _NGX_SVC_ACCOUNT_TAKE_H_INCLUDED_


#include "ngx_svc_account.h"


/* A body begins with these values. */

typedef struct {
    ngx_svc_value_t            display_name;
    ngx_svc_value_t            tenant;
    ngx_svc_value_t            proof;       /* of the method */
} ngx_svc_account_body_t;


/* Members of a body.  The first row is where the method's own one goes. */

#define ngx_svc_account_proof                                                 \
    { .name = ngx_string("*"),                                                \
      .offset = offsetof(ngx_svc_account_body_t, proof) }

#define ngx_svc_account_display_name                                          \
    { .name = ngx_string("displayName"),                                      \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_PROFILE_MAX,                                             \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_account_body_t, display_name) }

#define ngx_svc_account_tenant                                                \
    { .name = ngx_string("tenant"),                                           \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SLUG,                                              \
      .check = ngx_svc_login_slug,                                            \
      .offset = offsetof(ngx_svc_account_body_t, tenant) }


/*
 * Validates the body by the route's table, and takes its displayName, and the
 * proof where the table has one: the account begins with the method whose
 * member is there, or else with the first one.  Returns NGX_OK; NGX_DECLINED
 * with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_account_take(ngx_svc_account_t *account,
    ngx_svc_account_body_t *body);

/*
 * Takes the method of that name, or without a name the first one.  Returns
 * NGX_OK; NGX_DECLINED when no account begins with such a method.
 */
ngx_int_t ngx_svc_account_take_method(ngx_svc_account_t *account,
    const ngx_str_t *name);


#endif /* _NGX_SVC_ACCOUNT_TAKE_H_INCLUDED_ */
