/*
 * Long answers, in pieces: the next one is made when the client has taken the
 * one before.
 */

#ifndef _NGX_SVC_STREAM_H_INCLUDED_
#define _NGX_SVC_STREAM_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * All functions that return ngx_int_t return what ngx_http_finalize_request()
 * takes: a reply gives it back, an event calls ngx_svc_stream_finalize().
 */

typedef struct {
    ngx_svc_request_t   *sr;

    /*
     * Of the op under way, then of the piece that it made; it lasts until the
     * next op.
     */
    ngx_pool_t          *pool;

    /* The client has taken all of a piece. */
    ngx_int_t          (*taken)(ngx_svc_request_t *sr);

    ngx_buf_t            buf;
    unsigned             sending:1;     /* a part of it has not been taken */
} ngx_svc_stream_t;


/*
 * Sends the header.  NGX_OK: pieces may follow, unless it was a HEAD request;
 * from here errors come to failed (see ngx_svc_request_t).  st: zeroed, of the
 * request's pool, with taken set.
 */
NGX_SVC_API ngx_int_t ngx_svc_stream_open(ngx_svc_stream_t *st,
    ngx_svc_request_t *sr, ngx_str_t *type,
    ngx_int_t (*failed)(ngx_svc_request_t *sr));

/*
 * Sends a piece of st->pool, or a constant; st->sending is not set.  end: it is
 * the last one, perhaps empty, and taken is not called.
 */
NGX_SVC_API ngx_int_t ngx_svc_stream_send(ngx_svc_stream_t *st, u_char *start,
    u_char *last, ngx_uint_t end);

/* ngx_svc_request_again(), with what it allocates in st->pool. */
NGX_SVC_API ngx_int_t ngx_svc_stream_again(ngx_svc_stream_t *st,
    ngx_svc_pg_pool_e kind, ngx_int_t (*prepare)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));

/* Nothing to do now: an event that the caller has arranged for goes on. */
NGX_SVC_API ngx_int_t ngx_svc_stream_hold(ngx_svc_stream_t *st);

/* What such an event ends with: the request may be gone afterwards. */
NGX_SVC_API void ngx_svc_stream_finalize(ngx_svc_request_t *sr, ngx_int_t rc);


#endif /* _NGX_SVC_STREAM_H_INCLUDED_ */
