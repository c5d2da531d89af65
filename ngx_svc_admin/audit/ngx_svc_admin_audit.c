/*
 * /v1/admin/audit: the list, and the filters and the event of all three.
 */

#include "ngx_svc_admin_audit.h"
#include "ngx_svc_time.h"


#define NGX_SVC_ADMIN_AUDIT_Q      200      /* characters */
#define NGX_SVC_ADMIN_AUDIT_WORD   200


typedef struct {
    ngx_svc_page_t          page;
    ngx_svc_admin_audit_filter_t  filter;
} ngx_svc_admin_audit_list_t;


static ngx_int_t ngx_svc_admin_audit_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_audit_list_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_audit_text(ngx_svc_request_t *sr,
    const char *name, ngx_uint_t max, ngx_str_t *text);
static ngx_int_t ngx_svc_admin_audit_time(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *msec);
static ngx_str_t *ngx_svc_admin_audit_or_null(ngx_str_t *text);


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
        " SELECT t.total, " NGX_SVC_ADMIN_AUDIT_COLUMNS
        " FROM (SELECT least(count(*), 10000) AS total FROM m) t"
        " LEFT JOIN (p CROSS JOIN LATERAL ("
            "SELECT * FROM svc.audit_event a WHERE a.tenant_id = " NGX_SVC_TENANT
            " AND a.created_at = p.created_at AND a.id = p.id LIMIT 1"
        ") e) ON true"
        " ORDER BY e.created_at DESC, e.id DESC",
    .nparams = 8
};

ngx_svc_pg_statements_t  ngx_svc_admin_audit_statements[] = {
    &ngx_svc_sql_admin_audit_list,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_audit[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/audit"),
      .permission = NGX_SVC_P_AUDIT_VIEW,
      .prepare = ngx_svc_admin_audit_list_prepare,
      .reply = ngx_svc_admin_audit_list_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_audit_list_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                    rc;
    ngx_svc_pg_call_t           *call;
    ngx_svc_admin_audit_list_t  *list;

    list = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_audit_list_t));
    if (list == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_page(sr, &list->page);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_audit_filter(sr, &list->filter);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_audit_range(sr, &list->filter);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    sr->data = &list->page;
    sr->slow = NGX_SVC_ADMIN_AUDIT_SLOW;

    if (ngx_svc_admin_audit_searches(&list->filter)) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_audit_list);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_admin_audit_bind_match(call, &list->filter);
    ngx_svc_admin_audit_bind_range(call, &list->filter);

    if (ngx_svc_pg_bind_int(sr->op, call, list->page.limit) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_pg_bind_int(sr->op, call, list->page.offset);
}


/* Without events the one row has NULLs behind the total. */

static ngx_int_t
ngx_svc_admin_audit_list_reply(ngx_svc_request_t *sr)
{
    int                     i, n;
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];
    n = PQntuples(res);

    if (n == 0 || ngx_svc_json_writer_init(&w, sr->request->pool, 256 + n * 512)
                  != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "events", '[');

    for (i = 0; i < n; i++) {
        if (!PQgetisnull(res, i, 1 + NGX_SVC_ADMIN_AUDIT_ID)) {
            ngx_svc_admin_audit_event(&w, NULL, res, i, 1);
        }
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_page_write(&w, res, sr->data);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
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


ngx_int_t
ngx_svc_admin_audit_range(ngx_svc_request_t *sr,
    ngx_svc_admin_audit_filter_t *filter)
{
    ngx_int_t  rc;

    rc = ngx_svc_admin_audit_time(sr, "from", &filter->from);
    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_svc_admin_audit_time(sr, "to", &filter->to);
}


static ngx_int_t
ngx_svc_admin_audit_time(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *msec)
{
    int64_t    at;
    ngx_int_t  rc;
    ngx_str_t  text;

    rc = ngx_svc_argument(sr, name, &text);
    if (rc != NGX_OK || text.data == NULL) {
        return rc;
    }

    if (ngx_svc_time_parse(&text, &at) != NGX_OK) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "\"%s\" must be a time such as "
                            "\"2026-11-21T09:15:30Z\", in UTC of the years 1 "
                            "to 9999.", name);
    }

    msec->data = ngx_pnalloc(sr->request->pool, NGX_INT64_LEN);
    if (msec->data == NULL) {
        return NGX_ERROR;
    }

    msec->len = ngx_sprintf(msec->data, "%L", at) - msec->data;

    return NGX_OK;
}


