/*
 * /v1/admin/users/{userId}: changing and erasing a user.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_email.h"
#include "ngx_svc_notice.h"


#define NGX_SVC_ADMIN_PROFILE(_)                                              \
    _(EMAIL, user_name, "email", "$2", "$3")                                  \
    NGX_SVC_PROFILE(_)


typedef struct {
    NGX_SVC_ADMIN_PROFILE(ngx_svc_profile_value)
} ngx_svc_admin_profile_t;


static ngx_uint_t ngx_svc_admin_user_put_email(const void *body);
static ngx_uint_t ngx_svc_admin_user_put_none(const void *body);
static void ngx_svc_admin_user_put_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_admin_user_delete_committed(
    const ngx_svc_pg_results_t *results);


#define ngx_svc_admin_profile_member(id, column, key, ...)                    \
    { .name = ngx_string(key),                                                \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_CLEARS,                                              \
      .max = NGX_SVC_PROFILE_MAX,                                             \
      .check = ngx_svc_profile_check_##id,                                    \
      .offset = offsetof(ngx_svc_admin_profile_t, column) },

#define ngx_svc_admin_profile_params(id, column, ...)                         \
    ngx_svc_param_given(ngx_svc_admin_profile_t, column),                     \
    ngx_svc_param_text(ngx_svc_admin_profile_t, column),


static const ngx_svc_member_t  ngx_svc_admin_profile_members[] = {

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_email_check,
      .offset = offsetof(ngx_svc_admin_profile_t, user_name) },

    NGX_SVC_PROFILE(ngx_svc_admin_profile_member)

    ngx_svc_null_member
};


/* see NGX_SVC_ADMIN_REFUSED */

const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_lock = {
    .name = "admin_user_lock",
    .text = NGX_SVC_ADMIN_USER_LOCK,
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_put_lock = {
    .name = "admin_user_put_lock",
    .text = NGX_SVC_ADMIN_USER_LOCK,
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    .when = ngx_svc_admin_user_put_email
};

const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_owners_lock = {
    .name = "admin_user_owners_lock",
    .text = "WITH " NGX_SVC_ADMIN_OWNERS " SELECT FROM o",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER))
};


