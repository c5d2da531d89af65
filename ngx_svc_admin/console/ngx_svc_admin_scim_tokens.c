/*
 * /v1/admin/scim/tokens: with which directories provision users.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_new_token.h"


#define NGX_SVC_ADMIN_SCIM_TOKENS      100      /* live ones of a tenant */
#define NGX_SVC_ADMIN_SCIM_TOKEN_NAME  100      /* characters */

#define NGX_SVC_ADMIN_SCIM_PREFIX      "scim_"
#define NGX_SVC_ADMIN_NO_SCIM_TOKEN    "There is no SCIM token with this id."


typedef struct {
    ngx_svc_value_t  name;
} ngx_svc_admin_scim_token_t;


static const ngx_svc_member_t  ngx_svc_admin_scim_token_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_SCIM_TOKEN_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_admin_scim_token_t, name) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_SCIM_TOKEN_COLUMNS                                      \
    "id, name, prefix, created_at AS \"createdAt\","                          \
    " created_by_type AS \"createdBy.type\","                                 \
    " created_by_id AS \"createdBy.id\","                                     \
    " created_by_name AS \"createdBy.name\","                                 \
    NGX_SVC_ADMIN_TOKEN_MAKER ","                                             \
    " last_used_at AS \"lastUsedAt\", revoked_at AS \"revokedAt\""

#define NGX_SVC_ADMIN_SCIM_TOKENS_OURS  NGX_SVC_ADMIN_TOKENS_OF("scim")

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_scim_tokens_list = {
    .name = "admin_scim_tokens_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_SCIM_TOKEN_COLUMNS " FROM svc.credential WHERE"
        NGX_SVC_ADMIN_SCIM_TOKENS_OURS
        " ORDER BY created_at DESC, id DESC LIMIT $1::int4 OFFSET $2::int4",
    NGX_SVC_PARAMS(ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_scim_tokens_total = {
    .name = "admin_scim_tokens_total",
    .text =
        "SELECT count(*) FROM svc.credential WHERE"
        NGX_SVC_ADMIN_SCIM_TOKENS_OURS
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_scim_tokens_lock = {
    .name = "admin_scim_tokens_lock",
    .text = NGX_SVC_LIMIT_LOCK("svc.credential.scim")
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_scim_tokens_create = {
    .name = "admin_scim_tokens_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant,"
                " (SELECT count(*) FROM svc.credential WHERE"
                    NGX_SVC_ADMIN_SCIM_TOKENS_OURS
                    " AND revoked_at IS NULL"
                    " AND (expires_at IS NULL OR expires_at > now())"
                    ") < $5::int4 AS room"
        "), k AS ("
            "INSERT INTO svc.credential (token_hash, tenant_id, id, kind, name,"
                " prefix, permissions, created_by_type, created_by_id,"
                " created_by_name)"
            " SELECT $1, n.tenant, $2::uuid, 'scim', coalesce($3, 'SCIM'), $4,"
                " '{scim}', current_setting('svc.actor_type', true),"
                " current_setting('svc.actor_id', true),"
                " current_setting('svc.actor_name', true)"
            " FROM n WHERE n.tenant IS NOT NULL AND n.room"
            " RETURNING *"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SCIM_TOKEN_CREATED, "k.id::text", "k.name",
                          "'{}'", "FROM k")
        ")"
        " SELECT CASE WHEN NOT n.room THEN 'full' END AS _verdict, k.*,"
            " " NGX_SVC_BASE_URL("$6") " || '/scim/v2' AS \"baseUrl\""
        " FROM n LEFT JOIN (SELECT " NGX_SVC_ADMIN_SCIM_TOKEN_COLUMNS
            " FROM k) k ON true",
    NGX_SVC_PARAMS(ngx_svc_param_new_token(NGX_SVC_ADMIN_SCIM_PREFIX),
                   ngx_svc_param_new_id(),
                   ngx_svc_param_text(ngx_svc_admin_scim_token_t, name),
                   ngx_svc_param_token_shown(NGX_SVC_ADMIN_SCIM_PREFIX),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_SCIM_TOKENS),
                   ngx_svc_param_base_url()),
    NGX_SVC_VERDICTS(
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant has " ngx_value(NGX_SVC_ADMIN_SCIM_TOKENS)
          " live SCIM tokens: revoke one." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_scim_tokens_revoke = {
    .name = "admin_scim_tokens_revoke",
    .text =
        NGX_SVC_ADMIN_TOKEN_REVOKE("scim", NGX_SVC_A_SCIM_TOKEN_REVOKED),
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SCIM_TOKEN)),
    .missing = NGX_SVC_ADMIN_NO_SCIM_TOKEN
};


const ngx_svc_route_t  ngx_svc_admin_scim_tokens[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim/tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_scim_tokens_total,
                      &ngx_svc_sql_admin_scim_tokens_list },
      .list = "tokens",
      .total = &ngx_svc_sql_admin_scim_tokens_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim/tokens"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_admin_scim_token_members,
      .body_size = sizeof(ngx_svc_admin_scim_token_t),
      .statements = { &ngx_svc_sql_admin_scim_tokens_lock,
                      &ngx_svc_sql_admin_scim_tokens_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_admin_token_secret },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/scim/tokens/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_scim_tokens_revoke },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
