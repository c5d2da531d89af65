/*
 * /v1/admin/users/{userId}: changing and erasing a user.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_email.h"


#define NGX_SVC_ADMIN_PROFILE_MAX  1024     /* bytes, as in SCIM */


typedef struct {
    ngx_svc_value_t  email;
    ngx_svc_value_t  first_name;
    ngx_svc_value_t  last_name;
    ngx_svc_value_t  display_name;
    ngx_svc_value_t  title;
    ngx_svc_value_t  department;
    ngx_svc_value_t  locale;
} ngx_svc_admin_profile_t;


static ngx_int_t ngx_svc_admin_user_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_put_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_delete_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_delete_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_suspend_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_suspend_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_reactivate_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_reactivate_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_logout_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_user_logout_reply(ngx_svc_request_t *sr);
static void ngx_svc_admin_user_delete_committed(PGresult **results);
static ngx_int_t ngx_svc_admin_user_last(ngx_svc_request_t *sr);


#define ngx_svc_admin_profile_row(name, field)                                \
    { ngx_string(name), NGX_SVC_T_STRING, NGX_SVC_M_CLEARS, 0,                \
      NGX_SVC_ADMIN_PROFILE_MAX, NULL, NULL, NULL,                            \
      offsetof(ngx_svc_admin_profile_t, field) }

static const ngx_svc_member_t  ngx_svc_admin_profile_members[] = {

    { ngx_string("email"), NGX_SVC_T_STRING, 0, 0, 0, ngx_svc_email_check,
      NULL, NULL, offsetof(ngx_svc_admin_profile_t, email) },

    ngx_svc_admin_profile_row("firstName", first_name),
    ngx_svc_admin_profile_row("lastName", last_name),
    ngx_svc_admin_profile_row("displayName", display_name),
    ngx_svc_admin_profile_row("title", title),
    ngx_svc_admin_profile_row("department", department),
    ngx_svc_admin_profile_row("locale", locale),

    ngx_svc_null_member
};


/*
 * A change comes as pairs: is the column to be set, and to what; what differs
 * is told from the locked row.  A new address is not a verified one, unless it
 * is the same in another case.  One that another user has is told first; who
 * takes it in the same moment is found by the constraint.
 */

#define NGX_SVC_ADMIN_SET(set, value, column)                                 \
    " CASE WHEN " set " THEN " value " ELSE " column " END AS " column

#define NGX_SVC_ADMIN_CHANGED(column, name)                                   \
    " CASE WHEN u." column " IS DISTINCT FROM o." column                      \
    " THEN '" name "' END"

