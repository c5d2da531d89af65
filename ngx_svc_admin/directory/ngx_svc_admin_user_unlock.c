/*
 * /v1/admin/users/unlock.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"


static ngx_int_t ngx_svc_admin_user_unlock_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_unlock_reply(ngx_svc_request_t *sr);


typedef struct {
    ngx_svc_value_t  email;
    ngx_svc_value_t  user_id;
} ngx_svc_admin_unlock_t;


static const ngx_svc_member_t  ngx_svc_admin_unlock_members[] = {

    { ngx_string("email"), NGX_SVC_T_STRING, 0, 1, INT64_MAX, NULL, NULL,
      NULL, offsetof(ngx_svc_admin_unlock_t, email) },

    { ngx_string("userId"), NGX_SVC_T_STRING, 0, 1, INT64_MAX, NULL, NULL,
      NULL, offsetof(ngx_svc_admin_unlock_t, user_id) },

    ngx_svc_null_member
};


/* A lock that has run out is none, but goes with the count of failures. */

#define NGX_SVC_ADMIN_UNLOCK(which)                                           \
    "WITH o AS ("                                                             \
        "SELECT id, coalesce(locked_until > now(), false) AS locked,"         \
            " failed_logins > 0 OR locked_until IS NOT NULL AS any"           \
        " FROM svc.user_account WHERE " which " FOR UPDATE"                   \
    "), u AS ("                                                               \
        "UPDATE svc.user_account a SET failed_logins = 0,"                    \
            " locked_until = NULL FROM o WHERE a.id = o.id AND o.any"         \
        " RETURNING a.id, o.locked"                                           \
    "), e AS ("                                                               \
        "INSERT INTO svc.audit_event (action, target_type, target_id,"        \
            " details)"                                                       \
        " SELECT 'user.unlocked', 'user', id::text,"                          \
            " jsonb_build_object('wasLocked', locked) FROM u"                 \
    ")"                                                                       \
    " SELECT locked FROM o"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_unlock_id = {
    .name = "admin_user_unlock_id",
    .text =
        NGX_SVC_ADMIN_UNLOCK("id = $1"),
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_unlock_email = {
    .name = "admin_user_unlock_email",
    .text =
        NGX_SVC_ADMIN_UNLOCK("user_name_key = lower($1::text)"),
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_user_unlock_statements[] = {
    &ngx_svc_sql_admin_user_unlock_id,
    &ngx_svc_sql_admin_user_unlock_email,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_user_unlock[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/unlock"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_user_unlock_prepare,
      .reply = ngx_svc_admin_user_unlock_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_user_unlock_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_pg_call_t       *call;
    ngx_svc_admin_unlock_t   unlock;

    ngx_memzero(&unlock, sizeof(ngx_svc_admin_unlock_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_unlock_members, 0, sr->json,
                               &unlock, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    if (unlock.email.set == unlock.user_id.set) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "One of \"email\" and \"userId\" is required.");
    }

    if (unlock.user_id.set) {
        sr->params[0] = unlock.user_id.str;

        return ngx_svc_admin_user_id(sr,
                                     ngx_svc_pg_call(sr->op,
                                                     &ngx_svc_sql_admin_user_unlock_id));
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_user_unlock_email);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &unlock.email.str);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_user_unlock_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, "There is no such user.");
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 64) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_column_boolean(&w, "unlocked", res, 0, 0);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
