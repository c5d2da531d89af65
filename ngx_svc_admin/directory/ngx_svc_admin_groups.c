/*
 * /v1/admin/groups and /v1/admin/groups/{id}.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_ADMIN_GROUPS             10000  /* of a tenant */
#define NGX_SVC_ADMIN_GROUP_NAME         100    /* characters */
#define NGX_SVC_ADMIN_GROUP_DESCRIPTION  500

#define NGX_SVC_ADMIN_GROUP_SIZE         256    /* first guess, in bytes */


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  description;
} ngx_svc_admin_group_t;


static ngx_int_t ngx_svc_admin_group_send_changed(ngx_svc_request_t *sr,
    ngx_uint_t status);
static ngx_int_t ngx_svc_admin_group_send(ngx_svc_request_t *sr,
    ngx_uint_t status);
static void ngx_svc_admin_group_write(ngx_svc_json_writer_t *w, PGresult *res,
    int row);


#define ngx_svc_admin_group_rows(name_flags)                                  \
                                                                              \
    { ngx_string("name"), NGX_SVC_T_TEXT, name_flags, 1,                      \
      NGX_SVC_ADMIN_GROUP_NAME, NULL, NULL, NULL,                             \
      offsetof(ngx_svc_admin_group_t, name) },                                \
                                                                              \
    { ngx_string("description"), NGX_SVC_T_TEXT, NGX_SVC_M_CLEARS, 0,         \
      NGX_SVC_ADMIN_GROUP_DESCRIPTION, NULL, NULL, NULL,                      \
      offsetof(ngx_svc_admin_group_t, description) },                         \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_admin_group_create_members[] = {
    ngx_svc_admin_group_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_admin_group_put_members[] = {
    ngx_svc_admin_group_rows(0)
};


/* What ngx_svc_admin_group_write() reads, in this order. */

#define NGX_SVC_ADMIN_GROUP_COLUMNS(t)                                        \
    t ".id, " t ".name, " t ".description, " t ".member_count, 0, "           \
    t ".created_at, " t ".updated_at"

/* Behind them, of a write: a constraint's name, or none, of one refused. */

#define NGX_SVC_ADMIN_GROUP_CONFLICT  7

#define NGX_SVC_ADMIN_GROUP_FOUND                                             \
    " FROM svc.user_group g WHERE tenant_id = " NGX_SVC_TENANT                \
    " AND ($1::text IS NULL OR strpos(name_key, lower($1)) > 0)"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_list = {
    .name = "admin_groups_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_GROUP_COLUMNS("g") NGX_SVC_ADMIN_GROUP_FOUND
        " ORDER BY name_key LIMIT $2::int4 OFFSET $3::int4",
    .nparams = 3
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_total = {
    .name = "admin_groups_total",
    .text =
        "SELECT count(*)" NGX_SVC_ADMIN_GROUP_FOUND,
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_get = {
    .name = "admin_groups_get",
    .text =
        "SELECT " NGX_SVC_ADMIN_GROUP_COLUMNS("g")
        " FROM svc.user_group g WHERE id = $1",
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_lock = {
    .name = "admin_groups_lock",
    .text =
        NGX_SVC_LIMIT_LOCK("svc.user_group"),
    .nparams = 0
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_create = {
    .name = "admin_groups_create",
    .text =
        "WITH t AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS id, (SELECT count(*)"
                " FROM svc.user_group) < $4::int4 AS room"
        "), g AS ("
            "INSERT INTO svc.user_group (tenant_id, id, name, description)"
            " SELECT t.id, $1::uuid, $2, $3 FROM t"
                " WHERE t.id IS NOT NULL AND t.room"
            " ON CONFLICT (tenant_id, name_key) DO NOTHING RETURNING *"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " target_name)"
            " SELECT 'group.created', 'group', g.id::text, g.name FROM g"
        ")"
        " SELECT " NGX_SVC_ADMIN_GROUP_COLUMNS("g")
        ", CASE WHEN g.id IS NULL THEN CASE WHEN t.room"
            " THEN 'user_group_name_key' ELSE '' END END"
        " FROM t LEFT JOIN g ON true",
    .nparams = 4
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_put = {
    .name = "admin_groups_put",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.user_group WHERE id = $1 FOR NO KEY UPDATE"
        "), n AS ("
            "SELECT id, CASE WHEN $2 THEN $3 ELSE name END AS name,"
                " CASE WHEN $4 THEN $5 ELSE description END AS description,"
                " $2 AND lower($3) <> name_key AND EXISTS ("
                    "SELECT FROM svc.user_group a"
                    " WHERE a.tenant_id = " NGX_SVC_TENANT
                        " AND a.name_key = lower($3)) AS taken"
            " FROM o"
        "), g AS ("
            "UPDATE svc.user_group a SET name = n.name,"
                " description = n.description, updated_at ="
                " greatest(now(), a.updated_at + interval '1 millisecond')"
            " FROM n, o WHERE a.id = $1 AND n.taken IS NOT TRUE"
                " AND (n.name, n.description)"
                " IS DISTINCT FROM (o.name, o.description)"
            " RETURNING a.*"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " target_name, details)"
            " SELECT 'group.updated', 'group', g.id::text, g.name,"
                " jsonb_build_object('changed', to_jsonb(array_remove(ARRAY["
                "CASE WHEN g.name <> o.name THEN 'name' END,"
                " CASE WHEN g.description IS DISTINCT FROM o.description"
                " THEN 'description' END], NULL)))"
            " FROM g JOIN o ON o.id = g.id"
        ")"
        " SELECT " NGX_SVC_ADMIN_GROUP_COLUMNS("g") ", NULL FROM g"
        " UNION ALL SELECT " NGX_SVC_ADMIN_GROUP_COLUMNS("o") ","
            " (SELECT 'user_group_name_key' FROM n WHERE taken)"
        " FROM o WHERE NOT EXISTS (SELECT FROM g)",
    .nparams = 5
};

/* behind the lock of governance: its password policy goes with it */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_groups_delete = {
    .name = "admin_groups_delete",
    .text =
        "WITH p AS ("
            "SELECT group_id FROM svc.group_password_policy WHERE group_id = $1"
        "), g AS ("
            "DELETE FROM svc.user_group WHERE id = $1 RETURNING id, name"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " target_name)"
            " SELECT 'group_password_policy.deleted', 'groupPasswordPolicy',"
                " g.id::text, g.name FROM g JOIN p ON p.group_id = g.id"
            " UNION ALL"
            " SELECT 'group.deleted', 'group', g.id::text, g.name FROM g"
        "), v AS ("
            NGX_SVC_ADMIN_REVISION("g JOIN p ON p.group_id = g.id")
        ")"
        " SELECT id FROM g",
    .nparams = 1
};

ngx_svc_pg_statements_t  ngx_svc_admin_groups_statements[] = {
    &ngx_svc_sql_admin_groups_list,
    &ngx_svc_sql_admin_groups_total,
    &ngx_svc_sql_admin_groups_get,
    &ngx_svc_sql_admin_groups_lock,
    &ngx_svc_sql_admin_groups_create,
    &ngx_svc_sql_admin_groups_put,
    &ngx_svc_sql_admin_groups_delete,
    NULL
};


ngx_int_t
ngx_svc_admin_group_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call)
{
    return ngx_svc_param_uuid(sr, 0, call, NGX_SVC_ADMIN_NO_GROUP);
}


ngx_int_t
ngx_svc_admin_groups_list_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_str_t           q;
    ngx_svc_pg_call_t  *call;

    rc = ngx_svc_page_create(sr);

    if (rc == NGX_OK) {
        rc = ngx_svc_text_argument(sr, "q", NGX_SVC_ADMIN_QUERY, &q);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_groups_list);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, q.len ? &q : NULL);

    if (ngx_svc_page_bind(sr, call) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_groups_total);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, q.len ? &q : NULL);

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_groups_list_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_page_send(sr, "groups", NGX_SVC_ADMIN_GROUP_SIZE,
                             sr->results[0], sr->results[1],
                             ngx_svc_admin_group_write);
}


ngx_int_t
ngx_svc_admin_groups_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_group_id(sr,
                                  ngx_svc_pg_call(sr->op,
                                                  &ngx_svc_sql_admin_groups_get));
}


ngx_int_t
ngx_svc_admin_groups_get_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_group_send(sr, NGX_HTTP_OK);
}


