/*
 * /v1/admin/access-policy/versions.
 *
 * Fifty policies may be 50M: what is more than a piece is sent in pieces, and
 * the next one is read when the client has taken the one before.
 */

#include "ngx_svc_admin_access.h"


#define NGX_SVC_ADMIN_VERSION_SIZE      512     /* first guess, in bytes */
#define NGX_SVC_ADMIN_VERSION_SNAPSHOT  8       /* behind a version's column */
#define NGX_SVC_ADMIN_VERSION_CURRENT   9

#define NGX_SVC_ADMIN_VERSIONS_PIECE    262144  /* bytes of snapshots */


typedef struct {
    ngx_svc_page_t  page;         /* first: sr->data is a page, too */
    ngx_svc_stream_t      stream;
    int64_t               total;
    int32_t               left;         /* of the page, not yet sent */
    ngx_uint_t            written;
    ngx_str_t             before;       /* the number of the last one sent; no
                                           data: none has been */
    u_char                before_text[NGX_INT64_LEN];
} ngx_svc_admin_versions_t;


static ngx_int_t ngx_svc_admin_access_versions_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_versions_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_call(ngx_svc_request_t *sr,
    int32_t limit, int32_t offset);
static int ngx_svc_admin_versions_whole(PGresult *res);
static size_t ngx_svc_admin_versions_size(PGresult *res, int n);
static void ngx_svc_admin_version_row(ngx_svc_json_writer_t *w,
    PGresult *res, int row);
