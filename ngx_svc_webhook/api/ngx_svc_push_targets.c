/*
 * /v1/admin/scim-targets and /v1/admin/scim-targets/{id}.
 */

#include "ngx_svc_push_api.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_push_token.h"
#include "ngx_svc_webhook_target.h"


#define NGX_SVC_PUSH_TARGETS    50      /* of a tenant */
#define NGX_SVC_PUSH_NAME       100     /* characters */
#define NGX_SVC_PUSH_CLIENT     64      /* likewise; of more there is none */


typedef struct {
    ngx_svc_value_t  client_id;
    ngx_svc_value_t  name;
    ngx_svc_value_t  base_url;
    ngx_svc_value_t  token;
    ngx_svc_value_t  enabled;
} ngx_svc_push_input_t;


static ngx_int_t ngx_svc_push_url_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_push_token_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#define ngx_svc_push_rows(required)                                           \
                                                                              \
    { .name = ngx_string("clientId"),                                         \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_PUSH_CLIENT,                                             \
      .offset = offsetof(ngx_svc_push_input_t, client_id) },                  \
                                                                              \
    { .name = ngx_string("name"),                                             \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_PUSH_NAME,                                               \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_push_input_t, name) },                       \
                                                                              \
    { .name = ngx_string("baseUrl"),                                          \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_WEBHOOK_URL,                                             \
      .check = ngx_svc_push_url_check,                                        \
      .offset = offsetof(ngx_svc_push_input_t, base_url) },                   \
                                                                              \
    { .name = ngx_string("token"),                                            \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_PUSH_TOKEN,                                              \
      .check = ngx_svc_push_token_check,                                      \
      .offset = offsetof(ngx_svc_push_input_t, token) },                      \
                                                                              \
    { .name = ngx_string("enabled"),                                          \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_push_input_t, enabled) },                    \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_push_create_members[] = {
    ngx_svc_push_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_push_put_members[] = {
    ngx_svc_push_rows(0)
};


/* Each has a token. */

#define NGX_SVC_PUSH_COLUMNS(t)                                               \
    t ".id, " t ".client_id AS \"clientId\", " t ".name,"                     \
    " " t ".base_url AS \"baseUrl\", " t ".enabled, true AS \"tokenSet\","    \
    " " t ".sync_at AS \"lastSyncAt\","                                       \
    " " t ".sync_status AS \"lastSyncStatus\","                               \
    " " t ".last_error AS \"lastError\","                                     \
    " " t ".users AS \"stats.users\","                                        \
    " " t ".pending AS \"stats.pending\","                                    \
    " " t ".errors AS \"stats.errors\","                                      \
    " " t ".created_at AS \"createdAt\", " t ".updated_at AS \"updatedAt\""

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_list = {
    .name = "push_list",
    .text =
        "SELECT " NGX_SVC_PUSH_COLUMNS("t") " FROM svc.scim_target t"
        " WHERE t.tenant_id = " NGX_SVC_TENANT
        " ORDER BY t.created_at DESC, t.id DESC"
        " LIMIT $1::int4 OFFSET $2::int4",
    NGX_SVC_PARAMS(ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_total = {
    .name = "push_total",
    .text =
        "SELECT count(*) FROM svc.scim_target WHERE tenant_id = "
        NGX_SVC_TENANT
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_get = {
    .name = "push_get",
    .text = "SELECT " NGX_SVC_PUSH_COLUMNS("t") NGX_SVC_PUSH_TARGET,
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)),
    .missing = NGX_SVC_PUSH_NONE
};

/* Who deletes an application stands in the same line. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_lock = {
    .name = "push_lock",
    .text = NGX_SVC_LIMIT_LOCK("svc.scim_target")
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_create = {
    .name = "push_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant_id,"
                " count(*) < $7::int4 AS room,"
                " coalesce(bool_or(t.client_id = $2), false) AS taken"
            " FROM svc.scim_target t WHERE t.tenant_id = " NGX_SVC_TENANT
        "), c AS ("
            "SELECT n.tenant_id, CASE WHEN NOT EXISTS ("
                    "SELECT FROM svc.application a WHERE a.tenant_id = "
                    NGX_SVC_TENANT " AND a.client_id = $2) THEN 'unknown'"
                " WHEN n.taken THEN 'taken'"
                " WHEN NOT n.room THEN 'full' END AS verdict"
            " FROM n"
        "), u AS ("
            "INSERT INTO svc.scim_target (tenant_id, id, client_id, name,"
                " base_url, token, enabled)"
            " SELECT c.tenant_id, $1::uuid, $2, $3, $4, $5::bytea,"
                " coalesce($6::bool, true) FROM c"
            " WHERE c.tenant_id IS NOT NULL AND c.verdict IS NULL"
            " RETURNING *"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SCIM_TARGET_CREATED, "u.id::text",
                "u.name", "jsonb_build_object('clientId', u.client_id,"
                " 'host', " NGX_SVC_WEBHOOK_HOST_OF("u.base_url") ","
                " 'enabled', u.enabled)", "FROM u")
        ")"
        " SELECT c.verdict AS _verdict, " NGX_SVC_PUSH_COLUMNS("u")
        " FROM c LEFT JOIN u ON true",
    NGX_SVC_PARAMS(ngx_svc_param_new_id(),
                   ngx_svc_param_text(ngx_svc_push_input_t, client_id),
                   ngx_svc_param_text(ngx_svc_push_input_t, name),
                   ngx_svc_param_text(ngx_svc_push_input_t, base_url),
                   ngx_svc_param_sealed(ngx_svc_push_input_t, token,
                                        NGX_SVC_PUSH_TOKEN_OF),
                   ngx_svc_param_boolean(ngx_svc_push_input_t, enabled),
                   ngx_svc_param_constant(NGX_SVC_PUSH_TARGETS)),
    NGX_SVC_VERDICTS(
        { "unknown", NGX_SVC_E_INVALID_VALUE,
          "\"clientId\" must be that of an application of the tenant." },
        { "taken", NGX_SVC_E_CONFLICT,
          "The application has a SCIM target already: change that one." },
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant has " ngx_value(NGX_SVC_PUSH_TARGETS)
          " SCIM targets: delete one." })
};

/*
 * What the users are elsewhere is not known of another place: ids of one may
 * be other users of the other.  The token is not for whoever may change the
 * address alone.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_put = {
    .name = "push_put",
    .text =
        "WITH o AS ("
            "SELECT t.*" NGX_SVC_PUSH_TARGET " FOR NO KEY UPDATE"
        "), n AS ("
            "SELECT coalesce($3, o.name) AS name,"
                " coalesce($4, o.base_url) AS base_url,"
                " coalesce($5::bytea, o.token) AS token,"
                " coalesce($6::bool, o.enabled) AS enabled FROM o"
        "), c AS ("
            "SELECT n.base_url <> o.base_url AS moved,"
                " CASE WHEN $2 <> o.client_id THEN 'client'"
                " WHEN n.base_url <> o.base_url AND $5 IS NULL THEN 'token'"
                " END AS verdict FROM n, o"
        "), u AS ("
            "UPDATE svc.scim_target t SET name = n.name,"
                " base_url = n.base_url, token = n.token,"
                " enabled = n.enabled, version = t.version + 1, "
                NGX_SVC_PUSH_TRY_AGAIN ","
                " patch = CASE WHEN NOT c.moved THEN t.patch END,"
                " config_at = CASE WHEN NOT c.moved THEN t.config_at END,"
                " xid = CASE WHEN NOT c.moved THEN t.xid END,"
                " event_id = CASE WHEN NOT c.moved THEN t.event_id END,"
                " event_at = CASE WHEN NOT c.moved THEN t.event_at END,"
                " sync_next = CASE WHEN NOT c.moved THEN t.sync_next END,"
                " sync_at = CASE WHEN NOT c.moved THEN t.sync_at END,"
                " list_next = CASE WHEN NOT c.moved THEN t.list_next END,"
                " sync_status = CASE WHEN NOT c.moved"
                    " OR t.sync_status IN ('queued', 'running')"
                    " THEN t.sync_status"
                    " WHEN t.sync_status = 'failing'"
                    " AND t.sync_was IN ('queued', 'running')"
                    " THEN t.sync_was END,"
                " last_error = CASE WHEN NOT c.moved THEN t.last_error END,"
                " users = CASE WHEN c.moved THEN 0 ELSE t.users END,"
                " pending = CASE WHEN c.moved THEN 0 ELSE t.pending END,"
                " errors = CASE WHEN c.moved THEN 0 ELSE t.errors END,"
                " updated_at = " NGX_SVC_CHANGED_AT("t")
            " FROM n, o, c WHERE t.tenant_id = " NGX_SVC_TENANT
                " AND t.id = $1 AND c.verdict IS NULL"
                " AND (o.failures > 0 OR ROW(n.*) IS DISTINCT FROM"
                    " ROW(o.name, o.base_url, o.token, o.enabled))"
            " RETURNING t.*"
        "), d AS ("
            "DELETE FROM svc.scim_item i WHERE i.tenant_id = " NGX_SVC_TENANT
                " AND i.target_id = $1"
                " AND (SELECT c.moved AND c.verdict IS NULL FROM c)"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SCIM_TARGET_UPDATED, "u.id::text",
                "u.name",
                NGX_SVC_AUDIT_CHANGED(
                    NGX_SVC_DIFFERS("name", "name") ", "
                    NGX_SVC_DIFFERS("base_url", "baseUrl") ", "
                    NGX_SVC_DIFFERS("token", "token") ", "
                    NGX_SVC_DIFFERS("enabled", "enabled")), "FROM u, o")
        "), r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT c.verdict AS _verdict, " NGX_SVC_PUSH_COLUMNS("r")
        " FROM c, r",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE),
                   ngx_svc_param_text(ngx_svc_push_input_t, client_id),
                   ngx_svc_param_text(ngx_svc_push_input_t, name),
                   ngx_svc_param_text(ngx_svc_push_input_t, base_url),
                   ngx_svc_param_sealed_path(ngx_svc_push_input_t, token,
                                             NGX_SVC_PUSH_TOKEN_OF, 0),
                   ngx_svc_param_boolean(ngx_svc_push_input_t, enabled)),
    NGX_SVC_VERDICTS(
        { "client", NGX_SVC_E_INVALID_VALUE,
          "\"clientId\" cannot be changed: make a SCIM target of the other"
          " application." },
        { "token", NGX_SVC_E_INVALID_VALUE,
          "\"token\" is required with another \"baseUrl\"." }),
    .missing = NGX_SVC_PUSH_NONE
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_push_delete = {
    .name = "push_delete",
    .text =
        "WITH t AS ("
            "DELETE" NGX_SVC_PUSH_TARGET " RETURNING t.id, t.name, t.client_id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SCIM_TARGET_DELETED, "t.id::text",
                "t.name", "jsonb_build_object('clientId', t.client_id)",
                "FROM t")
        ")"
        " SELECT t.id FROM t",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_PUSH_NONE)),
    .missing = NGX_SVC_PUSH_NONE
};


const ngx_svc_route_t  ngx_svc_push_targets[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim-targets"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_push_total,
                      &ngx_svc_sql_push_list },
      .list = "scimTargets",
      .total = &ngx_svc_sql_push_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim-targets"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_push_create_members,
      .body_size = sizeof(ngx_svc_push_input_t),
      .statements = { &ngx_svc_sql_push_lock,
                      &ngx_svc_sql_push_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim-targets/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_push_get } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/scim-targets/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_push_put_members,
      .body_size = sizeof(ngx_svc_push_input_t),
      .statements = { &ngx_svc_sql_push_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/scim-targets/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_push_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* Stored is the scheme in lower case, and no slash at the end. */

static ngx_int_t
ngx_svc_push_url_check(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    ngx_str_t  *url;

    url = &value->str;

    if (ngx_svc_webhook_url(url, &ngx_svc_webhook_conf()->allow, path, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_strlchr(url->data, url->data + url->len, '?')) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must not have a query (\"?\"): \"/Users\" "
                            "is put behind it.", path);
    }

    ngx_strlow(url->data, url->data, sizeof("https") - 1);

    while (url->data[url->len - 1] == '/') {
        url->data[--url->len] = '\0';
    }

    return NGX_OK;
}


/* What may be in a header as it is. */

static ngx_int_t
ngx_svc_push_token_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    size_t  i;

    for (i = 0; i < value->str.len; i++) {
        if (value->str.data[i] <= ' ' || value->str.data[i] >= 0x7f) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must have nothing but ASCII without "
                                "spaces and control characters.", path);
        }
    }

    return NGX_OK;
}
