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


#define NGX_SVC_PARAMS         4        /* in one path */

/* Route flags */

#define NGX_SVC_ROUTE_JSON     0x01     /* takes a JSON object as its body */
#define NGX_SVC_ROUTE_WRITE    0x02     /* changes something, and is audited */
#define NGX_SVC_ROUTE_SLOW     0x04
#define NGX_SVC_ROUTE_RAW      0x08     /* takes bytes: sr->body */
#define NGX_SVC_ROUTE_PUBLIC   0x10     /* needs no credential */
#define NGX_SVC_ROUTE_CREATE   0x20     /* heeds Idempotency-Key; no "*" */


typedef struct ngx_svc_request_s  ngx_svc_request_t;
typedef struct ngx_svc_route_s    ngx_svc_route_t;


/*
 * A row of a surface's route table; a zero method ends it.
 *
 * path: what follows the surface's prefix; a segment "*" takes any non-empty
 * text, URL-decoded, into sr->params.
 *
 * prepare: looks at sr->json, sr->params and the arguments, and adds its
 * statements to sr->op behind the credential's.  NGX_OK; NGX_DECLINED with
 * sr->error set by ngx_svc_fail(): the credential is still checked first;
 * NGX_ERROR: 500.  May be NULL.  Of a public route it is called at once, with
 * no credential's statement before its own; when it adds none, it has sent the
 * answer, and returns what goes to ngx_http_finalize_request().
 *
 * reply: all went well; the results of its statements are sr->results.
 * Sends with ngx_svc_send(), ngx_svc_send_empty() or ngx_svc_send_error(), and
 * returns what they return.
 */

struct ngx_svc_route_s {
    ngx_uint_t                 method;      /* NGX_HTTP_GET serves HEAD too */
    ngx_str_t                  path;
    ngx_str_t                  permission;  /* empty: any live token's */
    ngx_uint_t                 flags;
    ngx_int_t                (*prepare)(ngx_svc_request_t *sr);
    ngx_int_t                (*reply)(ngx_svc_request_t *sr);
};


/* A constraint's name, and what its violation means to a client. */

typedef struct {
    const char                *name;        /* NULL ends the table */
    ngx_svc_error_e            kind;
    const char                *detail;
} ngx_svc_constraint_t;


struct ngx_svc_surface_s {
    ngx_str_t                  prefix;      /* "/scim/v2" */
    ngx_str_t                  content_type;
    ngx_str_t                  kind;        /* of its credentials */
    ngx_str_t                  actor_type;  /* in the audit log */
    const ngx_svc_route_t     *routes;
    const ngx_svc_constraint_t *constraints;

    /* Writes an error's body. */
    void                     (*error)(ngx_svc_json_writer_t *w,
                                      const ngx_svc_error_row_t *row,
                                      ngx_str_t *detail);
};


/* Of the request's pool, and its context in the common module. */

struct ngx_svc_request_s {
    ngx_http_request_t        *request;
    const ngx_svc_surface_t   *surface;
    const ngx_svc_route_t     *route;       /* NULL: none matches */
    ngx_str_t                  params[NGX_SVC_PARAMS];
    ngx_str_t                  allow;       /* of a 405 */
    u_char                     token_hash[NGX_SVC_SHA256_LEN];
    ngx_str_t                  body;
    cJSON                     *json;
    ngx_svc_pg_op_t           *op;
    ngx_svc_pg_op_t           *ask;         /* in flight before op; or NULL */
    u_char                     tenant[NGX_SVC_UUID_LEN];    /* whose turn */
    PGresult                 **results;     /* of the route's own statements */
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
    ngx_svc_error_t            error;       /* last: its text is not zeroed */
};


/* The content handler of a location with a surface. */
ngx_int_t ngx_svc_request_handler(ngx_http_request_t *r);

/*
 * Calls the prepare of a public route again, which had returned NGX_DONE with
 * a reference of the request: from an event of its own.
 */
NGX_SVC_API void ngx_svc_request_public_again(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_REQUEST_H_INCLUDED_ */
