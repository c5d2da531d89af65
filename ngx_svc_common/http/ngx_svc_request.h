/*
 * A request from its route to its answer.
 */

#ifndef _NGX_SVC_REQUEST_H_INCLUDED_
#define _NGX_SVC_REQUEST_H_INCLUDED_


#include "ngx_svc_conf.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_error.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_route.h"


/* Of the request's pool, and its context in the common module. */

struct ngx_svc_request_s {
    ngx_http_request_t        *request;
    const ngx_svc_surface_t   *surface;
    const ngx_svc_route_t     *route;       /* NULL: none matches */
    ngx_str_t                  params[NGX_SVC_PATH_PARAMS];
    ngx_str_t                  allow;       /* of a 405 */
    ngx_uint_t                 retry_after; /* of a 429, in seconds; 0: 1 */
    ngx_str_t                  challenge;   /* of a 401; empty: "Bearer" */
    ngx_str_t                  domain;      /* ngx_svc_base_url.c */
    ngx_str_t                  domain_url;  /* likewise */
    const ngx_svc_credential_t  *credential;    /* NULL: a public route */
    void                      *session;     /* of the surface's own kind */
    u_char                     token_hash[NGX_SVC_SHA256_LEN];
    ngx_str_t                  body;
    cJSON                     *json;
    ngx_svc_pg_op_t           *op;
    ngx_svc_pg_op_t           *ask;         /* in flight before op; or NULL */
    u_char                     tenant[NGX_SVC_UUID_LEN];    /* whose turn */
    u_char                    *new_id;      /* ngx_svc_param_new_id() */
    ngx_int_t                (*reply)(ngx_svc_request_t *sr);
    void                      *data;        /* between prepare and reply */
    void                      *stream;      /* ngx_svc_stream_t, of a long
                                               answer that has begun */
    const char                *slow;        /* said when statement_timeout
                                               ends it; or NULL */

    /*
     * Of an answer that has begun: called in place of an error's answer, of
     * which sr->error says what it would have been; or NULL.
     */
    ngx_int_t                (*failed)(ngx_svc_request_t *sr);

    /*
     * Called when PostgreSQL has raised sr->op->error: NGX_DECLINED for the
     * usual answer, or what a reply returns; or NULL.
     */
    ngx_int_t                (*refused)(ngx_svc_request_t *sr);

    /*
     * ngx_svc_idempotency.c.  Called in place of sending an answer's body,
     * while the key is this request's; or NULL.
     */
    ngx_int_t                (*keep)(ngx_svc_request_t *sr, ngx_uint_t status,
                                     u_char *start, u_char *last);
    ngx_str_t                  idempotency_key;     /* no data: none */
    u_char                    *idempotency_hash;
    ngx_str_t                  held_body;   /* to be kept, and then sent */
    ngx_uint_t                 held_status;
    size_t                     secret_at;   /* in the body; not kept */
    size_t                     secret_len;

    void                     (*run)(ngx_svc_request_t *sr); /* behind it */
    ngx_event_t                timer;       /* of the body */
    size_t                     body_size;   /* allocated */
    ngx_chain_t               *replacement; /* of the body of nginx's error */
    unsigned                   shared_body:1;
    unsigned                   replaced:1;
    unsigned                   answered:1;  /* the answer is ours, as it is */
    unsigned                   held:1;      /* there is a held body */
    unsigned                   tenant_known:1;
    unsigned                   goes_on:1;   /* also when its client has gone */
    unsigned                   domain_looked:1;
    unsigned                   by_domain:1; /* the Host is a verified domain
                                               of the tenant */
    ngx_svc_error_t            error;       /* last: its text is not zeroed */
};


/* For a reply: ngx_svc_pg_result() and ngx_svc_pg_result_of() of its op. */
#define ngx_svc_result(sr, statement)                                         \
    ngx_svc_pg_op_result((sr)->op, statement)
#define ngx_svc_result_of(sr, list)                                           \
    ngx_svc_pg_result_of((sr)->op->results, list)

/* The content handler of a location with a surface. */
ngx_int_t ngx_svc_request_handler(ngx_http_request_t *r);

/*
 * Calls the prepare of a public route again, which had returned NGX_DONE with
 * a reference of the request: from an event of its own.
 */
NGX_SVC_API void ngx_svc_request_public_again(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_REQUEST_H_INCLUDED_ */