ngx_uint_t
ngx_svc_admin_audit_searches(ngx_svc_admin_audit_filter_t *filter)
{
    return filter->q.data || filter->outcome.data || filter->action.data
           || filter->actor_id.data;
}


void
ngx_svc_admin_audit_bind_match(ngx_svc_pg_call_t *call,
    ngx_svc_admin_audit_filter_t *filter)
{
    ngx_svc_pg_bind_str(call, ngx_svc_admin_audit_or_null(&filter->q));
    ngx_svc_pg_bind_str(call, ngx_svc_admin_audit_or_null(&filter->outcome));
    ngx_svc_pg_bind_str(call, ngx_svc_admin_audit_or_null(&filter->action));
    ngx_svc_pg_bind_str(call, ngx_svc_admin_audit_or_null(&filter->actor_id));
}


void
ngx_svc_admin_audit_bind_range(ngx_svc_pg_call_t *call,
    ngx_svc_admin_audit_filter_t *filter)
{
    ngx_svc_pg_bind_str(call, ngx_svc_admin_audit_or_null(&filter->from));
    ngx_svc_pg_bind_str(call, ngx_svc_admin_audit_or_null(&filter->to));
}


static ngx_str_t *
ngx_svc_admin_audit_or_null(ngx_str_t *text)
{
    return text->data ? text : NULL;
}


void
ngx_svc_admin_audit_event(ngx_svc_json_writer_t *w, const char *key,
    PGresult *res, int row, int column)
{
    ngx_svc_json_open(w, key, '{');

    ngx_svc_column_text(w, "id", res, row, column);
    ngx_svc_column_time(w, "createdAt", res, row, column + 1);
    ngx_svc_column_text(w, "action", res, row, column + 2);
    ngx_svc_column_text(w, "outcome", res, row, column + 3);

    ngx_svc_json_open(w, "actor", '{');
    ngx_svc_column_text(w, "type", res, row, column + 4);
    ngx_svc_column_text(w, "id", res, row, column + 5);
    ngx_svc_column_text(w, "name", res, row, column + 6);
    ngx_svc_json_close(w, '}');

    if (PQgetisnull(res, row, column + 7)) {
        ngx_svc_json_null(w, "target");

    } else {
        ngx_svc_json_open(w, "target", '{');
        ngx_svc_column_text(w, "type", res, row, column + 7);
        ngx_svc_column_text(w, "id", res, row, column + 8);
        ngx_svc_column_text(w, "name", res, row, column + 9);
        ngx_svc_json_close(w, '}');
    }

    ngx_svc_column_text(w, "ip", res, row, column + 10);
    ngx_svc_column_text(w, "country", res, row, column + 11);
    ngx_svc_column_text(w, "userAgent", res, row, column + 12);
    ngx_svc_column_text(w, "requestId", res, row, column + 13);
    ngx_svc_column_raw(w, "details", res, row, column + 14);

    ngx_svc_json_close(w, '}');
}


void
ngx_svc_admin_audit_copy(ngx_str_t *dst, u_char *text, size_t size,
    PGresult *res, int row, int column)
{
    ngx_str_t  value;

    value = ngx_svc_pg_value(res, row, column);

    dst->data = text;
    dst->len = ngx_min(value.len, size);

    if (dst->len) {
        ngx_memcpy(text, value.data, dst->len);
    }
}
