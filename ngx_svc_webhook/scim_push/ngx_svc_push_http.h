/*
 * Outbound SCIM: one request to a target, and its answer.
 */

#ifndef _NGX_SVC_PUSH_HTTP_H_INCLUDED_
#define _NGX_SVC_PUSH_HTTP_H_INCLUDED_


#include "ngx_svc_push.h"
#include "ngx_svc_webhook_request.h"

#include <cjson/cJSON.h>


typedef struct ngx_svc_push_http_s  ngx_svc_push_http_t;


/*
 * Several requests, one after the other.  In the struct of its maker, zeroed;
 * target, handler and data are set once.
 */

struct ngx_svc_push_http_s {
    const ngx_svc_push_target_t  *target;
    void                        (*handler)(ngx_svc_push_http_t *http);
    void                         *data;

    /* of the last request */

    ngx_svc_push_answer_t         answer;
    cJSON                        *json;         /* of an answer of 2xx or 400,
                                                   until the next request; or
                                                   NULL */
    ngx_uint_t                    requests;     /* all of them */
    unsigned                      unknown:1;    /* maybe it was carried out */
    unsigned                      overlong:1;   /* more came than is read */

    /* private */

    ngx_pool_t                   *pool;         /* of the request */
    ngx_svc_webhook_request_t     request;
    ngx_event_t                   step;         /* posted: a long answer is to
                                                   be read */
    ngx_uint_t                    read;         /* the answer must be JSON */
    u_char                       *bytes;
    size_t                        len;
    size_t                        size;
    u_char                        text[NGX_SVC_PUSH_ERROR];
};


/* What is asked for. */

typedef struct {
    const char                   *method;
    const char                   *path;         /* behind the base URL */
    ngx_str_t                     name;         /* behind the path, as it is:
                                                   encoded here */
    ngx_str_t                     body;         /* without data: none; lives as
                                                   long as the request */
    unsigned                      read:1;       /* the answer must be JSON */
    unsigned                      once:1;       /* is never sent twice */
} ngx_svc_push_ask_t;


/* At the helper's start and end; the latter when nothing is under way. */
ngx_int_t ngx_svc_push_http_init(ngx_cycle_t *cycle);
void ngx_svc_push_http_exit(void);

/*
 * The handler is called once, never from within this call.  NGX_ERROR: memory.
 * What is of the request before is gone.
 */
ngx_int_t ngx_svc_push_http(ngx_svc_push_http_t *http,
    const ngx_svc_push_ask_t *ask);

/* Sets the outcome, and the error, which is formatted as ngx_sprintf(). */
void ngx_svc_push_http_fail(ngx_svc_push_http_t *http,
    ngx_svc_push_outcome_e outcome, const char *fmt, ...);

/* Frees what there is, and breaks off what is under way. */
void ngx_svc_push_http_close(ngx_svc_push_http_t *http);


#endif /* _NGX_SVC_PUSH_HTTP_H_INCLUDED_ */