ngx_int_t
ngx_svc_admin_groups_create_prepare(ngx_svc_request_t *sr)
{
    u_char                 *id;
    ngx_int_t               rc;
    ngx_svc_pg_call_t      *lock, *call;
    ngx_svc_admin_group_t   group;

    ngx_memzero(&group, sizeof(ngx_svc_admin_group_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_group_create_members, 0,
                               sr->json, &group, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);
    lock = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_groups_lock);
    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_groups_create);

    if (id == NULL || lock == NULL || call == NULL
        || ngx_svc_uuid_new(id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, id, NGX_SVC_UUID_LEN);
    ngx_svc_bind_value(call, &group.name);
    ngx_svc_bind_value(call, &group.description);

    return ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_ADMIN_GROUPS);
}


ngx_int_t
ngx_svc_admin_groups_create_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    sr->results++;              /* that of the lock */

    res = sr->results[0];

    if (PQntuples(res) && PQgetisnull(res, 0, 0)
        && *PQgetvalue(res, 0, NGX_SVC_ADMIN_GROUP_CONFLICT) == '\0')
    {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_LIMIT_EXCEEDED,
                            "The tenant has %d groups: delete one.",
                            NGX_SVC_ADMIN_GROUPS);
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_admin_group_send_changed(sr, NGX_HTTP_CREATED);
}


