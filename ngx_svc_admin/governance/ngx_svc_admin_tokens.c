/*
 * /v1/admin/api-tokens.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_new_token.h"
#include "ngx_svc_check.h"


#define NGX_SVC_ADMIN_TOKENS      1000  /* live ones of a tenant */
#define NGX_SVC_ADMIN_TOKEN_NAME  100   /* characters */
#define NGX_SVC_ADMIN_TOKEN_DAYS  3650

#define NGX_SVC_ADMIN_TOKEN_PREFIX  "svc_"
#define NGX_SVC_ADMIN_NO_TOKEN      "There is no API token with this id."


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  scopes;
    ngx_svc_value_t  expires_at;
    ngx_svc_value_t  expires_in_days;
} ngx_svc_admin_token_t;


static void ngx_svc_admin_token_scopes(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_token_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_TOKEN_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_admin_token_t, name) },

    { .name = ngx_string("scopes"),
      .type = NGX_SVC_T_ARRAY,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = 100,
      .element = &ngx_svc_permission_element,
      .offset = offsetof(ngx_svc_admin_token_t, scopes) },

    { .name = ngx_string("expiresAt"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_check_expiry,
      .offset = offsetof(ngx_svc_admin_token_t, expires_at) },

    { .name = ngx_string("expiresInDays"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_TOKEN_DAYS,
      .offset = offsetof(ngx_svc_admin_token_t, expires_in_days) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_TOKEN_COLUMNS                                           \
    "id, name,"                                                               \
    " array_to_json(ARRAY(SELECT unnest(permissions) ORDER BY 1)) AS scopes," \
    " prefix, CASE WHEN revoked_at IS NOT NULL THEN 'revoked'"                \
        " WHEN expires_at <= now() THEN 'expired' ELSE 'active' END"          \
        " AS status,"                                                         \
    " created_at AS \"createdAt\", created_by_type AS \"createdBy.type\","    \
    " created_by_id AS \"createdBy.id\","                                     \
    " created_by_name AS \"createdBy.name\","                                 \
    NGX_SVC_ADMIN_TOKEN_MAKER ", expires_at AS \"expiresAt\","                \
    " last_used_at AS \"lastUsedAt\", revoked_at AS \"revokedAt\""

#define NGX_SVC_ADMIN_TOKEN_OURS  NGX_SVC_ADMIN_TOKENS_OF("api")


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_list = {
    .name = "admin_tokens_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_TOKEN_COLUMNS " FROM svc.credential WHERE"
        NGX_SVC_ADMIN_TOKEN_OURS
        " ORDER BY created_at DESC, id DESC LIMIT $1::int4 OFFSET $2::int4",
    NGX_SVC_PARAMS(ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_total = {
    .name = "admin_tokens_total",
    .text =
        "SELECT count(*), array_to_json(ARRAY("
            "SELECT unnest(" NGX_SVC_CALLER_PERMISSIONS ") ORDER BY 1))"
            " AS scopes"
        " FROM svc.credential WHERE" NGX_SVC_ADMIN_TOKEN_OURS
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_lock = {
    .name = "admin_tokens_lock",
    .text = NGX_SVC_LIMIT_LOCK("svc.credential")
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_create = {
    .name = "admin_tokens_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant,"
                " $5::text::text[] <@ " NGX_SVC_CALLER_PERMISSIONS " AS held,"
                " (SELECT count(*) FROM svc.credential WHERE"
                    NGX_SVC_ADMIN_TOKEN_OURS
                    " AND revoked_at IS NULL"
                    " AND (expires_at IS NULL OR expires_at > now())"
                    ") < $8::int4 AS room"
        "), k AS ("
            "INSERT INTO svc.credential (token_hash, tenant_id, id, kind, name,"
                " prefix, permissions, expires_at, created_by_type,"
                " created_by_id, created_by_name)"
            " SELECT $1, n.tenant, $2::uuid, 'api', $3, $4, $5::text::text[],"
                " coalesce(" NGX_SVC_TIME("$6") ","
                    " now() + $7::int4 * interval '24 hours'),"
                " current_setting('svc.actor_type', true),"
                " current_setting('svc.actor_id', true),"
                " current_setting('svc.actor_name', true)"
            " FROM n WHERE n.tenant IS NOT NULL AND n.held AND n.room"
            " RETURNING *"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_API_TOKEN_CREATED, "k.id::text", "k.name",
                          "jsonb_build_object('scopes',"
                              " to_jsonb(k.permissions))",
                          "FROM k")
        ")"
        " SELECT CASE WHEN n.held IS NOT TRUE THEN 'lacks'"
            " WHEN NOT n.room THEN 'full' END AS _verdict, k.*"
        " FROM n LEFT JOIN (SELECT " NGX_SVC_ADMIN_TOKEN_COLUMNS " FROM k) k"
            " ON true",
    NGX_SVC_PARAMS(ngx_svc_param_new_token(NGX_SVC_ADMIN_TOKEN_PREFIX),
                   ngx_svc_param_new_id(),
                   ngx_svc_param_text(ngx_svc_admin_token_t, name),
                   ngx_svc_param_token_shown(NGX_SVC_ADMIN_TOKEN_PREFIX),
                   ngx_svc_param_permissions(ngx_svc_admin_token_t, scopes),
                   ngx_svc_param_time(ngx_svc_admin_token_t, expires_at),
                   ngx_svc_param_integer(ngx_svc_admin_token_t,
                                         expires_in_days),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_TOKENS)),
    NGX_SVC_VERDICTS(
        { "lacks", NGX_SVC_E_FORBIDDEN,
          "\"scopes\" holds a permission that the token of this request does"
          " not have." },
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant has " ngx_value(NGX_SVC_ADMIN_TOKENS) " live API tokens:"
          " revoke one." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tokens_revoke = {
    .name = "admin_tokens_revoke",
    .text =
        NGX_SVC_ADMIN_TOKEN_REVOKE("api", NGX_SVC_A_API_TOKEN_REVOKED),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_TOKEN)),
    .missing = NGX_SVC_ADMIN_NO_TOKEN
};


const ngx_svc_route_t  ngx_svc_admin_tokens[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/api-tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_CALLER,
      .statements = { &ngx_svc_sql_admin_tokens_total,
                      &ngx_svc_sql_admin_tokens_list },
      .list = "apiTokens",
      .total = &ngx_svc_sql_admin_tokens_total,
      .more = ngx_svc_admin_token_scopes },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/api-tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_token_members,
      .body_size = sizeof(ngx_svc_admin_token_t),
      .statements = { &ngx_svc_sql_admin_tokens_lock,
                      &ngx_svc_sql_admin_tokens_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_admin_token_secret },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/api-tokens/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_tokens_revoke },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* What the caller may give, which the total comes with. */

static void
ngx_svc_admin_token_scopes(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    PGresult  *total;

    total = ngx_svc_result(sr, &ngx_svc_sql_admin_tokens_total);

    ngx_svc_column_raw(w, "assignableScopes", total, 0,
                       ngx_svc_row_find(total, "scopes"));
}