/*
 * Without an address: nobody is refused, and nobody gets a mail.  Most of what
 * a statement costs is the start of its nodes and their columns, so this one
 * has few, and its row is the answer.  What differs is told from the locked
 * row, as it is once the lock is held.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_put_profile = {
    .name = "admin_user_put_profile",
    .text =
        "WITH n AS ("
            "SELECT id, user_name, email_verified, external_id, status, role,"
                " locked_until, mfa_enrolled, source, last_login_at,"
                " created_at, updated_at, "
                NGX_SVC_AUDIT_MEMBERS(
                    "NULL" NGX_SVC_PROFILE(NGX_SVC_PROFILE_CHANGES))
                " AS changed"
                NGX_SVC_PROFILE(NGX_SVC_PROFILE_WANTED)
            " FROM svc.user_account"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
            " FOR NO KEY UPDATE"
        "), u AS ("
            "UPDATE svc.user_account a SET"
                " search = " NGX_SVC_PROFILE_SEARCH("n") ","
                " updated_at = " NGX_SVC_CHANGED_AT("a")
                NGX_SVC_PROFILE(NGX_SVC_PROFILE_TAKEN)
            " FROM n WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"
                " AND n.changed <> '{}'"
            " RETURNING a.id, n.changed, a.updated_at"
        "), e AS ("
            NGX_SVC_AUDIT_INTO("ip, user_agent, request_id, ")
            NGX_SVC_AUDIT_ROWS(
                "$2::text::inet, $3::text, $16::text, "
                NGX_SVC_A_USER_UPDATED(NGX_SVC_AUDIT_BOTH), "u.id::text",
                "NULL", "jsonb_build_object('changed', to_jsonb(u.changed))",
                "FROM u")
        ")"
        " SELECT " NGX_SVC_ADMIN_USER_KEPT("n") ","
            " coalesce(u.updated_at, n.updated_at) AS \"updatedAt\""
        " FROM n LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER),
                   ngx_svc_param_client_ip(), ngx_svc_param_client_agent(),
                   NGX_SVC_PROFILE(ngx_svc_admin_profile_params)
                   ngx_svc_param_request_id()),
    .missing = NGX_SVC_ADMIN_NO_USER,
    .when = ngx_svc_admin_user_put_none
};

/*
 * What differs is told from the locked row.  A new address is not a verified
 * one, unless it is the same one written otherwise.  One that another user has
 * is told first; who takes it in the same moment is found by the constraint.
 * The old one is told by mail.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_put = {
    .name = "admin_user_put",
    .text =
        "WITH o AS ("
            "SELECT id, role,"
                " $2 AND " NGX_SVC_PROFILE_MOVES("$3", "k") " AS moves"
                NGX_SVC_ADMIN_PROFILE(NGX_SVC_PROFILE_COLUMN)
            " FROM svc.user_account k"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR UPDATE"
        "), n AS ("
            "SELECT id" NGX_SVC_ADMIN_PROFILE(NGX_SVC_PROFILE_WANTED) ","
                " CASE WHEN moves THEN CASE WHEN " NGX_SVC_CALLER_STALE
                    " THEN 'stale'" NGX_SVC_ADMIN_REFUSED
                    " ELSE svc.user_conflict($3, NULL) END"
                " END AS verdict"
            " FROM o"
        "), u AS ("
            "SELECT n.*, o.moves FROM n, o WHERE n.verdict IS NULL"
                " AND (n.id" NGX_SVC_ADMIN_PROFILE(NGX_SVC_PROFILE_NEW) ")"
                " IS DISTINCT FROM"
                " (o.id" NGX_SVC_ADMIN_PROFILE(NGX_SVC_PROFILE_OLD) ")"
        "), w AS ("
            "UPDATE svc.user_account a SET"
                " email_verified = a.email_verified AND NOT u.moves,"
                " valid_after = CASE WHEN u.moves THEN clock_timestamp()"
                    " ELSE a.valid_after END,"
                " user_name_key = " NGX_SVC_PROFILE_KEY("u.moves", "u") ","
                " search = " NGX_SVC_PROFILE_SEARCH("u") ","
                " updated_at = " NGX_SVC_CHANGED_AT("a")
                NGX_SVC_ADMIN_PROFILE(NGX_SVC_PROFILE_SET)
            " FROM u WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_UPDATED, "u.id::text", "NULL",
                NGX_SVC_AUDIT_CHANGED(
                    "NULL" NGX_SVC_ADMIN_PROFILE(NGX_SVC_PROFILE_DIFFERS)),
                "FROM u, o")
        ")"
        " SELECT n.verdict AS _verdict, m.*"
        " FROM n LEFT JOIN LATERAL ("
            NGX_SVC_NOTICE("$1", "$16",
                "n.verdict IS NULL AND (SELECT o.moves FROM o)")
        ") m ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER),
                   NGX_SVC_ADMIN_PROFILE(ngx_svc_admin_profile_params)
                   ngx_svc_param_notice()),
    NGX_SVC_VERDICTS(
        NGX_SVC_ADMIN_REFUSALS,
        { "stale", NGX_SVC_E_STEP_UP,
          "A new address needs a fresh second factor: POST /v1/mfa/step-up." }),
    .missing = NGX_SVC_ADMIN_NO_USER,
    .when = ngx_svc_admin_user_put_email
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_put_get = {
    .name = "admin_user_put_get",
    .text = NGX_SVC_ADMIN_USER_GET,
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    .missing = NGX_SVC_ADMIN_NO_USER,
    .when = ngx_svc_admin_user_put_email
};


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_suspend = {
    .name = "admin_user_suspend",
    .text =
        "WITH " NGX_SVC_ADMIN_OWNERS
        ", c AS ("
            "SELECT CASE" NGX_SVC_ADMIN_REFUSED
                " WHEN o.status = 'active' AND " NGX_SVC_ADMIN_LAST_OWNER
                " THEN 'last' END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET status = 'suspended',"
                " valid_after = clock_timestamp(),"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM c, o WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND c.verdict IS NULL"
                " AND o.status <> 'suspended' RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_SUSPENDED, "u.id::text", "NULL",
                          "'{}'", "FROM u")
        ")"
        " SELECT verdict AS _verdict FROM c",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_REFUSALS, NGX_SVC_ADMIN_LAST_VERDICT)
};

/* Who may not suspend somebody may not undo it either. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_reactivate = {
    .name = "admin_user_reactivate",
    .text =
        "WITH o AS ("
            "SELECT id, role, status FROM svc.user_account"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
            " FOR NO KEY UPDATE"
        "), c AS ("
            "SELECT CASE" NGX_SVC_ADMIN_REFUSED " END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET status = 'active',"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM c, o WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND c.verdict IS NULL"
                " AND o.status <> 'active' RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_REACTIVATED, "u.id::text", "NULL",
                          "'{}'", "FROM u")
        ")"
        " SELECT verdict AS _verdict FROM c",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_REFUSALS)
};

/* Those that count are alive, whatever they wait for. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_logout = {
    .name = "admin_user_logout",
    .text =
        "WITH o AS ("
            "SELECT id, role, valid_after FROM svc.user_account"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"
            " FOR NO KEY UPDATE"
        "), c AS ("
            "SELECT CASE" NGX_SVC_ADMIN_REFUSED " END AS verdict FROM o"
        "), n AS ("
            "SELECT count(s.id) AS n FROM o LEFT JOIN svc.session s"
                " ON s.tenant_id = " NGX_SVC_TENANT
                " AND s.user_id = $1 AND s.ended_at IS NULL"
                " AND coalesce(s.expires_at > now(), false)"
                " AND s.created_at >= coalesce(o.valid_after, '-infinity')"
        "), u AS ("
            "UPDATE svc.user_account a SET valid_after = clock_timestamp()"
            " FROM c WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND c.verdict IS NULL RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_LOGGED_OUT, "u.id::text", "NULL",
                          "jsonb_build_object('revokedSessions', n.n)",
                          "FROM u, n WHERE n.n > 0")
        ")"
        " SELECT c.verdict AS _verdict, n.n AS \"revokedSessions\" FROM c, n",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_REFUSALS),
    .missing = NGX_SVC_ADMIN_NO_USER
};

/* before the user: whoever changes a group's members locks it first, too */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_groups_lock = {
    .name = "admin_user_groups_lock",
    .text =
        "SELECT g.id FROM (SELECT group_id FROM svc.group_member"
            " WHERE tenant_id = " NGX_SVC_TENANT " AND user_id = $1"
            " ORDER BY group_id OFFSET 0) m"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.id", "svc.user_group", "m.group_id")
            " FOR NO KEY UPDATE) g",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_delete = {
    .name = "admin_user_delete",
    .text =
        "WITH " NGX_SVC_ADMIN_OWNERS
        ", c AS ("
            "SELECT CASE" NGX_SVC_ADMIN_REFUSED
                " WHEN " NGX_SVC_ADMIN_LAST_OWNER " THEN 'last' END AS verdict"
            " FROM o"
        "), d AS ("
            "DELETE FROM svc.user_account a USING c"
            " WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND c.verdict IS NULL RETURNING a.id"
        "), k AS ("
            "UPDATE svc.credential t SET created_by_name = NULL FROM d"
            " WHERE t.tenant_id = " NGX_SVC_TENANT
                " AND t.created_by_type = 'user'"
                " AND t.created_by_id = d.id::text"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_USER_DELETED, "d.id::text", "NULL", "'{}'",
                          "FROM d")
        ")"
        " SELECT c.verdict AS _verdict, d.id AS _user, "
            NGX_SVC_EVENT_AT " AS _at,"
            " (SELECT " NGX_SVC_EVENT_SUBSCRIBERS("user.deleted")
            " FROM d) AS _subscribers"
        " FROM c LEFT JOIN d ON true",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_REFUSALS, NGX_SVC_ADMIN_LAST_VERDICT),
    .missing = NGX_SVC_ADMIN_NO_USER
};


