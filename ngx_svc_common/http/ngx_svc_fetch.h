/*
 * Requests to other servers, for requests that wait for the answer.
 *
 * The helper makes them: a worker queues a sealed entry in Redis, and hears
 * when the sealed answer is there.
 */

#ifndef _NGX_SVC_FETCH_H_INCLUDED_
#define _NGX_SVC_FETCH_H_INCLUDED_


#include "ngx_svc_entry.h"

#include <ngx_event.h>


#define NGX_SVC_FETCH_HEADERS  8
#define NGX_SVC_FETCH_BODY     8192     /* bytes of a request's body, at most */
#define NGX_SVC_FETCH_ANSWER   (1 << 20)    /* bytes of an answer, at most */
#define NGX_SVC_FETCH_TIMEOUT  8000     /* ms, at most */
#define NGX_SVC_FETCH_VALUE    255      /* bytes of a header of the answer that
                                           is kept, at most */


typedef enum {
    NGX_SVC_FETCH_ANSWERED = 0,         /* with any status but a redirect's */
    NGX_SVC_FETCH_FAILED,               /* the server, or its answer, is bad */
    NGX_SVC_FETCH_LATE,                 /* there was no answer in time */
    NGX_SVC_FETCH_UNAVAILABLE,          /* Redis, the helper or the queue:
                                           nothing was asked, unless Redis broke
                                           off */
    NGX_SVC_FETCH_OUTCOMES
} ngx_svc_fetch_outcome_e;


typedef struct ngx_svc_fetch_s  ngx_svc_fetch_t;

typedef void (*ngx_svc_fetch_pt)(ngx_svc_fetch_t *fetch);


/*
 * The caller's, zeroed; it lives until its handler is called, or it is
 * cancelled.
 */

struct ngx_svc_fetch_s {
    ngx_pool_t               *pool;         /* of the answer's texts */
    ngx_str_t                 tenant;       /* UUID, as text */
    ngx_uint_t                post;         /* 1: POST, 0: GET */
    ngx_str_t                 url;
    ngx_str_t                 headers[NGX_SVC_FETCH_HEADERS];
                                            /* "Name: value" */
    ngx_uint_t                nheaders;
    ngx_str_t                 body;         /* of a POST */
    size_t                    limit;        /* bytes of the answer, at most */
    ngx_msec_t                timeout;      /* ms, for all of it */
    ngx_svc_fetch_pt          handler;
    void                     *data;         /* the caller's */

    /* the result */

    ngx_svc_fetch_outcome_e   outcome;
    ngx_uint_t                status;       /* HTTP status */
    ngx_str_t                 type;         /* Content-Type; or empty */
    ngx_str_t                 etag;         /* or empty */
    time_t                    max_age;      /* s, of Cache-Control; -1: not
                                               said */
    ngx_str_t                 answer;       /* the body */
    ngx_str_t                 why;          /* printable ASCII: why there is no
                                               answer */

    /* private */

    ngx_queue_t               queue;
    ngx_event_t               timer;
    uint32_t                  serial;       /* 0: not under way */
    u_char                    id[NGX_SVC_ENTRY_ID];
};


/* Called when a worker starts whose nginx has a helper that fetches. */
ngx_int_t ngx_svc_fetch_init(void);

/*
 * Begins a fetch.  The helper checks the URL as ngx_svc_federation_url() does,
 * and each address before it connects.  Nothing is asked a second time.
 *
 * Returns NGX_OK, and the handler is called once, from an event and never from
 * within this call: it sets the log's request, and runs posted requests, as
 * ngx_svc_request_done() does.  Returns NGX_DECLINED: the outcome and why are
 * set, and it is not called.
 */
NGX_SVC_API ngx_int_t ngx_svc_fetch(ngx_svc_fetch_t *fetch);

/*
 * Forgets a fetch: its handler will not be called.  Does nothing when it has
 * been called, or the fetch was never begun.
 */
NGX_SVC_API void ngx_svc_fetch_cancel(ngx_svc_fetch_t *fetch);

/*
 * Returns 1 if a helper that fetches, and whose queue had room, was heard of
 * within 5 s.  In the first 5 s of a worker only Redis decides.
 */
NGX_SVC_API ngx_uint_t ngx_svc_fetch_ready(void);


#endif /* _NGX_SVC_FETCH_H_INCLUDED_ */
