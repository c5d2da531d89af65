/*
 * A request from its route to its answer.
 */

#ifndef _NGX_SVC_REQUEST_H_INCLUDED_
#define _NGX_SVC_REQUEST_H_INCLUDED_


#include "ngx_svc_access.h"
#include "ngx_svc_conf.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_error.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"


#define NGX_SVC_PARAMS         4        /* in one path */
#define NGX_SVC_BODY_MAX       1048576  /* bytes */
#define NGX_SVC_RAW_MAX        524288   /* of NGX_SVC_ROUTE_RAW */

/* A tenant's id: something was written for it, and its audit log has grown. */
#define NGX_SVC_AUDIT_CHANNEL  "svc.audit"

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

/* Of each write, unless its prepare has put another one in place: calls it. */
NGX_SVC_API void ngx_svc_request_committed(PGresult **results);

/*
 * Who is to hear of the writes of this worker while Redis does not tell of all
 * workers'; NULL: nobody.
 */
NGX_SVC_API void ngx_svc_request_listen(ngx_svc_redis_message_pt handler);

/*
 * One more round trip, from a reply or from an event of the request's own that
 * holds a reference: the credential's statement and what prepare adds, in a
 * transaction of its own; then reply.  Returns what goes to
 * ngx_http_finalize_request().
 */
NGX_SVC_API ngx_int_t ngx_svc_request_again(ngx_svc_request_t *sr,
    ngx_svc_pg_pool_e kind, ngx_int_t (*prepare)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));

/*
 * ngx_svc_router.c: finds the route for r->uri; NGX_OK with sr->route and
 * sr->params set, or NGX_DECLINED with sr->error (404, or 405 and sr->allow).
 */
ngx_int_t ngx_svc_router_find(ngx_svc_request_t *sr);

/*
 * While the configuration is read: routes of another module, behind those of
 * the surface with that prefix.  NGX_OK, or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_add_routes(ngx_conf_t *cf,
    const ngx_str_t *prefix, const ngx_svc_route_t *routes);

/*
 * ngx_svc_body.c: run is called, with a reference of the request, when the body
 * is there, or sr->error says what is wrong with it.
 */
ngx_int_t ngx_svc_body_read(ngx_svc_request_t *sr,
    void (*run)(ngx_svc_request_t *sr));

