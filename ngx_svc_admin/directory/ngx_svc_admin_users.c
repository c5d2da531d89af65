/*
 * /v1/admin/users and /v1/admin/users/{userId}.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_DEEP_OFFSET  10000    /* such a page takes longer */


static const char *const  ngx_svc_admin_user_statuses[] = {
    "active", "suspended", "deactivated", NULL
};


/* svc.user_page() answers with one row: how many there are, and ids. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_users_list = {
    .name = "admin_users_list",
    .text =
        "SELECT p.total AS _total, " NGX_SVC_ADMIN_USER_COLUMNS("u")
        " FROM svc.user_page($1, $2, $3::int4, $4::int4) p"
        " LEFT JOIN unnest(p.ids) WITH ORDINALITY i (id, n) ON true"
        " LEFT JOIN svc.user_account u ON u.tenant_id = " NGX_SVC_TENANT
            " AND u.id = i.id ORDER BY i.n",
    NGX_SVC_PARAMS(ngx_svc_param_query("q", NGX_SVC_ADMIN_QUERY),
                   ngx_svc_param_query_word("status",
                                            ngx_svc_admin_user_statuses),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};

const ngx_svc_pg_statement_t  ngx_svc_sql_admin_users_get = {
    .name = "admin_users_get",
    .text = NGX_SVC_ADMIN_USER_GET,
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_USER)),
    .missing = NGX_SVC_ADMIN_NO_USER
};


const ngx_svc_route_t  ngx_svc_admin_users[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_users_list },
      .list = "users" },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/users/*"),
      .permission = NGX_SVC_P_USERS_VIEW,
      .statements = { &ngx_svc_sql_admin_users_get } },

    ngx_svc_null_route
};


ngx_int_t
ngx_svc_admin_search_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t        rc;
    ngx_str_t        q;
    ngx_svc_page_t  *page;

    page = sr->data;

    rc = ngx_svc_argument(sr, "q", &q);

    if (rc == NGX_OK && (q.len || page->offset > NGX_SVC_ADMIN_DEEP_OFFSET)) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    return rc;
}
