/*
 * /v1/admin/audit: the list, and the filters of all three.
 */

#include "ngx_svc_admin_audit.h"


#define NGX_SVC_ADMIN_AUDIT_Q      200      /* characters */
#define NGX_SVC_ADMIN_AUDIT_WORD   200


/* In sr->data, where the page is that parameters are of. */

typedef struct {
    ngx_svc_page_t                page;     /* first */
    ngx_svc_admin_audit_filter_t  filter;
} ngx_svc_admin_audit_list_t;


static ngx_int_t ngx_svc_admin_audit_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_audit_text(ngx_svc_request_t *sr,
    const char *name, ngx_uint_t max, ngx_str_t *text);


/*
 * One pass finds the page and the total: the keys of what matches, newest
 * first, as many as the total counts or the page needs.  LATERAL with a LIMIT
 * is looked up row by row: a plain join, planned while a month's partition was
 * nearly empty, would read all of it for each row of the page.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_audit_list = {
    .name = "admin_audit_list",
    .text =
        "WITH m AS MATERIALIZED ("
            "SELECT e.created_at, e.id FROM svc.audit_event e"
            " WHERE e.tenant_id = " NGX_SVC_TENANT
            " AND" NGX_SVC_ADMIN_AUDIT_RANGE " AND" NGX_SVC_ADMIN_AUDIT_MATCH
            " ORDER BY e.created_at DESC, e.id DESC"
            " LIMIT greatest(10000, $7::int4::int8 + $8::int4)"
        "), p AS MATERIALIZED ("
            "SELECT * FROM m ORDER BY created_at DESC, id DESC"
            " LIMIT $7::int4 OFFSET $8::int4"
        ")"
        " SELECT t.total AS _total, " NGX_SVC_ADMIN_AUDIT_COLUMNS
        " FROM (SELECT least(count(*), 10000) AS total FROM m) t"
        " LEFT JOIN (p CROSS JOIN LATERAL ("
            "SELECT * FROM svc.audit_event a"
            " WHERE a.tenant_id = " NGX_SVC_TENANT
            " AND a.created_at = p.created_at AND a.id = p.id LIMIT 1"
        ") e) ON true"
        " ORDER BY e.created_at DESC, e.id DESC",
    NGX_SVC_PARAMS(ngx_svc_admin_audit_match(ngx_svc_admin_audit_list_t),
                   ngx_svc_admin_audit_range(ngx_svc_admin_audit_list_t),
                   ngx_svc_param_limit(),
                   ngx_svc_param_offset())
};


const ngx_svc_route_t  ngx_svc_admin_audit[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/audit"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .check = ngx_svc_admin_audit_check,
      .statements = { &ngx_svc_sql_admin_audit_list },
      .list = "events" },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_audit_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_page_t              *page;
    ngx_svc_admin_audit_list_t  *list;

    list = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_audit_list_t));
    if (list == NULL) {
        return NGX_ERROR;
    }

    page = sr->data;
    list->page = *page;

    sr->data = list;

    return ngx_svc_admin_audit_search(sr, &list->filter);
}


ngx_int_t
ngx_svc_admin_audit_search(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter)
{
    ngx_int_t  rc;

    rc = ngx_svc_admin_audit_filter(sr, filter);

    if (rc == NGX_OK) {
        rc = ngx_svc_time_argument(sr, "from", &filter->from);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_time_argument(sr, "to", &filter->to);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    sr->op->kind = ngx_svc_admin_audit_pool(filter);
    sr->slow = "The search took too long: narrow it with \"from\" and \"to\".";

    return NGX_OK;
}


ngx_svc_pg_pool_e
ngx_svc_admin_audit_pool(ngx_svc_admin_audit_filter_t *filter)
{
    return filter->q.data || filter->outcome.data || filter->action.data
           || filter->actor_id.data ? NGX_SVC_PG_SLOW : NGX_SVC_PG_READ;
}


ngx_int_t
ngx_svc_admin_audit_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter)
{
    ngx_int_t  rc, n;

    static const char *const  outcomes[] = { "success", "failure", NULL };

    n = -1;
    rc = ngx_svc_admin_audit_text(sr, "q", NGX_SVC_ADMIN_AUDIT_Q, &filter->q);

    if (rc == NGX_OK) {
        rc = ngx_svc_word_argument(sr, "outcome", outcomes, &n);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (n >= 0) {
        filter->outcome.data = (u_char *) outcomes[n];
        filter->outcome.len = ngx_strlen(outcomes[n]);
    }

    rc = ngx_svc_admin_audit_text(sr, "action", NGX_SVC_ADMIN_AUDIT_WORD,
                                  &filter->action);
    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_svc_admin_audit_text(sr, "actorId", NGX_SVC_ADMIN_AUDIT_WORD,
                                    &filter->actor_id);
}


/* An empty text asks for nothing. */

static ngx_int_t
ngx_svc_admin_audit_text(ngx_svc_request_t *sr, const char *name,
    ngx_uint_t max, ngx_str_t *text)
{
    ngx_int_t  rc;

    rc = ngx_svc_text_argument(sr, name, max, text);

    if (text->len == 0) {
        text->data = NULL;
    }

    return rc;
}
