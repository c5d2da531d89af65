/*
 * Long answers, in pieces.
 */

#include "ngx_svc_stream.h"
#include "ngx_svc_submit.h"


#define NGX_SVC_STREAM_POOL  1024       /* bytes: there is room for an op */


static void ngx_svc_stream_cleanup(void *data);
static ngx_uint_t ngx_svc_stream_pending(ngx_http_request_t *r);
static ngx_int_t ngx_svc_stream_wait(ngx_svc_stream_t *st);
static void ngx_svc_stream_write(ngx_http_request_t *r);


ngx_int_t
ngx_svc_stream_open(ngx_svc_stream_t *st, ngx_svc_request_t *sr,
    ngx_str_t *type, ngx_int_t (*failed)(ngx_svc_request_t *sr))
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;
    ngx_pool_cleanup_t  *cln;

    r = sr->request;

    /*
     * The pieces end with the request's pool, not with the request: HTTP/2
     * keeps what it has queued for a while after a request was terminated.
     */

    cln = ngx_pool_cleanup_add(r->pool, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    st->sr = sr;
    st->pool = ngx_create_pool(NGX_SVC_STREAM_POOL, r->connection->log);
    if (st->pool == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_stream_cleanup;
    cln->data = st;

    sr->answered = 1;
    sr->stream = st;

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_type = *type;
    r->headers_out.content_type_len = type->len;
    r->headers_out.content_type_lowcase = NULL;
    ngx_http_clear_content_length(r);

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK) {
        return NGX_ERROR;
    }

    sr->failed = failed;

    return NGX_OK;
}


static void
ngx_svc_stream_cleanup(void *data)
{
    ngx_svc_stream_t  *st = data;

    ngx_destroy_pool(st->pool);
}


ngx_int_t
ngx_svc_stream_send(ngx_svc_stream_t *st, u_char *start, u_char *last,
    ngx_uint_t end)
{
    ngx_int_t            rc;
    ngx_buf_t           *b;
    ngx_chain_t          out;
    ngx_http_request_t  *r;

    r = st->sr->request;
    b = &st->buf;

    ngx_memzero(b, sizeof(ngx_buf_t));

    b->start = start;
    b->pos = start;
    b->last = last;
    b->end = last;
    b->memory = last > start;
    b->flush = !end;
    b->last_buf = end && r == r->main;
    b->last_in_chain = end;
    b->sync = end && last == start && r != r->main;

    out.buf = b;
    out.next = NULL;

    rc = ngx_http_output_filter(r, &out);

    if (rc == NGX_ERROR || end) {
        return rc;
    }

    if (ngx_svc_stream_pending(r)) {
        st->sending = 1;

        if (ngx_svc_stream_wait(st) != NGX_OK) {
            return NGX_ERROR;
        }

        return ngx_svc_stream_hold(st);
    }

    return st->taken(st->sr);
}


/* Returns whether a part is not sent yet, as ngx_http_writer() does. */

static ngx_uint_t
ngx_svc_stream_pending(ngx_http_request_t *r)
{
    return r->buffered || r->postponed || r->out || r->connection->buffered;
}


static ngx_int_t
ngx_svc_stream_wait(ngx_svc_stream_t *st)
{
    ngx_event_t               *wev;
    ngx_http_request_t        *r;
    ngx_http_core_loc_conf_t  *clcf;

    r = st->sr->request;
    wev = r->connection->write;

    clcf = ngx_http_get_module_loc_conf(r->main, ngx_http_core_module);

    r->write_event_handler = ngx_svc_stream_write;

    if (!wev->delayed) {
        ngx_add_timer(wev, clcf->send_timeout);
    }

    return ngx_handle_write_event(wev, clcf->send_lowat);
}


static void
ngx_svc_stream_write(ngx_http_request_t *r)
{
    ngx_event_t        *wev;
    ngx_connection_t   *c;
    ngx_svc_stream_t   *st;
    ngx_svc_request_t  *sr;

    c = r->connection;
    wev = c->write;

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);
    st = sr->stream;

    if (wev->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT,
                      "client timed out");
        c->timedout = 1;

        ngx_http_finalize_request(r, NGX_HTTP_REQUEST_TIME_OUT);
        return;
    }

    /* a delayed event is limit_rate's pause, and so is its timer */

    if (!wev->delayed && ngx_http_output_filter(r, NULL) == NGX_ERROR) {
        ngx_http_finalize_request(r, NGX_ERROR);
        return;
    }

    if (wev->delayed || ngx_svc_stream_pending(r)) {

        if (ngx_svc_stream_wait(st) != NGX_OK) {
            ngx_http_finalize_request(r, NGX_ERROR);
        }

        return;
    }

    if (wev->timer_set) {
        ngx_del_timer(wev);
    }

    r->write_event_handler = ngx_http_request_empty_handler;
    st->sending = 0;

    ngx_http_finalize_request(r, st->taken(sr));
}


ngx_int_t
ngx_svc_stream_again(ngx_svc_stream_t *st, ngx_svc_pg_pool_e kind,
    ngx_int_t (*prepare)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    ngx_int_t  rc;

    ngx_reset_pool(st->pool);
    st->sr->op->pool = st->pool;

    rc = ngx_svc_request_again(st->sr, kind, prepare, reply);

    /* it is too late for an error's answer: the header has been sent */

    return (rc >= NGX_HTTP_SPECIAL_RESPONSE) ? NGX_ERROR : rc;
}


ngx_int_t
ngx_svc_stream_hold(ngx_svc_stream_t *st)
{
    st->sr->request->main->count++;

    return NGX_DONE;
}


void
ngx_svc_stream_finalize(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);
    ngx_http_finalize_request(r, rc);
    ngx_http_run_posted_requests(c);
}
