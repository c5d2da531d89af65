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


/*
 * A request to a surface.  It is of the pool of nginx's request, whose context
 * in the common module it is.
 */

struct ngx_svc_request_s {
    ngx_http_request_t        *request;
    const ngx_svc_surface_t   *surface;
    const ngx_svc_route_t     *route;       /* NULL: none matches */
    ngx_str_t                  params[NGX_SVC_PATH_PARAMS];
    ngx_str_t                  allow;       /* Allow, for a 405 */
    ngx_uint_t                 retry_after; /* for a 429, seconds; 0: 1 */
    ngx_str_t                  challenge;   /* WWW-Authenticate, for a 401;
                                               empty: "Bearer" */
    ngx_str_t                  domain;      /* see ngx_svc_base_url_domain() */
    ngx_str_t                  domain_url;  /* the base URL of that domain */
    const ngx_svc_credential_t  *credential;    /* NULL: a public route */
    void                      *session;     /* the surface knows its type */
    u_char                     token_hash[NGX_SVC_SHA256_LEN];
    ngx_str_t                  body;
    cJSON                     *json;
    ngx_svc_pg_op_t           *op;
    ngx_svc_pg_op_t           *ask;         /* in flight before op; or NULL */
    u_char                     tenant[NGX_SVC_UUID_LEN];    /* if it is known:
                                                               whose turn */
    u_char                    *new_id;      /* ngx_svc_param_new_id() */
    ngx_int_t                (*reply)(ngx_svc_request_t *sr);
    void                      *data;        /* what prepare leaves to reply */
    void                      *stream;      /* ngx_svc_stream_t, of a long
                                               answer that has begun */
    const char                *slow;        /* the detail of the error when
                                               statement_timeout ends a
                                               statement; or NULL */

    /*
     * Called in place of answering an error when the answer has begun, or is
     * for a browser that comes from another site; sr->error says what the error
     * is.  Or NULL.
     */
    ngx_int_t                (*failed)(ngx_svc_request_t *sr);

    /*
     * Called when PostgreSQL has raised sr->op->error.  Returns NGX_DECLINED
     * for the usual answer, or what a reply returns.  Or NULL.
     */
    ngx_int_t                (*refused)(ngx_svc_request_t *sr);

    /*
     * Called in place of sending an answer's body while the key is this
     * request's, see ngx_svc_idempotency.c; or NULL.
     */
    ngx_int_t                (*keep)(ngx_svc_request_t *sr, ngx_uint_t status,
                                     u_char *start, u_char *last);
    ngx_str_t                  idempotency_key;     /* no data: none */
    u_char                    *idempotency_hash;
    ngx_str_t                  held_body;   /* is kept, and then sent */
    ngx_uint_t                 held_status;
    size_t                     secret_at;   /* where the body has a secret,
                                               which is not kept */
    size_t                     secret_len;

    void                     (*run)(ngx_svc_request_t *sr); /* when the body
                                                               is there */
    ngx_event_t                timer;       /* ends the wait for the body */
    size_t                     body_size;   /* allocated bytes of the body */
    ngx_chain_t               *replacement; /* the body in place of nginx's
                                               own error page */
    unsigned                   shared_body:1;   /* another module has the
                                                   body's buffers, too */
    unsigned                   replaced:1;  /* the replacement has been sent */
    unsigned                   answered:1;  /* the answer is ours: it is not
                                               replaced */
    unsigned                   identified:1;    /* X-Request-Id is set */
    unsigned                   held:1;      /* there is a held body */
    unsigned                   tenant_known:1;
    unsigned                   goes_on:1;   /* also when the client has gone */
    unsigned                   resumed:1;   /* a stream that is opened again
                                               behind an event; a check sets
                                               it */
    unsigned                   domain_looked:1; /* domain has been set, or
                                                   there is none */
    unsigned                   by_domain:1; /* the Host is a verified domain
                                               of the tenant */
    ngx_svc_error_t            error;       /* last: its text is not zeroed */
};


/* For a reply: the result of a statement of its op, or of one of a list. */
#define ngx_svc_result(sr, statement)                                         \
    ngx_svc_pg_op_result((sr)->op, statement)
#define ngx_svc_result_of(sr, list)                                           \
    ngx_svc_pg_result_of((sr)->op->results, list)

/* The content handler of a location with a surface. */
ngx_int_t ngx_svc_request_handler(ngx_http_request_t *r);

/*
 * Calls the prepare of a public route again, after it has returned NGX_DONE and
 * holds a reference of the request.  The event that it waits for calls this.
 */
NGX_SVC_API void ngx_svc_request_public_again(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_REQUEST_H_INCLUDED_ */
