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


/*
 * A lock that has run out is none, but goes with the count of failures.  Only a
 * sub-select as a whole is compared by an index below row-level security.
 * Whoever helps may lift anybody's, but a token is not to try passwords of
 * owners, or of its maker, without end.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_unlock = {
    .name = "admin_user_unlock",
    .text =
        "WITH o AS ("
            "SELECT id, role, user_name,"
                " coalesce(locked_until > now(), false) AS locked,"
                " failed_logins > 0 OR locked_until IS NOT NULL AS any, "
                NGX_SVC_LIMIT_FAILURES("k", "$3") " AS failures"
            " FROM svc.user_account k WHERE tenant_id = " NGX_SVC_TENANT
                " AND id = (SELECT coalesce($1::uuid,"
                " (SELECT id FROM svc.user_account"
                    " WHERE tenant_id = " NGX_SVC_TENANT
                    " AND user_name_key = svc.address_key($2::text))))"
            " FOR UPDATE"
        "), c AS ("
            "SELECT CASE WHEN " NGX_SVC_ADMIN_TOKEN_BEYOND " THEN 'token' END"
                " AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET failed_logins = 0,"
                " failed_since = NULL, locked_until = NULL"
            " WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = (SELECT o.id FROM o, c"
                    " WHERE o.any AND c.verdict IS NULL) RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_UNLOCKED, "u.id::text", "NULL",
                          "jsonb_build_object('wasLocked', o.locked)",
                          "FROM u, o")
        ")"
        " SELECT c.verdict AS _verdict, o.locked AS unlocked,"
            " o.user_name AS _email, o.failures AS _failures FROM o, c",
    NGX_SVC_PARAMS(ngx_svc_param_call(ngx_svc_admin_unlock_id),
                   ngx_svc_param_text(ngx_svc_admin_unlock_t, email),
                   ngx_svc_param_setting(NGX_SVC_SET_LOGIN_LOCKOUT_WINDOW)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_TOKEN_VERDICT),
    .missing = "There is no such user."
};


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
 * The limit of attempts would still refuse whoever has been let in again: what
 * failed here is given back.
 */

static ngx_int_t
ngx_svc_admin_unlock_reply(ngx_svc_request_t *sr)
{
    PGresult   *res;
    ngx_str_t   email, failures;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_user_unlock);
    email = ngx_svc_row_value(res, 0, "_email");
    failures = ngx_svc_row_value(res, 0, "_failures");

    return ngx_svc_limit_clear_then(sr, &email, &failures,
                                    ngx_svc_row_true(res, 0, "unlocked")
                                    ? ngx_svc_admin_unlock_locked
                                    : ngx_svc_admin_unlock_unlocked);
}


/* It was that. */

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


/* As of a path: what is no id is 404. */

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
