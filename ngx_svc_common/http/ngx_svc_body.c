/*
 * Request bodies are read into memory, of a bounded size, in a bounded time.
 *
 * nginx would write a body over client_body_buffer_size to a file, and has a
 * timeout between two reads only; so the body is read unbuffered, piece by
 * piece.
 *
 * Another module, such as mirror, may have made nginx read the body before.
 * Then all of it is there, in memory or in a file, and the other module still
 * uses its buffers.
 */

#include "ngx_svc_body.h"
#include "ngx_svc_envelope.h"
#include "ngx_svc_send.h"


#define NGX_SVC_BODY_CHUNK  4096


static void ngx_svc_body_handler(ngx_http_request_t *r);
static void ngx_svc_body_event(ngx_http_request_t *r);
static size_t ngx_svc_body_max(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_body_large(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_body_append(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_body_copy(ngx_svc_request_t *sr, ngx_buf_t *b,
    size_t size);
static ngx_int_t ngx_svc_body_reserve(ngx_svc_request_t *sr, size_t size);
static void ngx_svc_body_timeout(ngx_event_t *ev);
static void ngx_svc_body_stop(ngx_svc_request_t *sr);
static void ngx_svc_body_end(ngx_svc_request_t *sr);
static void ngx_svc_body_abort(ngx_svc_request_t *sr, ngx_int_t rc);


ngx_int_t
ngx_svc_body_read(ngx_svc_request_t *sr, void (*run)(ngx_svc_request_t *sr))
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = sr->request;
    sr->run = run;

    if (r->headers_in.content_length_n > (off_t) ngx_svc_body_max(sr)) {
        (void) ngx_svc_body_large(sr);

        rc = ngx_http_discard_request_body(r);
        if (rc != NGX_OK) {
            return rc;
        }

        r->main->count++;
        sr->run(sr);
        return NGX_DONE;
    }

    sr->shared_body = r->request_body != NULL;
    r->request_body_no_buffering = 1;

    rc = ngx_http_read_client_request_body(r, ngx_svc_body_handler);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    return NGX_DONE;
}


/* nginx calls this once, with what has come of the body so far. */

static void
ngx_svc_body_handler(ngx_http_request_t *r)
{
    ngx_buf_t           *b;
    ngx_chain_t         *cl;
    ngx_svc_loc_conf_t  *slcf;
    ngx_svc_request_t   *sr;

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);

    /* a subrequest without a body */

    if (r->request_body == NULL) {
        ngx_svc_body_end(sr);
        return;
    }

    cl = r->request_body->bufs;

    if (!r->reading_body && cl && cl->next == NULL
        && ngx_buf_in_memory(cl->buf))
    {
        /* the usual case: all of it came with the header, and stays there */

        b = cl->buf;
        sr->body.data = b->pos;
        sr->body.len = b->last - b->pos;

        ngx_svc_body_end(sr);
        return;
    }

    if (r->reading_body) {
        slcf = ngx_http_get_module_loc_conf(r, ngx_http_svc_common_module);

        sr->timer.handler = ngx_svc_body_timeout;
        sr->timer.data = sr;
        sr->timer.log = r->connection->log;

        ngx_add_timer(&sr->timer, slcf->body_timeout);

        r->read_event_handler = ngx_svc_body_event;
    }

    ngx_svc_body_event(r);
}


static void
ngx_svc_body_event(ngx_http_request_t *r)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = ngx_http_get_module_ctx(r, ngx_http_svc_common_module);

    for ( ;; ) {
        rc = ngx_svc_body_append(sr);

        if (rc == NGX_ERROR) {
            ngx_svc_body_abort(sr, NGX_HTTP_INTERNAL_SERVER_ERROR);
            return;
        }

        if (rc == NGX_DECLINED || !r->reading_body) {
            ngx_svc_body_end(sr);
            return;
        }

        rc = ngx_http_read_unbuffered_request_body(r);

        if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
            ngx_svc_body_abort(sr, rc);
            return;
        }

        if (rc == NGX_AGAIN && r->request_body->bufs == NULL) {
            return;
        }
    }
}


static size_t
ngx_svc_body_max(ngx_svc_request_t *sr)
{
    return (sr->route->flags & NGX_SVC_ROUTE_RAW) ? NGX_SVC_RAW_MAX
           : (sr->route->flags & NGX_SVC_ROUTE_FORM) ? NGX_SVC_FORM_BODY_MAX
           : (sr->route->flags & NGX_SVC_ROUTE_SMALL) ? NGX_SVC_SMALL_MAX
                                                      : NGX_SVC_BODY_MAX;
}


