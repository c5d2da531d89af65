/*
 * /v1/admin/members: all users of a tenant, by the roles that they have.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_admin_user.h"


typedef struct {
    ngx_svc_value_t  role;
} ngx_svc_admin_tenant_member_t;


static ngx_int_t ngx_svc_admin_tenant_members_check(ngx_svc_request_t *sr,
    void *body);


static const char *const  ngx_svc_admin_tenant_member_statuses[] = {
    "active", "suspended", "deactivated", NULL
};

static const ngx_svc_member_t  ngx_svc_admin_tenant_member_members[] = {

    { .name = ngx_string("role"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_ROLE_MAX,
      .offset = offsetof(ngx_svc_admin_tenant_member_t, role) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_TENANT_MEMBER_COLUMNS                                   \
    "u.id AS \"userId\", u.user_name AS email,"                               \
    " u.display_name AS \"displayName\", u.role, u.status,"                   \
    " u.created_at AS \"joinedAt\""

/* svc.member_page() answers with one row: how many there are, and ids. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant_members_list = {
    .name = "admin_tenant_members_list",
    .text =
        "SELECT p.total AS _total, " NGX_SVC_ADMIN_TENANT_MEMBER_COLUMNS
        " FROM svc.member_page($1, $2, $3, $4::int4, $5::int4) p"
        " LEFT JOIN unnest(p.ids) WITH ORDINALITY i (id, n) ON true"
        " LEFT JOIN svc.user_account u ON u.tenant_id = " NGX_SVC_TENANT
            " AND u.id = i.id ORDER BY i.n",
    NGX_SVC_PARAMS(ngx_svc_param_query("q", NGX_SVC_ADMIN_QUERY),
                   ngx_svc_param_query_word("status",
                                        ngx_svc_admin_tenant_member_statuses),
                   ngx_svc_param_query("role", NGX_SVC_ADMIN_ROLE_MAX),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant_members_get = {
    .name = "admin_tenant_members_get",
    .text =
        "SELECT " NGX_SVC_ADMIN_TENANT_MEMBER_COLUMNS
        " FROM svc.user_account u"
        " WHERE u.tenant_id = " NGX_SVC_TENANT " AND u.id = $1",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    .missing = NGX_SVC_ADMIN_NO_USER
};

/* Who makes an owner may act on owners. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant_members_put = {
    .name = "admin_tenant_members_put",
    .text =
        "WITH " NGX_SVC_ADMIN_OWNERS
        ", c AS ("
            "SELECT CASE" NGX_SVC_ADMIN_REFUSED
                " WHEN NOT " NGX_SVC_ADMIN_ROLE_KNOWN("$2")
                    " THEN 'unknown ' || $2"
                NGX_SVC_ADMIN_ROLE_REFUSED("$2")
                " WHEN $2 <> 'owner' AND " NGX_SVC_ADMIN_LAST_OWNER
                    " THEN 'last' END AS verdict FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET role = $2,"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM c, o WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND c.verdict IS NULL"
                " AND o.role <> $2 RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_TENANT_MEMBER_UPDATED, "u.id::text",
                "NULL", "jsonb_build_object('role', $2::text,"
                    " 'previousRole', o.role)", "FROM u, o")
        ")"
        " SELECT verdict AS _verdict FROM c",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER),
                   ngx_svc_param_text(ngx_svc_admin_tenant_member_t, role)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_REFUSALS,
                     NGX_SVC_ADMIN_ROLE_VERDICTS, NGX_SVC_ADMIN_LAST_VERDICT),
    .missing = NGX_SVC_ADMIN_NO_USER
};

/* The account stays, with the role that grants nothing. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant_members_remove = {
    .name = "admin_tenant_members_remove",
    .text =
        "WITH " NGX_SVC_ADMIN_OWNERS
        ", c AS ("
            "SELECT CASE" NGX_SVC_ADMIN_REFUSED
                " WHEN " NGX_SVC_ADMIN_LAST_OWNER " THEN 'last' END AS verdict"
            " FROM o"
        "), u AS ("
            "UPDATE svc.user_account a SET role = 'member',"
                " valid_after = clock_timestamp(),"
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " FROM c, o WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1 AND c.verdict IS NULL"
                " AND o.role <> 'member' RETURNING a.id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_TENANT_MEMBER_REMOVED, "u.id::text",
                "NULL", "jsonb_build_object('previousRole', o.role)",
                "FROM u, o")
        ")"
        " SELECT verdict AS _verdict FROM c",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    NGX_SVC_VERDICTS(NGX_SVC_ADMIN_REFUSALS, NGX_SVC_ADMIN_LAST_VERDICT),
    .missing = NGX_SVC_ADMIN_NO_USER
};


const ngx_svc_route_t  ngx_svc_admin_members[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/members"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .check = ngx_svc_admin_tenant_members_check,
      .statements = { &ngx_svc_sql_admin_tenant_members_list },
      .list = "members" },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/members/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_tenant_member_members,
      .body_size = sizeof(ngx_svc_admin_tenant_member_t),
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_tenant_members_put,
                      &ngx_svc_sql_admin_tenant_members_get } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/members/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_user_owners_lock,
                      &ngx_svc_sql_admin_tenant_members_remove },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/* A role is searched among up to 10,000 users. */

static ngx_int_t
ngx_svc_admin_tenant_members_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t  rc;
    ngx_str_t  role;

    rc = ngx_svc_argument(sr, "role", &role);

    if (rc == NGX_OK && role.len) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return rc == NGX_OK ? ngx_svc_admin_search_check(sr, body) : rc;
}
