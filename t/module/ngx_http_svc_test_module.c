/*
 * A location that makes fetches for tests:
 *
 *     location = /fetch { svc_test_fetch; }
 *
 * Its arguments, percent-encoded, are members of ngx_svc_fetch_t: url, tenant,
 * limit, timeout, post (a body), and header, in lines.  The answer's lines are
 * the outcome, the status, max_age, type, etag and why; the answer follows
 * after an empty one.  With the argument "ready" it tells what
 * ngx_svc_fetch_ready() returns.
 */

#include "ngx_svc_fetch.h"

#include <ngx_http.h>


static char *ngx_http_svc_test_fetch(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static ngx_int_t ngx_http_svc_test_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_svc_test_arguments(ngx_http_request_t *r,
    ngx_svc_fetch_t *fetch);
static ngx_str_t ngx_http_svc_test_argument(ngx_http_request_t *r,
    const char *name);
static void ngx_http_svc_test_cancel(void *data);
static void ngx_http_svc_test_done(ngx_svc_fetch_t *fetch);
static ngx_int_t ngx_http_svc_test_answer(ngx_http_request_t *r,
    ngx_svc_fetch_t *fetch);
static ngx_int_t ngx_http_svc_test_send(ngx_http_request_t *r,
    ngx_str_t *text);


static ngx_command_t  ngx_http_svc_test_commands[] = {

    { ngx_string("svc_test_fetch"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_svc_test_fetch,
      0,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_svc_test_module_ctx = {
    NULL,                                  /* preconfiguration */
    NULL,                                  /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    NULL,                                  /* create location configuration */
    NULL                                   /* merge location configuration */
};


ngx_module_t  ngx_http_svc_test_module = {
    NGX_MODULE_V1,
    &ngx_http_svc_test_module_ctx,         /* module context */
    ngx_http_svc_test_commands,            /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static char *
ngx_http_svc_test_fetch(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_svc_test_handler;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_svc_test_handler(ngx_http_request_t *r)
{
    ngx_str_t            text;
    ngx_svc_fetch_t     *fetch;
    ngx_pool_cleanup_t  *cln;

    if (ngx_http_svc_test_argument(r, "ready").len) {
        ngx_str_set(&text, "0");

        if (ngx_svc_fetch_ready()) {
            ngx_str_set(&text, "1");
        }

        return ngx_http_svc_test_send(r, &text);
    }

    fetch = ngx_pcalloc(r->pool, sizeof(ngx_svc_fetch_t));
    cln = ngx_pool_cleanup_add(r->pool, 0);

    if (fetch == NULL || cln == NULL
        || ngx_http_svc_test_arguments(r, fetch) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ngx_svc_fetch(fetch) != NGX_OK) {
        return ngx_http_svc_test_answer(r, fetch);
    }

    cln->handler = ngx_http_svc_test_cancel;
    cln->data = fetch;

    r->read_event_handler = ngx_http_test_reading;
    r->main->count++;

    return NGX_DONE;
}


static ngx_int_t
ngx_http_svc_test_arguments(ngx_http_request_t *r, ngx_svc_fetch_t *fetch)
{
    u_char     *p;
    ngx_str_t   lines, number;

    fetch->pool = r->pool;
    fetch->handler = ngx_http_svc_test_done;
    fetch->data = r;

    fetch->url = ngx_http_svc_test_argument(r, "url");
    fetch->tenant = ngx_http_svc_test_argument(r, "tenant");
    fetch->body = ngx_http_svc_test_argument(r, "post");
    fetch->post = fetch->body.len != 0;

    number = ngx_http_svc_test_argument(r, "limit");
    fetch->limit = number.len ? (size_t) ngx_atosz(number.data, number.len)
                              : 65536;

    number = ngx_http_svc_test_argument(r, "timeout");
    fetch->timeout = number.len
                     ? (ngx_msec_t) ngx_atoi(number.data, number.len)
                     : NGX_SVC_FETCH_TIMEOUT;

    lines = ngx_http_svc_test_argument(r, "header");

    while (lines.len && fetch->nheaders < NGX_SVC_FETCH_HEADERS) {
        p = ngx_strlchr(lines.data, lines.data + lines.len, '\n');

        if (p == NULL) {
            p = lines.data + lines.len;
        }

        fetch->headers[fetch->nheaders].data = lines.data;
        fetch->headers[fetch->nheaders++].len = p - lines.data;

        lines.len -= ngx_min((size_t) (p + 1 - lines.data), lines.len);
        lines.data = p + 1;
    }

    return NGX_OK;
}


static ngx_str_t
ngx_http_svc_test_argument(ngx_http_request_t *r, const char *name)
{
    u_char     *dst, *src;
    ngx_str_t   value;

    if (ngx_http_arg(r, (u_char *) name, ngx_strlen(name), &value) != NGX_OK) {
        ngx_str_null(&value);
        return value;
    }

    src = value.data;
    dst = ngx_pnalloc(r->pool, value.len + 1);

    if (dst == NULL) {
        ngx_str_null(&value);
        return value;
    }

    value.data = dst;
    ngx_unescape_uri(&dst, &src, value.len, 0);
    value.len = dst - value.data;

    return value;
}


static void
ngx_http_svc_test_cancel(void *data)
{
    ngx_svc_fetch_cancel(data);
}


static void
ngx_http_svc_test_done(ngx_svc_fetch_t *fetch)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = fetch->data;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_http_svc_test_answer(r, fetch));
    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_http_svc_test_answer(ngx_http_request_t *r, ngx_svc_fetch_t *fetch)
{
    size_t      len;
    ngx_str_t   text;

    static const char *const  outcomes[] = {
        "answered", "failed", "late", "unavailable"
    };

    len = 64 + 2 * NGX_INT64_LEN + fetch->type.len + fetch->etag.len
          + fetch->why.len + fetch->answer.len;

    text.data = ngx_pnalloc(r->pool, len);
    if (text.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    text.len = ngx_snprintf(text.data, len, "%s\n%ui\n%T\n%V\n%V\n%V\n\n%V",
                            outcomes[fetch->outcome], fetch->status,
                            fetch->max_age, &fetch->type, &fetch->etag,
                            &fetch->why, &fetch->answer)
               - text.data;

    return ngx_http_svc_test_send(r, &text);
}


static ngx_int_t
ngx_http_svc_test_send(ngx_http_request_t *r, ngx_str_t *text)
{
    ngx_str_t                 type = ngx_string("text/plain");
    ngx_http_complex_value_t  value;

    ngx_memzero(&value, sizeof(ngx_http_complex_value_t));
    value.value = *text;

    return ngx_http_send_response(r, NGX_HTTP_OK, &type, &value);
}
