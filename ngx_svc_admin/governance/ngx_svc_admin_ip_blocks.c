/*
 * /v1/admin/ip-blocks: addresses from which nobody signs in.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_check.h"


#define NGX_SVC_ADMIN_IP_BLOCKS  10000  /* of a tenant, but for expired ones */
#define NGX_SVC_ADMIN_NO_BLOCK   "This address is not blocked."


typedef struct {
    ngx_svc_value_t  ip;
    ngx_svc_value_t  reason;
    ngx_svc_value_t  expires_at;
} ngx_svc_admin_ip_block_t;


static const ngx_svc_member_t  ngx_svc_admin_ip_block_members[] = {

    { .name = ngx_string("ip"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_check_addr,
      .offset = offsetof(ngx_svc_admin_ip_block_t, ip) },

    { .name = ngx_string("reason"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_CLEARS,
      .max = 200,
      .offset = offsetof(ngx_svc_admin_ip_block_t, reason) },

    { .name = ngx_string("expiresAt"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_check_expiry,
      .offset = offsetof(ngx_svc_admin_ip_block_t, expires_at) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_IP_BLOCK_COLUMNS                                        \
    "host(b.ip) AS ip, b.reason, b.created_at AS \"createdAt\","              \
    " b.created_by_type AS \"createdBy.type\","                               \
    " b.created_by_id AS \"createdBy.id\","                                   \
    " b.created_by_name AS \"createdBy.name\", b.expires_at AS \"expiresAt\""

#define NGX_SVC_ADMIN_IP_BLOCK_LIVE                                           \
    " b.tenant_id = " NGX_SVC_TENANT                                          \
    " AND (b.expires_at IS NULL OR b.expires_at > now())"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_ip_blocks_total = {
    .name = "admin_ip_blocks_total",
    .text =
        "SELECT count(*) FROM svc.ip_block b WHERE" NGX_SVC_ADMIN_IP_BLOCK_LIVE
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_ip_blocks_list = {
    .name = "admin_ip_blocks_list",
    .text =
        "SELECT " NGX_SVC_ADMIN_IP_BLOCK_COLUMNS " FROM svc.ip_block b WHERE"
        NGX_SVC_ADMIN_IP_BLOCK_LIVE
        " ORDER BY b.created_at DESC, b.ip DESC"
        " LIMIT $1::int4 OFFSET $2::int4",
    NGX_SVC_PARAMS(ngx_svc_param_limit(), ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_ip_blocks_lock = {
    .name = "admin_ip_blocks_lock",
    .text = NGX_SVC_LIMIT_LOCK("svc.ip_block")
};

/* of expired ones the oldest, and that of this address, which is in the way */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_ip_blocks_expire = {
    .name = "admin_ip_blocks_expire",
    .text =
        "DELETE FROM svc.ip_block b WHERE b.tenant_id = " NGX_SVC_TENANT
        " AND b.expires_at <= now() AND b.ip = ANY (array_append(ARRAY("
            "SELECT k.ip FROM svc.ip_block k"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
                " AND k.expires_at <= now()"
            " ORDER BY k.expires_at LIMIT 100), $1::text::inet))",
    NGX_SVC_PARAMS(ngx_svc_param_addr(ngx_svc_admin_ip_block_t, ip))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_ip_blocks_create = {
    .name = "admin_ip_blocks_create",
    .text =
        "WITH t AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS id, (SELECT count(*)"
                " FROM svc.ip_block b WHERE" NGX_SVC_ADMIN_IP_BLOCK_LIVE
                ") < $4::int4 AS room,"
                " $1::text = current_setting('svc.ip', true) AS own"
        "), b AS ("
            "INSERT INTO svc.ip_block (tenant_id, ip, reason, expires_at)"
            " SELECT t.id, $1::text::inet, $2, " NGX_SVC_TIME("$3") " FROM t"
                " WHERE t.id IS NOT NULL AND t.room AND NOT t.own"
            " ON CONFLICT DO NOTHING RETURNING *"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_IP_BLOCK_CREATED, "host(b.ip)", "NULL",
                          "jsonb_build_object('reason', b.reason)", "FROM b")
        ")"
        " SELECT CASE WHEN t.own THEN 'own' WHEN NOT t.room THEN 'full'"
            " WHEN b.ip IS NULL THEN 'taken' END AS _verdict, "
            NGX_SVC_ADMIN_IP_BLOCK_COLUMNS
        " FROM t LEFT JOIN b ON true",
    NGX_SVC_PARAMS(ngx_svc_param_addr(ngx_svc_admin_ip_block_t, ip),
                   ngx_svc_param_text(ngx_svc_admin_ip_block_t, reason),
                   ngx_svc_param_time(ngx_svc_admin_ip_block_t, expires_at),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_IP_BLOCKS)),
    NGX_SVC_VERDICTS(
        { "own", NGX_SVC_E_ANTI_LOCKOUT,
          "\"ip\" is the address of this request: whoever made it could not"
          " sign in any more." },
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant blocks " ngx_value(NGX_SVC_ADMIN_IP_BLOCKS)
          " addresses: delete one." },
        { "taken", NGX_SVC_E_CONFLICT, "This address is blocked already." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_ip_blocks_delete = {
    .name = "admin_ip_blocks_delete",
    .text =
        "WITH b AS ("
            "DELETE FROM svc.ip_block b WHERE" NGX_SVC_ADMIN_IP_BLOCK_LIVE
                " AND b.ip = $1::text::inet RETURNING b.ip"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_IP_BLOCK_DELETED, "host(b.ip)", "NULL",
                          "'{}'", "FROM b")
        ")"
        " SELECT b.ip FROM b",
    NGX_SVC_PARAMS(ngx_svc_param_path_addr(0, NGX_SVC_ADMIN_NO_BLOCK)),
    .missing = NGX_SVC_ADMIN_NO_BLOCK
};


const ngx_svc_route_t  ngx_svc_admin_ip_blocks[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/ip-blocks"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_ip_blocks_total,
                      &ngx_svc_sql_admin_ip_blocks_list },
      .list = "ipBlocks",
      .total = &ngx_svc_sql_admin_ip_blocks_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/ip-blocks"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE,
      .members = ngx_svc_admin_ip_block_members,
      .body_size = sizeof(ngx_svc_admin_ip_block_t),
      .statements = { &ngx_svc_sql_admin_ip_blocks_lock,
                      &ngx_svc_sql_admin_ip_blocks_expire,
                      &ngx_svc_sql_admin_ip_blocks_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/ip-blocks/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_ip_blocks_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};