#define NGX_SVC_ADMIN_END_SESSIONS(from)                                      \
    "UPDATE svc.session s SET ended_at = now() FROM " from                    \
    " WHERE s.user_id = $1 AND s.ended_at IS NULL"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_put = {
    .name = "admin_user_put",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.user_account WHERE id = $1 FOR UPDATE"
        "), n AS ("
            "SELECT id,"
            NGX_SVC_ADMIN_SET("$2", "$3", "user_name") ","
            NGX_SVC_ADMIN_SET("$4", "$5", "first_name") ","
            NGX_SVC_ADMIN_SET("$6", "$7", "last_name") ","
            NGX_SVC_ADMIN_SET("$8", "$9", "display_name") ","
            NGX_SVC_ADMIN_SET("$10", "$11", "title") ","
            NGX_SVC_ADMIN_SET("$12", "$13", "department") ","
            NGX_SVC_ADMIN_SET("$14", "$15", "locale") ","
            " CASE WHEN $2 AND lower($3) <> user_name_key"
                " THEN svc.user_conflict($3, NULL) END AS taken"
            " FROM o"
        "), c AS ("
            "SELECT n.* FROM n, o WHERE n.taken IS NULL"
                " AND (n.user_name, n.first_name,"
                " n.last_name, n.display_name, n.title, n.department, n.locale)"
                " IS DISTINCT FROM (o.user_name, o.first_name, o.last_name,"
                " o.display_name, o.title, o.department, o.locale)"
        "), u AS ("
            "UPDATE svc.user_account a SET user_name = c.user_name,"
                " first_name = c.first_name, last_name = c.last_name,"
                " display_name = c.display_name, title = c.title,"
                " department = c.department, locale = c.locale,"
                " email_verified = a.email_verified"
                    " AND a.user_name_key = lower(c.user_name), updated_at ="
                " greatest(now(), a.updated_at + interval '1 millisecond')"
            " FROM c WHERE a.id = $1 RETURNING a.*"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " details)"
            " SELECT 'user.updated', 'user', u.id::text,"
                " jsonb_build_object('changed', to_jsonb(array_remove(ARRAY["
                NGX_SVC_ADMIN_CHANGED("user_name", "email") ","
                NGX_SVC_ADMIN_CHANGED("first_name", "firstName") ","
                NGX_SVC_ADMIN_CHANGED("last_name", "lastName") ","
                NGX_SVC_ADMIN_CHANGED("display_name", "displayName") ","
                NGX_SVC_ADMIN_CHANGED("title", "title") ","
                NGX_SVC_ADMIN_CHANGED("department", "department") ","
                NGX_SVC_ADMIN_CHANGED("locale", "locale")
                "], NULL)))"
            " FROM u JOIN o ON o.id = u.id"
        ")"
        " SELECT NULL, " NGX_SVC_ADMIN_USER_COLUMNS("u") " FROM u"
        " UNION ALL SELECT (SELECT taken FROM n), "
            NGX_SVC_ADMIN_USER_COLUMNS("o") " FROM o"
        " WHERE NOT EXISTS (SELECT FROM u)",
    .nparams = 15
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_suspend = {
    .name = "admin_user_suspend",
    .text =
        "WITH " NGX_SVC_ADMIN_OWNERS
        ", c AS ("
            "SELECT o.id, o.status = 'active' AND " NGX_SVC_ADMIN_LAST_OWNER
                " AS last FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET status = 'suspended', updated_at ="
                " greatest(now(), a.updated_at + interval '1 millisecond')"
            " FROM c, o WHERE a.id = $1 AND NOT c.last"
                " AND o.status <> 'suspended' RETURNING a.*"
        "), s AS ("
            NGX_SVC_ADMIN_END_SESSIONS("c") " AND NOT c.last"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id)"
            " SELECT 'user.suspended', 'user', u.id::text FROM u"
        ")"
        " SELECT c.last, " NGX_SVC_ADMIN_USER_COLUMNS("r") " FROM c"
        " JOIN (SELECT * FROM u UNION ALL SELECT * FROM o"
            " WHERE NOT EXISTS (SELECT FROM u)) r ON r.id = c.id",
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_reactivate = {
    .name = "admin_user_reactivate",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.user_account WHERE id = $1 FOR UPDATE"
        "), u AS ("
            "UPDATE svc.user_account a SET status = 'active', updated_at ="
                " greatest(now(), a.updated_at + interval '1 millisecond')"
            " FROM o WHERE a.id = $1 AND o.status <> 'active' RETURNING a.*"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id)"
            " SELECT 'user.reactivated', 'user', u.id::text FROM u"
        ")"
        " SELECT " NGX_SVC_ADMIN_USER_COLUMNS("u") " FROM u"
        " UNION ALL SELECT " NGX_SVC_ADMIN_USER_COLUMNS("o") " FROM o"
        " WHERE NOT EXISTS (SELECT FROM u)",
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_logout = {
    .name = "admin_user_logout",
    .text =
        "WITH o AS ("
            "SELECT id FROM svc.user_account WHERE id = $1"
        "), s AS ("
            NGX_SVC_ADMIN_END_SESSIONS("o")
            " AND s.expires_at > now() RETURNING s.id"
        "), n AS ("
            "SELECT count(*) AS n FROM s"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " details)"
            " SELECT 'user.logged_out', 'user', o.id::text,"
                " jsonb_build_object('revokedSessions', n.n)"
            " FROM o, n WHERE n.n > 0"
        ")"
        " SELECT n.n FROM o, n",
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_delete = {
    .name = "admin_user_delete",
    .text =
        "WITH " NGX_SVC_ADMIN_OWNERS
        ", c AS ("
            "SELECT o.id, " NGX_SVC_ADMIN_LAST_OWNER " AS last FROM o"
        "), d AS ("
            "DELETE FROM svc.user_account a USING c"
            " WHERE a.id = $1 AND NOT c.last RETURNING a.id"
        "), k AS ("
            "UPDATE svc.credential t SET created_by_name = NULL FROM d"
            " WHERE t.tenant_id = " NGX_SVC_TENANT
                " AND t.created_by_type = 'user'"
                " AND t.created_by_id = d.id::text"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id)"
            " SELECT 'user.deleted', 'user', d.id::text FROM d"
        ")"
        " SELECT c.last, d.id, (SELECT " NGX_SVC_EVENT_SUBSCRIBERS("user.deleted")
            " FROM d)"
        " FROM c LEFT JOIN d ON true",
    .nparams = 1
};

/* before the user: whoever changes a group's members locks it first, too */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_groups_lock = {
    .name = "admin_user_groups_lock",
    .text =
        "SELECT g.id FROM (SELECT group_id FROM svc.group_member"
            " WHERE user_id = $1 ORDER BY group_id OFFSET 0) m"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.id", "svc.user_group", "m.group_id")
            " FOR NO KEY UPDATE) g",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_user_change_statements[] = {
    &ngx_svc_sql_admin_user_put,
    &ngx_svc_sql_admin_user_suspend,
    &ngx_svc_sql_admin_user_reactivate,
    &ngx_svc_sql_admin_user_logout,
    &ngx_svc_sql_admin_user_delete,
    &ngx_svc_sql_admin_user_groups_lock,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_user_change[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_user_put_prepare,
      .reply = ngx_svc_admin_user_put_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_user_delete_prepare,
      .reply = ngx_svc_admin_user_delete_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/suspend"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_user_suspend_prepare,
      .reply = ngx_svc_admin_user_suspend_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/reactivate"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_user_reactivate_prepare,
      .reply = ngx_svc_admin_user_reactivate_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/logout"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_user_logout_prepare,
      .reply = ngx_svc_admin_user_logout_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_user_put_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_uint_t                i;
    ngx_svc_value_t          *values[7];
    ngx_svc_pg_call_t        *call;
    ngx_svc_admin_profile_t   profile;

    ngx_memzero(&profile, sizeof(ngx_svc_admin_profile_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_profile_members, 0, sr->json,
                               &profile, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_user_put);

    rc = ngx_svc_admin_user_id(sr, call);
    if (rc != NGX_OK) {
        return rc;
    }

    /* in the order of the statement's parameters */

    values[0] = &profile.email;
    values[1] = &profile.first_name;
    values[2] = &profile.last_name;
    values[3] = &profile.display_name;
    values[4] = &profile.title;
    values[5] = &profile.department;
    values[6] = &profile.locale;

    for (i = 0; i < 7; i++) {
        ngx_svc_pg_bind_bool(call, values[i]->set);
        ngx_svc_bind_value(call, values[i]);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_user_put_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[0];

    if (PQntuples(res) && !PQgetisnull(res, 0, 0)) {
        return ngx_svc_send_conflict(sr, PQgetvalue(res, 0, 0));
    }

    return ngx_svc_admin_user_send(sr, 1);
}


static ngx_int_t
ngx_svc_admin_user_suspend_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_user_id(sr,
                                 ngx_svc_pg_call(sr->op,
                                                 &ngx_svc_sql_admin_user_suspend));
}


static ngx_int_t
ngx_svc_admin_user_suspend_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[0];

    if (PQntuples(res) && ngx_svc_column_true(res, 0, 0)) {
        return ngx_svc_admin_user_last(sr);
    }

    return ngx_svc_admin_user_send(sr, 1);
}


static ngx_int_t
ngx_svc_admin_user_reactivate_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_user_id(sr,
                              ngx_svc_pg_call(sr->op,
                                              &ngx_svc_sql_admin_user_reactivate));
}


static ngx_int_t
ngx_svc_admin_user_reactivate_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_user_send(sr, 0);
}


static ngx_int_t
ngx_svc_admin_user_logout_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_user_id(sr,
                                 ngx_svc_pg_call(sr->op,
                                                 &ngx_svc_sql_admin_user_logout));
}


