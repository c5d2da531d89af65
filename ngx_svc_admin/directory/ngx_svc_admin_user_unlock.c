/*
 * /v1/admin/users/unlock.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_limit_then.h"
#include "ngx_svc_setting_param.h"


typedef struct {
    ngx_svc_value_t  email;
    ngx_svc_value_t  user_id;
} ngx_svc_admin_unlock_t;


static ngx_int_t ngx_svc_admin_unlock_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_unlock_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_unlock_locked(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_unlock_unlocked(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_unlock_id(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


static const ngx_svc_member_t  ngx_svc_admin_unlock_members[] = {

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = INT64_MAX,
      .offset = offsetof(ngx_svc_admin_unlock_t, email) },

    { .name = ngx_string("userId"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = INT64_MAX,
      .offset = offsetof(ngx_svc_admin_unlock_t, user_id) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_user_unlock.sql.h"


const ngx_svc_route_t  ngx_svc_admin_user_unlock[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/unlock"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_admin_unlock_members,
      .body_size = sizeof(ngx_svc_admin_unlock_t),
      .check = ngx_svc_admin_unlock_check,
      .statements = { &ngx_svc_sql_admin_user_unlock },
      .reply = ngx_svc_admin_unlock_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_unlock_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_unlock_t  *unlock = body;

    if (unlock->email.set == unlock->user_id.set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "One of \"email\" and \"userId\" is required.");
    }

    return NGX_OK;
}


/*
 * The limit of attempts would still refuse a user that is unlocked here: the
 * attempts that have failed at this tenant are taken back.
 */

static ngx_int_t
ngx_svc_admin_unlock_reply(ngx_svc_request_t *sr)
{
    ngx_svc_row_admin_user_unlock_t  row;

    ngx_svc_row_admin_user_unlock(&row,
                      ngx_svc_result(sr, &ngx_svc_sql_admin_user_unlock), 0);

    return ngx_svc_limit_clear_then(sr, &row.email, &row.failures,
                                    row.unlocked
                                    ? ngx_svc_admin_unlock_locked
                                    : ngx_svc_admin_unlock_unlocked);
}


/* Answers that the account was locked. */

static ngx_int_t
ngx_svc_admin_unlock_locked(ngx_svc_request_t *sr)
{
    static ngx_str_t  body = ngx_string("{\"unlocked\":true}");

    return ngx_svc_send_bytes(sr, &sr->surface->content_type, &body);
}


static ngx_int_t
ngx_svc_admin_unlock_unlocked(ngx_svc_request_t *sr)
{
    static ngx_str_t  body = ngx_string("{\"unlocked\":false}");

    return ngx_svc_send_bytes(sr, &sr->surface->content_type, &body);
}


/* Binds the id as one in a path: a text that is no id makes the answer 404. */

static ngx_int_t
ngx_svc_admin_unlock_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_unlock_t  *unlock = body;

    if (!unlock->user_id.set) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    sr->params[0] = unlock->user_id.str;

    return ngx_svc_param_uuid(sr, 0, call, NGX_SVC_ADMIN_NO_USER);
}
