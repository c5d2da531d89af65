/*
 * Runs routes that are nothing but data.
 */

#include "ngx_svc_route.h"
#include "ngx_svc_etag.h"
#include "ngx_svc_header.h"
#include "ngx_svc_page.h"
#include "ngx_svc_row.h"
#include "ngx_svc_send.h"


#define NGX_SVC_ROUTE_ROW  512      /* bytes of a row's JSON, first guess */


static ngx_int_t ngx_svc_route_checked(ngx_svc_request_t *sr,
    ngx_int_t (*reply)(ngx_svc_request_t *sr));
static ngx_int_t ngx_svc_route_check(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *s, PGresult *res);
static ngx_int_t ngx_svc_route_verdict(ngx_svc_request_t *sr,
    const ngx_svc_verdict_t *verdict, ngx_str_t *text);
static ngx_int_t ngx_svc_route_send(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w, const ngx_svc_row_t *columns);
static ngx_int_t ngx_svc_route_list(ngx_svc_request_t *sr, PGresult *res,
    PGresult *total);


/*
 * The values of the body are on the stack, so a bind function must not bind the
 * values' own memory.
 */

ngx_int_t
ngx_svc_route_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                      rc;
    ngx_uint_t                     i;
    ngx_svc_value_t                body[NGX_SVC_BODY_VALUES];
    const ngx_svc_route_t         *route;
    const ngx_svc_pg_statement_t  *s;

    route = sr->route;

    if (route->list) {
        rc = ngx_svc_page_create(sr);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    ngx_memzero(body, route->body_size);

    if (route->members) {
        rc = ngx_svc_schema_object(route->members,
                                   route->flags & NGX_SVC_ROUTE_STRICT
                                   ? NGX_SVC_S_STRICT|NGX_SVC_S_READ_BACK : 0,
                                   sr->json, body, &sr->error);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (route->check) {
        rc = route->check(sr, body);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    for (i = 0; route->statements[i]; i++) {
        s = route->statements[i];

        if (s->when && !s->when(body)) {
            continue;
        }

        rc = ngx_svc_route_call(sr, s, body);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (route->committed) {
        sr->op->committed = route->committed;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_route_call(ngx_svc_request_t *sr, const ngx_svc_pg_statement_t *s,
    void *body)
{
    ngx_int_t           rc;
    ngx_uint_t          i;
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(sr->op, s);
    if (call == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < s->nparams; i++) {
        rc = s->params[i].bind(sr, call, &s->params[i], body);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_route_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_route_checked(sr, ngx_svc_route_answer);
}


ngx_int_t
ngx_svc_route_results(ngx_svc_request_t *sr)
{
    return ngx_svc_route_checked(sr, sr->route->reply);
}


static ngx_int_t
ngx_svc_route_checked(ngx_svc_request_t *sr,
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    ngx_int_t               rc;
    PGresult               *res;
    ngx_uint_t              i;
    const ngx_svc_route_t  *route;

    route = sr->route;

    for (i = 0; route->statements[i]; i++) {
        res = ngx_svc_result(sr, route->statements[i]);

        /* a statement without a result was left out */

        rc = res ? ngx_svc_route_check(sr, route->statements[i], res) : NGX_OK;

        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? ngx_svc_send_error(sr)
                                      : NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return reply(sr);
}


PGresult *
ngx_svc_route_final(ngx_svc_request_t *sr)
{
    PGresult    *res, *last;
    ngx_uint_t   i;

    last = NULL;

    for (i = 0; sr->route->statements[i]; i++) {
        res = ngx_svc_result(sr, sr->route->statements[i]);
        last = res ? res : last;
    }

    return last;
}


ngx_int_t
ngx_svc_route_answer(ngx_svc_request_t *sr)
{
    PGresult               *res, *total;
    const ngx_svc_route_t  *route;

    route = sr->route;
    res = ngx_svc_route_final(sr);
    total = ngx_svc_result(sr, route->total);

    if (route->status == NGX_HTTP_NO_CONTENT) {
        return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
    }

    return route->list ? ngx_svc_route_list(sr, res, total ? total : res)
                       : ngx_svc_route_row(sr, res);
}


/*
 * Returns NGX_OK; NGX_DECLINED with sr->error set; or NGX_ERROR for a verdict
 * that neither the table nor the surface knows.
 */

static ngx_int_t
ngx_svc_route_check(ngx_svc_request_t *sr, const ngx_svc_pg_statement_t *s,
    PGresult *res)
{
    ngx_str_t                 text;
    const ngx_svc_verdict_t  *v;

    if (PQntuples(res) == 0) {
        return s->missing ? ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                                         s->missing)
                          : NGX_OK;
    }

    if (s->verdicts == NULL || PQgetisnull(res, 0, s->verdict)) {
        return NGX_OK;
    }

    text = ngx_svc_pg_value(res, 0, s->verdict);

    for (v = s->verdicts; v->name; v++) {
        if (ngx_svc_route_verdict(sr, v, &text) != NGX_OK) {
            return NGX_DECLINED;
        }
    }

    return ngx_svc_constraint(sr, (char *) text.data) == NGX_OK ? NGX_DECLINED
                                                                : NGX_ERROR;
}


/*
 * Returns NGX_OK when the text is another verdict, or NGX_DECLINED with
 * sr->error set.
 */

static ngx_int_t
ngx_svc_route_verdict(ngx_svc_request_t *sr, const ngx_svc_verdict_t *verdict,
    ngx_str_t *text)
{
    size_t     len;
    ngx_str_t  value;

    len = ngx_strlen(verdict->name);

    if (text->len < len || ngx_strncmp(text->data, verdict->name, len) != 0) {
        return NGX_OK;
    }

    ngx_str_null(&value);

    if (text->len > len) {

        if (text->data[len] != ' ') {
            return NGX_OK;
        }

        value.data = text->data + len + 1;
        value.len = text->len - len - 1;
    }

    return ngx_svc_fail(&sr->error, verdict->kind, verdict->detail, &value);
}


ngx_int_t
ngx_svc_route_row(ngx_svc_request_t *sr, PGresult *res)
{
    ngx_svc_row_t           columns;
    const ngx_svc_route_t  *route;
    ngx_svc_json_writer_t   w;

    route = sr->route;

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_row_init(&columns, res);

    if (ngx_svc_json_writer_init(&w, sr->request->pool,
                                 NGX_SVC_ROUTE_ROW
                                 + ngx_svc_row_size(&columns, 0))
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    if (route->object) {
        ngx_svc_json_open(&w, route->object, '{');
    }

    ngx_svc_row_write(&w, &columns, 0);

    if (route->object) {
        ngx_svc_json_close(&w, '}');
    }

    if (route->more) {
        route->more(&w, sr);
    }

    ngx_svc_json_close(&w, '}');

    return ngx_svc_route_send(sr, &w, &columns);
}


/* Sends the answer with its ETag, and the status that the columns ask for. */

static ngx_int_t
ngx_svc_route_send(ngx_svc_request_t *sr, ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns)
{
    ngx_uint_t  status;

    if (columns->version != -1
        && ngx_svc_etag(sr, columns->res, 0, columns->version) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (columns->edition) {
        sr->request->disable_not_modified = 1;
    }

    status = sr->route->status ? sr->route->status : NGX_HTTP_OK;

    if (columns->created != -1
        && ngx_svc_pg_true(columns->res, 0, columns->created))
    {
        status = NGX_HTTP_CREATED;
    }

    return ngx_svc_send(sr, status, w, NULL);
}


/*
 * The total is the first column of "total".  Where that is the list itself, an
 * empty page is a row whose members are all NULL.
 */

static ngx_int_t
ngx_svc_route_list(ngx_svc_request_t *sr, PGresult *res, PGresult *total)
{
    int                     i, n;
    ngx_svc_row_t           columns;
    const ngx_svc_route_t  *route;
    ngx_svc_json_writer_t   w;

    route = sr->route;
    n = PQntuples(res);

    if (PQntuples(total) == 0
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    (n + 1) * NGX_SVC_ROUTE_ROW)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_row_init(&columns, res);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, route->list, '[');

    for (i = 0; i < n; i++) {

        if (total == res && PQgetisnull(res, i, columns.first)) {
            continue;
        }

        ngx_svc_row_object(&w, &columns, i);
    }

    ngx_svc_json_close(&w, ']');

    if (route->more) {
        route->more(&w, sr);
    }

    ngx_svc_page_write(&w, total, sr->data);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
