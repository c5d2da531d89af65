/*
 * /v1/admin/access-policy/versions.
 *
 * Fifty policies may be 50M: an answer larger than a piece is sent in pieces,
 * and the next piece is read when the client has taken the one before.
 */

#include "ngx_svc_admin_access.h"


#define NGX_SVC_ADMIN_VERSIONS_PIECE  262144    /* bytes of snapshots */


/* sr->data; parameters of the page look for it there. */

typedef struct {
    ngx_svc_page_t    page;         /* first; in pieces: the rest of it */
    ngx_svc_page_t    asked;
    ngx_svc_stream_t  stream;
    int64_t           total;
    ngx_uint_t        written;
    ngx_str_t         before;       /* the number of the last version sent;
                                       no data: none has been */
    u_char            before_text[NGX_INT64_LEN];
} ngx_svc_admin_versions_t;


static ngx_int_t ngx_svc_admin_versions_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_versions_reply(ngx_svc_request_t *sr);
static int ngx_svc_admin_versions_whole(PGresult *res);
static ngx_int_t ngx_svc_admin_versions_open(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_piece(ngx_svc_request_t *sr);
static void ngx_svc_admin_versions_end(ngx_svc_json_writer_t *w,
    ngx_svc_admin_versions_t *versions);
static ngx_int_t ngx_svc_admin_versions_next(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_more(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_versions_failed(ngx_svc_request_t *sr);


#include "ngx_svc_admin_access_versions.sql.h"


const ngx_svc_route_t  ngx_svc_admin_access_versions[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/access-policy/versions"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_SLOW_POOL,
      .check = ngx_svc_admin_versions_check,
      .statements = { &ngx_svc_sql_admin_access_versions_total,
                      &ngx_svc_sql_admin_access_versions },
      .list = "versions",
      .total = &ngx_svc_sql_admin_access_versions_total,
      .reply = ngx_svc_admin_versions_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/access-policy/versions/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_access_version_get } },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_versions_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_page_t            *page;
    ngx_svc_admin_versions_t  *versions;

    versions = ngx_pcalloc(sr->request->pool,
                           sizeof(ngx_svc_admin_versions_t));
    if (versions == NULL) {
        return NGX_ERROR;
    }

    page = sr->data;

    versions->page = *page;
    versions->asked = *page;

    sr->data = versions;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_versions_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_access_versions);

    return ngx_svc_admin_versions_whole(res) == PQntuples(res)
           ? ngx_svc_route_answer(sr) : ngx_svc_admin_versions_open(sr);
}


/* Returns how many of the versions come with their snapshot. */

static int
ngx_svc_admin_versions_whole(PGresult *res)
{
    int                                  i, n;
    ngx_svc_row_admin_access_versions_t  row;

    n = PQntuples(res);

    for (i = 0; i < n; i++) {
        ngx_svc_row_admin_access_versions(&row, res, i);

        if (row.snapshot.data == NULL) {
            break;
        }
    }

    return i;
}


static ngx_int_t
ngx_svc_admin_versions_open(ngx_svc_request_t *sr)
{
    PGresult                                   *res;
    ngx_int_t                                   rc;
    ngx_svc_admin_versions_t                   *versions;
    ngx_svc_row_admin_access_versions_total_t   total;

    versions = sr->data;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_access_versions_total);
    ngx_svc_row_admin_access_versions_total(&total, res, 0);
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_access_versions);

    versions->total = total.count;
    versions->page.limit = PQntuples(res);
    versions->page.offset = 0;
    versions->stream.taken = ngx_svc_admin_versions_next;

    rc = ngx_svc_stream_open(&versions->stream, sr,
                             (ngx_str_t *) &sr->surface->content_type,
                             ngx_svc_admin_versions_failed);

    if (rc != NGX_OK || sr->request->header_only) {
        return rc;
    }

    return ngx_svc_admin_versions_piece(sr);
}


/*
 * Sends the versions of the first round trip, behind the total, or of a later
 * one.  Versions that were deleted meanwhile are not in the page any more.
 */

static ngx_int_t
ngx_svc_admin_versions_piece(ngx_svc_request_t *sr)
{
    int                                   i, n;
    size_t                                size;
    PGresult                             *res;
    ngx_svc_row_t                         columns;
    ngx_svc_json_writer_t                 w;
    ngx_svc_admin_versions_t             *versions;
    ngx_svc_row_admin_access_versions_t   row;

    versions = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_access_versions);
    n = ngx_svc_admin_versions_whole(res);
    size = 256;

    ngx_svc_row_init(&columns, res);

    for (i = 0; i < n; i++) {
        size += ngx_svc_row_size(&columns, i);
    }

    (void) ngx_svc_json_writer_init(&w, versions->stream.pool, size);

    if (versions->written == 0) {
        ngx_svc_json_open(&w, NULL, '{');
        ngx_svc_json_open(&w, "versions", '[');
    }

    w.comma = versions->written > 0;

    for (i = 0; i < n; i++) {
        ngx_svc_row_object(&w, &columns, i);
    }

    versions->written += n;
    versions->page.limit = n ? versions->page.limit - n : 0;

    if (versions->page.limit <= 0) {
        ngx_svc_admin_versions_end(&w, versions);

    } else {
        ngx_svc_row_admin_access_versions(&row, res, n - 1);

        ngx_svc_row_copy(&versions->before, versions->before_text,
                         NGX_INT64_LEN, &row.version);
    }

    if (w.failed) {
        return NGX_ERROR;
    }

    return ngx_svc_stream_send(&versions->stream, w.start, w.last,
                               versions->page.limit <= 0);
}


static void
ngx_svc_admin_versions_end(ngx_svc_json_writer_t *w,
    ngx_svc_admin_versions_t *versions)
{
    ngx_svc_json_close(w, ']');
    ngx_svc_json_integer(w, "total", versions->total);
    ngx_svc_json_integer(w, "limit", versions->asked.limit);
    ngx_svc_json_integer(w, "offset", versions->asked.offset);
    ngx_svc_json_close(w, '}');
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
    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_access_versions, NULL);
}


/*
 * Closing without the last chunk tells the client that the list is incomplete.
 */

static ngx_int_t
ngx_svc_admin_versions_failed(ngx_svc_request_t *sr)
{
    return NGX_ERROR;
}