static ngx_int_t
ngx_svc_body_large(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_PAYLOAD_TOO_LARGE,
                        "The request body is larger than %uz bytes.",
                        ngx_svc_body_max(sr));
}


/*
 * Returns NGX_OK; NGX_DECLINED when the body is larger than the limit; or
 * NGX_ERROR.
 */

static ngx_int_t
ngx_svc_body_append(ngx_svc_request_t *sr)
{
    off_t                size;
    ngx_buf_t           *b;
    ngx_chain_t         *cl;
    ngx_http_request_t  *r;

    r = sr->request;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {
        b = cl->buf;
        size = ngx_buf_size(b);

        if ((off_t) sr->body.len + size > (off_t) ngx_svc_body_max(sr)) {
            return ngx_svc_body_large(sr);
        }

        if (size && ngx_svc_body_copy(sr, b, (size_t) size) != NGX_OK) {
            return NGX_ERROR;
        }

        if (!sr->shared_body) {

            /* gives the buffer back to the reader */

            b->pos = b->last;
        }
    }

    if (!sr->shared_body) {
        r->request_body->bufs = NULL;
    }

    return NGX_OK;
}


/*
 * Reading the file does not wait for a disk: nginx has just written it, so its
 * pages are in memory.
 */

static ngx_int_t
ngx_svc_body_copy(ngx_svc_request_t *sr, ngx_buf_t *b, size_t size)
{
    u_char  *p;

    if (ngx_svc_body_reserve(sr, size) != NGX_OK) {
        return NGX_ERROR;
    }

    p = sr->body.data + sr->body.len;

    if (ngx_buf_in_memory(b)) {
        ngx_memcpy(p, b->pos, size);

    } else if (ngx_read_file(b->file, p, size, b->file_pos) != (ssize_t) size) {
        return NGX_ERROR;
    }

    sr->body.len += size;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_body_reserve(ngx_svc_request_t *sr, size_t size)
{
    off_t    length;
    size_t   want;
    u_char  *p;

    if (sr->body.len + size <= sr->body_size) {
        return NGX_OK;
    }

    length = sr->request->headers_in.content_length_n;

    want = ngx_max(sr->body_size * 2, NGX_SVC_BODY_CHUNK);
    want = ngx_max(want, sr->body.len + size);

    if (length >= (off_t) want) {
        want = (size_t) length;
    }

    p = ngx_pnalloc(sr->request->pool, want);
    if (p == NULL) {
        return NGX_ERROR;
    }

    if (sr->body.len) {
        ngx_memcpy(p, sr->body.data, sr->body.len);

        /* a large block is freed at once */

        (void) ngx_pfree(sr->request->pool, sr->body.data);
    }

    sr->body.data = p;
    sr->body_size = want;

    return NGX_OK;
}


static void
ngx_svc_body_timeout(ngx_event_t *ev)
{
    ngx_connection_t    *c;
    ngx_svc_request_t   *sr;
    ngx_http_request_t  *r;

    sr = ev->data;
    r = sr->request;
    c = r->connection;

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_REQUEST_TIMEOUT,
                        "The request body did not arrive in time: %uz bytes "
                        "came.", sr->body.len);

    ngx_svc_body_abort(sr, NGX_OK);

    ngx_http_run_posted_requests(c);
}


static void
ngx_svc_body_stop(ngx_svc_request_t *sr)
{
    ngx_http_request_t  *r;

    r = sr->request;

    if (sr->timer.timer_set) {
        ngx_del_timer(&sr->timer);
    }

    if (r->connection->read->timer_set) {
        ngx_del_timer(r->connection->read);
    }

    r->read_event_handler = ngx_http_block_reading;
}


static void
ngx_svc_body_end(ngx_svc_request_t *sr)
{
    ngx_svc_body_stop(sr);
    sr->run(sr);
}


/* rc: what nginx's reader returned, or NGX_OK when sr->error is to be sent. */

static void
ngx_svc_body_abort(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_http_request_t  *r;

    r = sr->request;

    ngx_svc_body_stop(sr);

    if (rc == NGX_OK) {
        r->keepalive = 0;
        rc = ngx_svc_envelope_rejected(sr) == NGX_OK
             ? ngx_svc_send_error(sr) : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_finalize_request(r, rc);
}