ngx_int_t
ngx_svc_admin_groups_put_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t               rc;
    ngx_svc_pg_call_t      *call;
    ngx_svc_admin_group_t   group;

    ngx_memzero(&group, sizeof(ngx_svc_admin_group_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_group_put_members, 0, sr->json,
                               &group, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_groups_put);

    rc = ngx_svc_admin_group_id(sr, call);
    if (rc != NGX_OK) {
        return rc;
    }

    ngx_svc_pg_bind_bool(call, group.name.set);
    ngx_svc_bind_value(call, &group.name);
    ngx_svc_pg_bind_bool(call, group.description.set);
    ngx_svc_bind_value(call, &group.description);

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_groups_put_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_group_send_changed(sr, NGX_HTTP_OK);
}


ngx_int_t
ngx_svc_admin_groups_delete_prepare(ngx_svc_request_t *sr)
{
    if (ngx_svc_admin_governance_lock(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_admin_group_id(sr,
                                  ngx_svc_pg_call(sr->op,
                                                &ngx_svc_sql_admin_groups_delete));
}


ngx_int_t
ngx_svc_admin_groups_delete_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[1]) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_GROUP);
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


static ngx_int_t
ngx_svc_admin_group_send_changed(ngx_svc_request_t *sr, ngx_uint_t status)
{
    PGresult  *res;

    res = sr->results[0];

    if (PQntuples(res) && !PQgetisnull(res, 0, NGX_SVC_ADMIN_GROUP_CONFLICT)) {
        return ngx_svc_send_conflict(sr,
                           PQgetvalue(res, 0, NGX_SVC_ADMIN_GROUP_CONFLICT));
    }

    return ngx_svc_admin_group_send(sr, status);
}


static ngx_int_t
ngx_svc_admin_group_send(ngx_svc_request_t *sr, ngx_uint_t status)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_GROUP);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_admin_group_write(&w, res, 0);

    return ngx_svc_send(sr, status, &w, NULL);
}


static void
ngx_svc_admin_group_write(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_column_text(w, "id", res, row, 0);
    ngx_svc_column_text(w, "name", res, row, 1);
    ngx_svc_column_text(w, "description", res, row, 2);
    ngx_svc_column_raw(w, "memberCount", res, row, 3);
    ngx_svc_column_raw(w, "appCount", res, row, 4);
    ngx_svc_column_time(w, "createdAt", res, row, 5);
    ngx_svc_column_time(w, "updatedAt", res, row, 6);

    ngx_svc_json_close(w, '}');
}
