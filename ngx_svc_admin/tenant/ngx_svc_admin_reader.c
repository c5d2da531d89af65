/*
 * Requests that read an answer for the cache, and requests that wait for it.
 */

#include "ngx_svc_admin_reader.h"


#define NGX_SVC_ADMIN_WAIT  1000    /* ms */


static ngx_int_t ngx_svc_admin_reader_begin(ngx_svc_admin_reader_t *reader);
static ngx_svc_admin_reader_t *ngx_svc_admin_reader_same(
    ngx_svc_admin_reader_t *reader);
static void ngx_svc_admin_reader_wait(ngx_svc_admin_reader_t *reader,
    ngx_svc_admin_reader_t *other);
static void ngx_svc_admin_reader_resume(ngx_event_t *ev);
static void ngx_svc_admin_reader_cleanup(void *data);


static ngx_queue_t  ngx_svc_admin_readers = {
    &ngx_svc_admin_readers, &ngx_svc_admin_readers
};


ngx_int_t
ngx_svc_admin_reader_key(ngx_svc_request_t *sr, const ngx_str_t *name,
    ngx_str_t *key)
{
    u_char           *p;
    const ngx_str_t  *base;

    base = ngx_svc_base_url(sr);
    key->len = name->len + 1 + base->len;

    p = ngx_pnalloc(sr->request->pool, key->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    key->data = p;

    p = ngx_cpymem(p, name->data, name->len);
    *p++ = ' ';
    ngx_memcpy(p, base->data, base->len);

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_reader_prepare(ngx_svc_admin_reader_t *reader, ngx_int_t cached)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = reader->sr;

    if (cached == NGX_BUSY) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many clients are reading it: try again.");
        return ngx_svc_send_error(sr);
    }

    if (cached == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_admin_reader_begin(reader);

    if (rc != NGX_OK) {
        return rc == NGX_DONE ? NGX_DONE : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_prepare(sr);
}


/* Returns NGX_OK: it reads; NGX_DONE: it waits; NGX_ERROR. */

static ngx_int_t
ngx_svc_admin_reader_begin(ngx_svc_admin_reader_t *reader)
{
    ngx_http_cleanup_t      *cln;
    ngx_svc_admin_reader_t  *other;

    cln = ngx_http_cleanup_add(reader->sr->request, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_svc_admin_reader_cleanup;
    cln->data = reader;

    other = ngx_svc_admin_reader_same(reader);

    if (other) {
        ngx_svc_admin_reader_wait(reader, other);
        return NGX_DONE;
    }

    reader->reads = 1;
    ngx_queue_init(&reader->waiting);
    ngx_queue_insert_tail(&ngx_svc_admin_readers, &reader->queue);

    return NGX_OK;
}


/*
 * Returns the reader of the same answer that began after the last change which
 * this request must see; or NULL.
 */

static ngx_svc_admin_reader_t *
ngx_svc_admin_reader_same(ngx_svc_admin_reader_t *reader)
{
    ngx_queue_t             *q;
    ngx_svc_admin_reader_t  *other;

    for (q = ngx_queue_head(&ngx_svc_admin_readers);
         q != ngx_queue_sentinel(&ngx_svc_admin_readers);
         q = ngx_queue_next(q))
    {
        other = ngx_queue_data(q, ngx_svc_admin_reader_t, queue);

        if (other->kind == reader->kind
            && other->ticket == reader->ticket
            && other->key.len == reader->key.len
            && ngx_memcmp(other->key.data, reader->key.data, reader->key.len)
               == 0)
        {
            return other;
        }
    }

    return NULL;
}


static void
ngx_svc_admin_reader_wait(ngx_svc_admin_reader_t *reader,
    ngx_svc_admin_reader_t *other)
{
    ngx_http_request_t  *r;

    r = reader->sr->request;

    reader->waits = 1;
    ngx_queue_insert_tail(&other->waiting, &reader->queue);

    ngx_memzero(&reader->event, sizeof(ngx_event_t));

    reader->event.handler = ngx_svc_admin_reader_resume;
    reader->event.data = reader;
    reader->event.log = r->connection->log;

    ngx_add_timer(&reader->event, NGX_SVC_ADMIN_WAIT);

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    r->main->count++;
}


static void
ngx_svc_admin_reader_resume(ngx_event_t *ev)
{
    ngx_svc_admin_reader_t  *reader;

    reader = ev->data;

    ngx_svc_admin_reader_cleanup(reader);
    ngx_svc_request_public_again(reader->sr);
}


void
ngx_svc_admin_reader_end(ngx_svc_admin_reader_t *reader)
{
    ngx_queue_t             *q;
    ngx_svc_admin_reader_t  *waiting;

    if (!reader->reads) {
        return;
    }

    reader->reads = 0;
    ngx_queue_remove(&reader->queue);

    for (q = ngx_queue_head(&reader->waiting);
         q != ngx_queue_sentinel(&reader->waiting);
         q = ngx_queue_next(q))
    {
        waiting = ngx_queue_data(q, ngx_svc_admin_reader_t, queue);
        waiting->waits = 0;

        ngx_post_event(&waiting->event, &ngx_posted_events);
    }

    ngx_queue_init(&reader->waiting);
}


static void
ngx_svc_admin_reader_cleanup(void *data)
{
    ngx_svc_admin_reader_t *reader = data;

    if (reader->waits) {
        reader->waits = 0;
        ngx_queue_remove(&reader->queue);

    } else {
        ngx_svc_admin_reader_end(reader);
    }

    if (reader->event.timer_set) {
        ngx_del_timer(&reader->event);
    }

    if (reader->event.posted) {
        ngx_delete_posted_event(&reader->event);
    }
}
