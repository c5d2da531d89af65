/*
 * Long answers, in pieces: the next one is made when the client has taken the
 * one before.
 */

#ifndef _NGX_SVC_STREAM_H_INCLUDED_
#define _NGX_SVC_STREAM_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * All functions that return ngx_int_t return what ngx_http_finalize_request()
 * takes.  A reply returns that; an event passes it to
 * ngx_svc_stream_finalize().
 */

typedef struct {
    ngx_svc_request_t   *sr;

    /*
     * The pool of the op under way, and then of the piece that is made from it;
     * the next op resets it.
     */
    ngx_pool_t          *pool;

    /* Called when the client has taken all of a piece. */
    ngx_int_t          (*taken)(ngx_svc_request_t *sr);

    ngx_buf_t            buf;
    unsigned             sending:1;     /* a part of a piece has not been
                                           taken */
} ngx_svc_stream_t;


/*
 * Sends the header.  st is of the request's pool, and zeroed but for "taken".
 * After NGX_OK pieces may follow, unless it was a HEAD request, and errors go
 * to failed (see ngx_svc_request_t).
 */
NGX_SVC_API ngx_int_t ngx_svc_stream_open(ngx_svc_stream_t *st,
    ngx_svc_request_t *sr, ngx_str_t *type,
    ngx_int_t (*failed)(ngx_svc_request_t *sr));

/*
 * Sends a piece, which is of st->pool or a constant, when st->sending is not
 * set.  end: it is the last one, may be empty, and taken is not called.
 */
NGX_SVC_API ngx_int_t ngx_svc_stream_send(ngx_svc_stream_t *st, u_char *start,
    u_char *last, ngx_uint_t end);

/* Calls ngx_svc_request_again(), which then allocates from st->pool. */
NGX_SVC_API ngx_int_t ngx_svc_stream_again(ngx_svc_stream_t *st,
    ngx_svc_pg_pool_e kind, ngx_int_t (*prepare)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));

/*
 * Takes a reference of the request, and returns NGX_DONE: an event that the
 * caller has arranged for goes on with the stream.
 */
NGX_SVC_API ngx_int_t ngx_svc_stream_hold(ngx_svc_stream_t *st);

/* Ends such an event; the request may be gone afterwards. */
NGX_SVC_API void ngx_svc_stream_finalize(ngx_svc_request_t *sr, ngx_int_t rc);


#endif /* _NGX_SVC_STREAM_H_INCLUDED_ */
