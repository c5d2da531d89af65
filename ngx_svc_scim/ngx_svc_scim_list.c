/*
 * GET /Users: filter, count, and the attributes that an answer has.
 */

#include "ngx_svc_scim.h"


static ngx_int_t ngx_svc_scim_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_list_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_count(ngx_svc_request_t *sr, ngx_int_t *count);
static ngx_int_t ngx_svc_scim_filter(ngx_svc_request_t *sr,
    ngx_svc_scim_filter_t *filter);


#include "ngx_svc_scim_list.sql.h"


/* The prepare hook chooses one of the statements, or none. */

const ngx_svc_route_t  ngx_svc_scim_list[] = {

    { .method = NGX_HTTP_GET,
      .path = NGX_SVC_SCIM_USERS,
      .permission = NGX_SVC_P_SCIM,
      .statements = { &ngx_svc_sql_scim_list,
                      &ngx_svc_sql_scim_by_user_name,
                      &ngx_svc_sql_scim_by_external_id },
      .prepare = ngx_svc_scim_list_prepare,
      .reply = ngx_svc_scim_list_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_scim_list_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t               rc, count;
    ngx_svc_pg_call_t      *call;
    ngx_svc_scim_filter_t   filter;

    count = 0;
    rc = ngx_svc_scim_mask(sr, NULL);

    if (rc == NGX_OK) {
        rc = ngx_svc_scim_count(sr, &count);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_scim_filter(sr, &filter);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (count == 0) {
        return NGX_OK;
    }

    switch (filter.attribute) {

    case NGX_SVC_SCIM_FILTER_USER_NAME:
        call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_scim_by_user_name);
        break;

    case NGX_SVC_SCIM_FILTER_EXTERNAL_ID:
        call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_scim_by_external_id);
        break;

    default:
        call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_scim_list);
        if (call == NULL) {
            return NGX_ERROR;
        }

        return ngx_svc_pg_bind_int(sr->op, call, (int32_t) count);
    }

    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &filter.value);

    return NGX_OK;
}


/* A count over 200, with however many digits, is 200; below 0 it is 0. */

static ngx_int_t
ngx_svc_scim_count(ngx_svc_request_t *sr, ngx_int_t *count)
{
    u_char      *p, *end;
    ngx_int_t    rc;
    ngx_str_t    value;
    ngx_uint_t   negative;

    *count = NGX_SVC_SCIM_LIST_MAX;

    rc = ngx_svc_argument(sr, "count", &value);
    if (rc != NGX_OK || value.data == NULL) {
        return rc;
    }

    p = value.data;
    end = p + value.len;

    negative = p < end && *p == '-';
    p += negative;

    if (p == end) {
        goto invalid;
    }

    for (*count = 0; p < end; p++) {
        if (*p < '0' || *p > '9') {
            goto invalid;
        }

        *count = ngx_min(*count * 10 + (*p - '0'), NGX_SVC_SCIM_LIST_MAX);
    }

    if (negative) {
        *count = 0;
    }

    return NGX_OK;

invalid:

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "\"count\" must be an integer.");
}


/* Returns NGX_OK also for no filter, or one that is not recognised. */

static ngx_int_t
ngx_svc_scim_filter(ngx_svc_request_t *sr, ngx_svc_scim_filter_t *filter)
{
    u_char     *buf;
    ngx_int_t   rc;
    ngx_str_t   text;

    filter->attribute = NGX_SVC_SCIM_FILTER_NONE;

    rc = ngx_svc_argument(sr, "filter", &text);

    if (rc == NGX_DECLINED) {
        sr->error.kind = NGX_SVC_E_INVALID_FILTER;
    }

    if (rc != NGX_OK || text.data == NULL) {
        return rc;
    }

    buf = ngx_pnalloc(sr->request->pool, text.len + 1);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_svc_scim_filter_parse(text.data, text.len, buf, filter);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_list_reply(ngx_svc_request_t *sr)
{
    int        n;
    PGresult  *res;

    /* there is no result when no user is wanted */

    res = ngx_svc_route_final(sr);
    n = PQntuples(res);

    return ngx_svc_scim_list_send(sr, res, n, n, 1, (uintptr_t) sr->data);
}


ngx_int_t
ngx_svc_scim_list_send(ngx_svc_request_t *sr, PGresult *res, int n,
    int64_t total, int64_t start, ngx_uint_t mask)
{
    int                      i;
    ngx_svc_json_writer_t    w;
    ngx_svc_row_scim_user_t  user;

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 256 + n * NGX_SVC_SCIM_USER_SIZE)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_scim_list_open(&w, total, start, n);

    for (i = 0; i < n; i++) {
        ngx_svc_row_scim_user(&user, res, i, 0);
        ngx_svc_scim_user_write(&w, sr, &user, mask);
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


void
ngx_svc_scim_list_open(ngx_svc_json_writer_t *w, int64_t total, int64_t start,
    int64_t n)
{
    static const u_char  schemas[] =
        "[\"urn:ietf:params:scim:api:messages:2.0:ListResponse\"]";

    ngx_svc_json_open(w, NULL, '{');

    ngx_svc_json_raw(w, "schemas", schemas, sizeof(schemas) - 1);
    ngx_svc_json_integer(w, "totalResults", total);
    ngx_svc_json_integer(w, "startIndex", start);
    ngx_svc_json_integer(w, "itemsPerPage", n);

    ngx_svc_json_open(w, "Resources", '[');
}


ngx_int_t
ngx_svc_scim_mask(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t   rc;
    ngx_str_t   attributes, excluded;
    ngx_uint_t  mask;

    mask = NGX_SVC_SCIM_SHOWN;

    if (sr->request->args.len) {
        rc = ngx_svc_argument(sr, "attributes", &attributes);

        if (rc == NGX_OK) {
            rc = ngx_svc_argument(sr, "excludedAttributes", &excluded);
        }

        if (rc != NGX_OK) {
            return rc;
        }

        mask = ngx_svc_scim_projection(attributes.data ? &attributes : NULL,
                                       excluded.data ? &excluded : NULL);
    }

    sr->data = (void *) (uintptr_t) mask;

    return NGX_OK;
}