static ngx_int_t ngx_svc_admin_versions_open(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_piece(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_next(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_more(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_failed(ngx_svc_request_t *sr);


/* at least one snapshot, and those that fit with it */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_access_versions = {
    .name = "admin_access_versions",
    .text =
        "SELECT " NGX_SVC_ADMIN_ACCESS_VERSION_COLUMNS_BUT_SNAPSHOT ","
        " CASE WHEN row_number() OVER w = 1"
            " OR sum(octet_length(snapshot::text)) OVER w <= $4::int4"
        " THEN snapshot END, id = (SELECT access_version_id FROM svc.governance"
        " WHERE tenant_id = " NGX_SVC_TENANT ")"
        " FROM (SELECT * FROM svc.access_policy_version"
        " WHERE tenant_id = " NGX_SVC_TENANT
        " AND ($3::text IS NULL OR number < $3::text::bigint)"
        " ORDER BY number DESC LIMIT $1::int4 OFFSET $2::int4) p"
        " WINDOW w AS (ORDER BY number DESC) ORDER BY number DESC",
    .nparams = 4
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_access_versions_total = {
    .name = "admin_access_versions_total",
    .text =
        "SELECT count(*) FROM svc.access_policy_version"
        " WHERE tenant_id = " NGX_SVC_TENANT,
    .nparams = 0
};

ngx_svc_pg_statements_t  ngx_svc_admin_access_versions_statements[] = {
    &ngx_svc_sql_admin_access_versions,
    &ngx_svc_sql_admin_access_versions_total,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_access_versions[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/access-policy/versions"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_SLOW_POOL,
      .prepare = ngx_svc_admin_access_versions_prepare,
      .reply = ngx_svc_admin_access_versions_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_access_versions_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                  rc;
    ngx_svc_admin_versions_t  *versions;

    versions = ngx_pcalloc(sr->request->pool,
                           sizeof(ngx_svc_admin_versions_t));
    if (versions == NULL) {
        return NGX_ERROR;
    }

    sr->data = versions;

    rc = ngx_svc_page(sr, &versions->page);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_admin_versions_call(sr, versions->page.limit,
                                    versions->page.offset)
        != NGX_OK
        || ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_access_versions_total) == NULL)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_versions_call(ngx_svc_request_t *sr, int32_t limit,
    int32_t offset)
{
    ngx_svc_pg_call_t         *call;
    ngx_svc_admin_versions_t  *versions;

    versions = sr->data;

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_access_versions);

    if (call == NULL
        || ngx_svc_pg_bind_int(sr->op, call, limit) != NGX_OK
        || ngx_svc_pg_bind_int(sr->op, call, offset) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, versions->before.data ? &versions->before
                                                    : NULL);

    return ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_ADMIN_VERSIONS_PIECE);
}


static ngx_int_t
ngx_svc_admin_access_versions_reply(ngx_svc_request_t *sr)
{
    int        n;
    PGresult  *res;

    res = sr->results[0];
    n = PQntuples(res);

    if (ngx_svc_admin_versions_whole(res) < n) {
        return ngx_svc_admin_versions_open(sr);
    }

    return ngx_svc_page_send(sr, "versions",
                             ngx_svc_admin_versions_size(res, n), res,
                             sr->results[1], ngx_svc_admin_version_row);
}


/* How many come with their snapshot. */

static int
ngx_svc_admin_versions_whole(PGresult *res)
{
    int  i, n;

    n = PQntuples(res);

    for (i = 0; i < n; i++) {
        if (PQgetisnull(res, i, NGX_SVC_ADMIN_VERSION_SNAPSHOT)) {
            break;
        }
    }

    return i;
}


/* Of a row on the average: a writer that grows would copy snapshots again. */

static size_t
ngx_svc_admin_versions_size(PGresult *res, int n)
{
    int     i;
    size_t  size;

    size = 0;

    for (i = 0; i < n; i++) {
        size += PQgetlength(res, i, NGX_SVC_ADMIN_VERSION_SNAPSHOT);
    }

    return NGX_SVC_ADMIN_VERSION_SIZE + (n ? size / n + 1 : 0);
}


static void
ngx_svc_admin_version_row(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_admin_access_version_write(w, res, row, 0,
                           ngx_svc_column_true(res, row,
                                               NGX_SVC_ADMIN_VERSION_CURRENT));
    ngx_svc_json_close(w, '}');
}


static ngx_int_t
ngx_svc_admin_versions_open(ngx_svc_request_t *sr)
{
    ngx_int_t                  rc;
    ngx_str_t                  total;
    ngx_svc_admin_versions_t  *versions;

    versions = sr->data;

    total = ngx_svc_pg_value(sr->results[1], 0, 0);

    versions->total = ngx_atoof(total.data, total.len);
    versions->left = PQntuples(sr->results[0]);
    versions->stream.taken = ngx_svc_admin_versions_next;

    rc = ngx_svc_stream_open(&versions->stream, sr,
                             (ngx_str_t *) &sr->surface->content_type,
                             ngx_svc_admin_versions_failed);

    if (rc != NGX_OK || sr->request->header_only) {
        return rc;
    }

    return ngx_svc_admin_versions_piece(sr);
}


/* Versions that went meanwhile are none of the page any more. */

static ngx_int_t
ngx_svc_admin_versions_piece(ngx_svc_request_t *sr)
{
    int                        i, n;
    PGresult                  *res;
    ngx_str_t                  number;
    ngx_svc_json_writer_t      w;
    ngx_svc_admin_versions_t  *versions;

    versions = sr->data;
    res = sr->results[0];
    n = ngx_svc_admin_versions_whole(res);

    (void) ngx_svc_json_writer_init(&w, versions->stream.pool,
                          64 + (n + 1) * ngx_svc_admin_versions_size(res, n));

    if (versions->written == 0) {
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_json_open(&w, "versions", '[');
    }

    w.comma = versions->written > 0;

    for (i = 0; i < n; i++) {
        ngx_svc_admin_version_row(&w, res, i);
    }

    versions->written += n;
    versions->left = n ? versions->left - n : 0;

    if (versions->left <= 0) {
        ngx_svc_json_close(&w, ']');
        ngx_svc_json_integer(&w, "total", versions->total);
        ngx_svc_json_integer(&w, "limit", versions->page.limit);
        ngx_svc_json_integer(&w, "offset", versions->page.offset);
        ngx_svc_json_close(&w, '}');

    } else {
        number = ngx_svc_pg_value(res, n - 1, 1);

        versions->before.data = versions->before_text;
        versions->before.len = ngx_min(number.len, NGX_INT64_LEN);
        ngx_memcpy(versions->before_text, number.data, versions->before.len);
    }

    if (w.failed) {
        return NGX_ERROR;
    }

    return ngx_svc_stream_send(&versions->stream, w.start, w.last,
                               versions->left <= 0);
}


static ngx_int_t
ngx_svc_admin_versions_next(ngx_svc_request_t *sr)
{
    ngx_svc_admin_versions_t  *versions;

    versions = sr->data;

    return ngx_svc_stream_again(&versions->stream, NGX_SVC_PG_SLOW,
                                ngx_svc_admin_versions_more,
                                ngx_svc_admin_versions_piece);
}


static ngx_int_t
ngx_svc_admin_versions_more(ngx_svc_request_t *sr)
{
    ngx_svc_admin_versions_t  *versions;

    versions = sr->data;

    return ngx_svc_admin_versions_call(sr, versions->left, 0);
}


/* Closing without the last chunk tells the client that something is missing. */

static ngx_int_t
ngx_svc_admin_versions_failed(ngx_svc_request_t *sr)
{
    return NGX_ERROR;
}


void
ngx_svc_admin_access_version_write(ngx_svc_json_writer_t *w, PGresult *res,
    int row, int column, ngx_uint_t current)
{
    ngx_svc_column_text(w, "id", res, row, column);
    ngx_svc_column_raw(w, "version", res, row, column + 1);
    ngx_svc_json_boolean(w, "current", current);
    ngx_svc_column_text(w, "source", res, row, column + 2);
    ngx_svc_column_text(w, "restoredFrom", res, row, column + 3);
    ngx_svc_column_time(w, "createdAt", res, row, column + 4);

    ngx_svc_json_open(w, "createdBy", '{');
    ngx_svc_column_text(w, "type", res, row, column + 5);
    ngx_svc_column_text(w, "id", res, row, column + 6);
    ngx_svc_column_text(w, "name", res, row, column + 7);
    ngx_svc_json_close(w, '}');

    ngx_svc_column_raw(w, "snapshot", res, row,
                       column + NGX_SVC_ADMIN_VERSION_SNAPSHOT);
}