/* ngx_svc_auth.c: see there. */
ngx_int_t ngx_svc_auth_token(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_auth_call(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_auth_check(ngx_svc_request_t *sr);
extern const ngx_svc_pg_statement_t  ngx_svc_auth_statements[];

/*
 * ngx_svc_turn.c.  Takes the token's tenant from what is remembered, or from a
 * result of the credential statement: NGX_OK, or NGX_DECLINED when it is not
 * there.
 */
ngx_int_t ngx_svc_turn_find(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_turn_learn(ngx_svc_request_t *sr, PGresult *res);

/*
 * ngx_svc_submit.c.  Submits sr->op as of ngx_svc_pg_submit(), in the turn of
 * the token's tenant; its handler may be called with a refusal before it was
 * sent.
 */
ngx_int_t ngx_svc_submit(ngx_svc_request_t *sr);

/*
 * ngx_svc_idempotency.c, in the order of a request: adds its statement behind
 * the credential's, if there is a key (NGX_OK, NGX_DECLINED or NGX_ERROR as of
 * prepare); NGX_DECLINED if the route's reply is due, else what it returns;
 * sends an answer that was kept, or was to be.
 */
ngx_int_t ngx_svc_idempotency_claim(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_idempotency_reply(ngx_svc_request_t *sr, PGresult *res);
ngx_int_t ngx_svc_idempotency_kept(ngx_svc_request_t *sr);
extern const ngx_svc_pg_statement_t  ngx_svc_idempotency_statements[];

/* ngx_svc_header.c: NULL when memory runs out. */
ngx_table_elt_t *ngx_svc_header_push(ngx_http_request_t *r, const char *name,
    ngx_str_t *value);

/*
 * ngx_svc_send.c.  503: the database does not answer, which has no detail of
 * the client's; too many wait for it.
 */
ngx_int_t ngx_svc_send_unavailable(ngx_svc_request_t *sr, const char *detail);
ngx_int_t ngx_svc_send_busy(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_send_body(ngx_svc_request_t *sr, ngx_uint_t status,
    const ngx_str_t *type, u_char *start, u_char *last);

/*
 * An op of the pool that may outlive the request, with the credential's
 * statement as it is for reads; NULL when memory runs out.
 */
NGX_SVC_API ngx_svc_pg_op_t *ngx_svc_auth_op(ngx_svc_request_t *sr,
    ngx_pool_t *pool, ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler);

/* ngx_svc_envelope.c: nginx's own errors in a surface's envelope. */
ngx_int_t ngx_svc_envelope_init(ngx_conf_t *cf);
ngx_int_t ngx_svc_envelope_body(ngx_pool_t *pool,
    const ngx_svc_surface_t *surface, const ngx_svc_error_row_t *row,
    ngx_str_t *detail, ngx_str_t *body);
ngx_int_t ngx_svc_envelope_headers(ngx_http_request_t *r,
    const ngx_svc_error_row_t *row, ngx_str_t *allow);

/* ngx_svc_health.c */
ngx_int_t ngx_svc_health_handler(ngx_http_request_t *r);
extern const ngx_svc_pg_statement_t  ngx_svc_health_statements[];

/*
 * ngx_svc_metrics_request.c, ngx_svc_metrics_text.c.  While the configuration
 * is read: the counting of requests.  When the shared memory is there, or is
 * not wanted.  The content handler.
 */
ngx_int_t ngx_svc_metrics_init(ngx_conf_t *cf);
ngx_int_t ngx_svc_metrics_init_module(ngx_cycle_t *cycle,
    ngx_svc_main_conf_t *smcf);
ngx_int_t ngx_svc_metrics_handler(ngx_http_request_t *r);


/*
 * The one way out.  Each sends the whole answer and returns what
 * ngx_http_finalize_request() takes.  status: HTTP; location: the value of a
 * Location header, or NULL.
 */
NGX_SVC_API ngx_int_t ngx_svc_send(ngx_svc_request_t *sr, ngx_uint_t status,
    ngx_svc_json_writer_t *w, ngx_str_t *location);
NGX_SVC_API ngx_int_t ngx_svc_send_empty(ngx_svc_request_t *sr,
    ngx_uint_t status);
NGX_SVC_API ngx_int_t ngx_svc_send_error(ngx_svc_request_t *sr);

/*
 * For a reply: the error of a constraint that a statement would have violated,
 * and has named in its verdict.
 */
NGX_SVC_API ngx_int_t ngx_svc_send_conflict(ngx_svc_request_t *sr,
    const char *name);

/*
 * The ETag of an answer that is about to be sent, with its quotes; lives as
 * long as the request.  A GET that names it in If-None-Match gets 304.
 */
NGX_SVC_API ngx_int_t ngx_svc_send_etag(ngx_svc_request_t *sr,
    ngx_str_t *value);

/* Bytes of some type; they live until the request is gone. */
NGX_SVC_API ngx_int_t ngx_svc_send_bytes(ngx_svc_request_t *sr,
    const ngx_str_t *content_type, ngx_str_t *bytes);

/* Adds a header; value's bytes must live as long as the request. */
NGX_SVC_API ngx_int_t ngx_svc_add_header(ngx_http_request_t *r,
    const char *name, ngx_str_t *value);

/*
 * A header of the request, the first of that name, or the next one behind
 * another of that name; or NULL.
 */
NGX_SVC_API ngx_table_elt_t *ngx_svc_header_in(ngx_http_request_t *r,
    const char *name, size_t len, ngx_table_elt_t *behind);

/*
 * ngx_svc_args.c: the decoded value of a query parameter.  NGX_OK, with
 * value->data NULL when it is absent; NGX_DECLINED with sr->error when it is
 * there twice; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_argument(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *value);

/*
 * The same for a text of at most max characters, UTF-8 and without NUL, and for
 * one of the words of a list that ends with NULL, of which *n is the index.
 * NGX_OK, with value->data NULL or *n -1 when it is absent; NGX_DECLINED with
 * sr->error; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_text_argument(ngx_svc_request_t *sr,
    const char *name, ngx_uint_t max, ngx_str_t *value);
NGX_SVC_API ngx_int_t ngx_svc_word_argument(ngx_svc_request_t *sr,
    const char *name, const char *const *words, ngx_int_t *n);

/*
 * Binds the UUID in sr->params[n].  NGX_OK; NGX_DECLINED with sr->error, a 404
 * of that detail: ids are text, case-exact; NGX_ERROR, also when call is NULL.
 */
NGX_SVC_API ngx_int_t ngx_svc_param_uuid(ngx_svc_request_t *sr, ngx_uint_t n,
    ngx_svc_pg_call_t *call, const char *detail);

/*
 * ngx_svc_access_caller.c: who sends a request, for an access policy: the
 * address of the connection, as realip may have set it, the country of
 * svc_country, and the time.  NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_access_caller(ngx_svc_request_t *sr,
    ngx_svc_access_caller_t *caller);

/* The id of the request as in $request_id; empty when there is none. */
NGX_SVC_API ngx_str_t ngx_svc_request_id(ngx_http_request_t *r);


#endif /* _NGX_SVC_REQUEST_H_INCLUDED_ */