const ngx_svc_route_t  ngx_svc_admin_user_change[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER,
      .members = ngx_svc_admin_profile_members,
      .body_size = sizeof(ngx_svc_admin_profile_t),
      .statements = { &ngx_svc_sql_admin_user_put_lock,
                      &ngx_svc_sql_admin_user_put,
                      &ngx_svc_sql_admin_user_put_get,
                      &ngx_svc_sql_admin_user_put_profile },
      .committed = ngx_svc_admin_user_put_committed },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_user_groups_lock,
                      &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_user_delete },
      .status = NGX_HTTP_NO_CONTENT,
      .committed = ngx_svc_admin_user_delete_committed },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/suspend"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_user_suspend,
                      &ngx_svc_sql_admin_users_get } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/reactivate"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_admin_user_reactivate,
                      &ngx_svc_sql_admin_users_get } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/logout"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_user_lock,
                      &ngx_svc_sql_admin_user_logout } },

    ngx_svc_null_route
};


static ngx_uint_t
ngx_svc_admin_user_put_email(const void *body)
{
    const ngx_svc_admin_profile_t *profile = body;

    return profile->user_name.set;
}


static ngx_uint_t
ngx_svc_admin_user_put_none(const void *body)
{
    return !ngx_svc_admin_user_put_email(body);
}


static void
ngx_svc_admin_user_put_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                             &ngx_svc_sql_admin_user_put));
}


static void
ngx_svc_admin_user_delete_committed(const ngx_svc_pg_results_t *results)
{
    PGresult         *res;
    ngx_svc_event_t   event;

    ngx_svc_request_committed(results);

    res = ngx_svc_pg_result(results, &ngx_svc_sql_admin_user_delete);

    if (PQntuples(res) == 0) {
        return;
    }

    event.kind = NGX_SVC_EVENT_USER_DELETED;
    event.tenant = ngx_svc_pg_value(ngx_svc_pg_result_first(results), 0, 0);
    event.user = ngx_svc_pg_value(res, 0, ngx_svc_row_find(res, "_user"));
    event.subscribers = ngx_svc_pg_value(res, 0,
                                     ngx_svc_row_find(res, "_subscribers"));
    event.at = ngx_svc_pg_value(res, 0, ngx_svc_row_find(res, "_at"));
    ngx_str_null(&event.number);
    ngx_str_null(&event.email);

    if (event.user.data) {
        ngx_svc_event_emit(&event);
    }
}
