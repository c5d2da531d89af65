/*
 * Outbound SCIM: one request to a target, and its answer.
 */

#ifndef _NGX_SVC_PUSH_HTTP_H_INCLUDED_
#define _NGX_SVC_PUSH_HTTP_H_INCLUDED_


#include "ngx_svc_outbound.h"
#include "ngx_svc_push.h"

#include <cjson/cJSON.h>


typedef struct ngx_svc_push_http_s  ngx_svc_push_http_t;


/*
 * Requests to one target, one after the other.  It is part of the caller's
 * struct, zeroed; target, handler and data are set once.
 */

struct ngx_svc_push_http_s {
    const ngx_svc_push_target_t  *target;
    void                        (*handler)(ngx_svc_push_http_t *http);
    void                         *data;

    /* about the last request */

    ngx_svc_push_answer_t         answer;
    cJSON                        *json;         /* answer with 2xx or 400, until
                                                   the next request; or NULL */
    ngx_uint_t                    requests;     /* number of all requests */
    unsigned                      unknown:1;    /* the request may have been
                                                   carried out */
    unsigned                      overlong:1;   /* the answer was longer than is
                                                   read */

    /* private */

    ngx_pool_t                   *pool;         /* the request's pool */
    ngx_svc_outbound_t            request;
    ngx_event_t                   step;         /* posted: a long answer is to
                                                   be parsed */
    ngx_uint_t                    read;         /* the answer must be JSON */
    u_char                       *bytes;
    size_t                        len;
    size_t                        size;
    u_char                        text[NGX_SVC_PUSH_ERROR];
};


/* A request to be made. */

typedef struct {
    const char                   *method;
    const char                   *path;         /* follows the base URL */
    ngx_str_t                     name;         /* follows the path; not yet
                                                   encoded */
    ngx_str_t                     body;         /* without data: none; lives as
                                                   long as the request */
    unsigned                      read:1;       /* the answer must be JSON */
    unsigned                      once:1;       /* never sent twice */
} ngx_svc_push_ask_t;


/* Called at the helper's start. */
ngx_int_t ngx_svc_push_http_init(ngx_cycle_t *cycle);

/* Called at the helper's end, when nothing is under way. */
void ngx_svc_push_http_exit(void);

/*
 * Makes a request.  The handler is called once, never from within this call.
 * NGX_ERROR: no memory.  Frees what the request before has left.
 */
ngx_int_t ngx_svc_push_http(ngx_svc_push_http_t *http,
    const ngx_svc_push_ask_t *ask);

/* Sets the outcome and the error; fmt is as of ngx_sprintf(). */
void ngx_svc_push_http_fail(ngx_svc_push_http_t *http,
    ngx_svc_push_outcome_e outcome, const char *fmt, ...);

/* Breaks off what is under way, and frees all. */
void ngx_svc_push_http_close(ngx_svc_push_http_t *http);


#endif /* _NGX_SVC_PUSH_HTTP_H_INCLUDED_ */