static ngx_int_t
ngx_svc_admin_user_logout_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_USER);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 64) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_column_raw(&w, "revokedSessions", res, 0, 0);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_admin_user_delete_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_admin_user_id(sr,
                               ngx_svc_pg_call(sr->op,
                                             &ngx_svc_sql_admin_user_groups_lock));
    if (rc != NGX_OK) {
        return rc;
    }

    sr->op->committed = ngx_svc_admin_user_delete_committed;

    return ngx_svc_admin_user_id(sr,
                                 ngx_svc_pg_call(sr->op,
                                                 &ngx_svc_sql_admin_user_delete));
}


static void
ngx_svc_admin_user_delete_committed(PGresult **results)
{
    PGresult         *res;
    ngx_svc_event_t   event;

    ngx_svc_request_committed(results);

    if (results == NULL || PQntuples(results[2]) == 0
        || PQgetisnull(results[2], 0, 1))
    {
        return;
    }

    res = results[2];

    event.kind = NGX_SVC_EVENT_USER_DELETED;
    event.tenant = ngx_svc_pg_value(results[0], 0, 0);
    event.user = ngx_svc_pg_value(res, 0, 1);
    event.subscribers = ngx_svc_pg_value(res, 0, 2);
    ngx_str_null(&event.email);

    ngx_svc_event_emit(&event);
}


static ngx_int_t
ngx_svc_admin_user_delete_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = sr->results[1];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_USER);
    }

    if (ngx_svc_column_true(res, 0, 0)) {
        return ngx_svc_admin_user_last(sr);
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


static ngx_int_t
ngx_svc_admin_user_last(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LAST_ADMIN,
                        "The tenant would be left without an active owner.");

    return ngx_svc_send_error(sr);
}
