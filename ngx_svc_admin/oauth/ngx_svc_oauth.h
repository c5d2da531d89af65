/*
 * What the requests under /oauth share: the form, the client, and how what
 * PostgreSQL says of them is answered.
 */

#ifndef _NGX_SVC_OAUTH_H_INCLUDED_
#define _NGX_SVC_OAUTH_H_INCLUDED_


#include "ngx_svc_access_caller.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_application_secret.h"
#include "ngx_svc_form.h"
#include "ngx_svc_http.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_oauth_bearer.h"


#define NGX_SVC_OAUTH_JTI        20     /* hex digits of one behind its time */
#define NGX_SVC_OAUTH_SCOPE_MAX  4096   /* bytes, of a token */

/* 1: the clientId of an agent. */
#define ngx_svc_oauth_agent(id)  ((id)->data[1] == 'g')


typedef struct ngx_svc_oauth_s  ngx_svc_oauth_t;
typedef struct ngx_svc_oauth_asserted_s  ngx_svc_oauth_asserted_t;
typedef struct ngx_svc_oauth_jwts_s  ngx_svc_oauth_jwts_t;
typedef struct ngx_svc_oauth_issued_s  ngx_svc_oauth_issued_t;


/* What a verdict is to a client. */

typedef struct {
    const char                    *name;    /* NULL ends the table */
    ngx_svc_error_e                kind;
    const char                    *detail;  /* "%V" at most once: what stands
                                               behind the name and a space */
    const char                    *anomaly; /* of an agent; or NULL */
    const char                    *reason;  /* of a refused delegation; or
                                               NULL */
} ngx_svc_oauth_verdict_t;


/*
 * The first statement of each transaction: it finds the client by a digest, and
 * sets the tenant for what follows.  No row: there is none.  A NULL: the secret
 * has been retired, and no tenant is set; or the location is another tenant's.
 *
 * _ASYNC: a crash of PostgreSQL may forget what is committed then: a token that
 * is forgotten is dead.  _ANY: what is recorded of a refusal may be of a retired
 * secret, too; it tells the audit log who and from where.
 */

typedef enum {
    NGX_SVC_OAUTH_LOGIN_SYNC = 0,
    NGX_SVC_OAUTH_LOGIN_ASYNC,
    NGX_SVC_OAUTH_LOGIN_ANY
} ngx_svc_oauth_login_e;


/* How a client says who it is. */

typedef struct {
    ngx_str_t                      id;
    ngx_str_t                      digest;  /* NGX_SVC_SHA256_LEN bytes; empty:
                                               it cannot be one of ours */
    ngx_str_t                      public;  /* a boolean: by its id alone */
    ngx_uint_t                     basic;   /* by an Authorization header */
    ngx_svc_oauth_asserted_t      *asserted;    /* by an assertion; or NULL */
    ngx_str_t                      slug;    /* that this is for, if any */
    ngx_str_t                      once;    /* of its "jti"; no data: none */
} ngx_svc_oauth_client_t;


/* A parameter of a grant's statement, and the verdict for it. */

#define NGX_SVC_OAUTH_FAULT_TARGET  "fault_target"
#define NGX_SVC_OAUTH_FAULT_SCOPE   "fault_scope"


/*
 * A grant type: checks its parameters, NGX_OK, NGX_DECLINED with sr->error or
 * NGX_ERROR; and the statement behind the client's, which only reads.
 * What is wrong with a target or a scope is told behind what is wrong with the
 * client and with the grant: the check leaves it in o->fault.
 */

typedef struct {
    ngx_str_t                      name;
    ngx_svc_metric_e               metric;  /* and the one behind it: refused */
    ngx_int_t                    (*check)(ngx_svc_oauth_t *o);
    ngx_svc_oauth_login_e          login;
    const ngx_svc_pg_statement_t  *statement;

    /* In front of that: of what is shown; in place of it, of a JWT; or NULL. */
    const ngx_svc_pg_statement_t  *first;
    const ngx_svc_pg_statement_t  *jwt;

    /* In place of the last one, if o->wider; and of both, if it is for both. */
    const ngx_svc_pg_statement_t  *wider;
    ngx_uint_t                     wider_alone;

    /*
     * Adds calls behind the client's, before the others, of tokens that are
     * shown.  NGX_OK or NGX_ERROR; or NULL.
     */
    ngx_int_t                    (*rows)(ngx_svc_oauth_t *o);

    /* Decides by the statement's row, and answers as a reply does. */
    ngx_int_t                    (*decide)(ngx_svc_oauth_t *o, PGresult *res);

    /* Adds a call to the op that records a refusal with a reason; or NULL. */
    ngx_int_t                    (*journal)(ngx_svc_oauth_t *o);

    /* Adds an ID token to o->jwts, if one is wanted; NGX_ERROR; or NULL. */
    ngx_int_t                    (*id_token)(ngx_svc_oauth_t *o);

    /* Adds members to an answer behind the token's; NGX_ERROR; or NULL. */
    ngx_int_t                    (*more)(ngx_svc_oauth_t *o,
                                     ngx_svc_json_writer_t *w);
} ngx_svc_oauth_grant_t;


/* sr->data of a request; of its pool, as all that it points to. */

struct ngx_svc_oauth_s {
    ngx_svc_request_t             *sr;
    ngx_svc_form_t                 form;
    ngx_svc_oauth_client_t         client;
    const ngx_svc_oauth_grant_t   *grant;

    /* that were chosen, of the latest op that has such a one; or NULL */

    const ngx_svc_pg_statement_t  *login;       /* finds the client */
    const ngx_svc_pg_statement_t  *first;       /* as the grant's */
    const ngx_svc_pg_statement_t  *statement;   /* whose row is decided by */
    const ngx_svc_pg_statement_t  *looks;       /* whether proof and assertion
                                                   were shown before */
    ngx_uint_t                     wider;       /* 1: the grant's statement does
                                                   not have all that it takes */
    const ngx_svc_oauth_verdict_t *verdict;     /* to be answered; NULL: the
                                                   client's secret is not good */
    ngx_str_t                      refused;     /* the verdict's text */
    ngx_str_t                      fault_detail;    /* of fault */

    /* parameters of statements: no data is NULL */

    ngx_str_t                      scopes;      /* text of an array, sorted */
    ngx_str_t                      resource;    /* as it was given */
    ngx_str_t                      resource_key;
    ngx_str_t                      ip;
    ngx_str_t                      country;
    ngx_str_t                      request_id;
    ngx_str_t                      fault;       /* NGX_SVC_OAUTH_FAULT_* */
    ngx_str_t                      issuer;      /* up to the tenant's slug */
    ngx_str_t                      details;     /* of an anomaly, JSON */
    ngx_str_t                      anomaly;     /* its type */

    /* that is shown; and what follows when its key has come */

    ngx_svc_oauth_bearer_t         token;
    ngx_int_t                    (*shown_calls)(ngx_svc_request_t *sr);
    ngx_int_t                    (*shown_reply)(ngx_svc_request_t *sr);
    ngx_uint_t                     walks;       /* of what was exchanged from
                                                   it, in vain so far */

    ngx_str_t                      about;       /* whose claims are read:
                                                   NGX_SVC_UUID_LEN bytes */

    /* of the token that may come of it */

    ngx_str_t                      jti;         /* NGX_SVC_OAUTH_JTI digits */
    ngx_str_t                      secret;      /* if it is opaque; wiped */
    ngx_str_t                      secret_hash;
    ngx_str_t                      jkt;         /* of a DPoP proof */
    ngx_str_t                      once;        /* likewise */
    unsigned                       once_spent:1;    /* an op has done so */
    unsigned                       proof_seen:1;    /* it was shown before, */
    unsigned                       assertion_seen:1;    /*     as was this */
    ngx_str_t                      access_token;    /* as it is answered, */
    ngx_str_t                      id_token;        /*     if there is one */
    ngx_svc_oauth_jwts_t          *jwts;        /* of these, what is signed; */
    ngx_int_t                    (*signed_by)(ngx_svc_oauth_t *o, ngx_int_t rc);
                                                /*     and what follows */
    const ngx_svc_oauth_issued_t  *issued;      /* what is answered of it */
    ngx_str_t                      once_seconds;    /* that it is kept for */

    /* of a key that is made because there is none yet */

    const ngx_svc_pg_statement_t  *key_first;   /* what stores it */
    ngx_str_t                      kid;
    ngx_str_t                      jwk;
    ngx_str_t                      sealed;
    ngx_str_t                      ec_kid;      /* beside one of RSA */
    ngx_str_t                      ec_jwk;
    ngx_str_t                      ec_sealed;

    ngx_str_t                      tenant;      /* NGX_SVC_UUID_LEN bytes, once
                                                   the client is known */
    ngx_uint_t                     rounds;      /* a grant was read anew */
    void                          *data;        /* of the grant type */
};

#define ngx_svc_oauth_param(field)                                            \
    ngx_svc_param_data(ngx_svc_oauth_t, field)

/* An ngx_str_t of what o->data points to: NULL when it has no data. */
#define ngx_svc_oauth_data_param(type, field)                                 \
    { .bind = ngx_svc_oauth_bind_data, .offset = offsetof(type, field) }

ngx_svc_bind_function(ngx_svc_oauth_bind_data);


/*
 * For a prepare: the form, of which no parameter comes twice but "resource" and
 * "audience"; what is in the query is refused; the answer's headers.  NGX_OK;
 * NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_begin(ngx_svc_request_t *sr, ngx_svc_oauth_t **o);

/* The same into what is there, of which the issuer is known. */
ngx_int_t ngx_svc_oauth_begin_form(ngx_svc_oauth_t *o);

/* Whether the body says that it is a form.  As above. */
ngx_int_t ngx_svc_oauth_type(ngx_svc_request_t *sr);

/*
 * A parameter; no data: it is absent.  _needed: that is an error.  As above.
 */
ngx_int_t ngx_svc_oauth_value(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value);
ngx_int_t ngx_svc_oauth_needed(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value);

/*
 * "scope" as o->scopes, each once and in order, and "resource", at most one, as
 * o->resource and its key.  As above.
 */
ngx_int_t ngx_svc_oauth_scope(ngx_svc_oauth_t *o);
ngx_int_t ngx_svc_oauth_resource(ngx_svc_oauth_t *o);

/*
 * For a check, of what those two have returned: the first fault is kept in
 * o->fault, for the statement, and sr->error is as if there were none.  NGX_OK
 * then; else rc.
 */
ngx_int_t ngx_svc_oauth_later(ngx_svc_oauth_t *o, ngx_int_t rc);

/* A text of scopes as one of an array in *array; as above. */
ngx_int_t ngx_svc_oauth_scopes(ngx_svc_request_t *sr, const ngx_str_t *text,
    ngx_str_t *array);

/*
 * A URI, and what is the same of all ways to write it; or invalid_target, and
 * o->resource_key has no data.
 */
ngx_int_t ngx_svc_oauth_target(ngx_svc_oauth_t *o, const ngx_str_t *uri);

/* The caller's address and country, the request's id.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_caller(ngx_svc_oauth_t *o);

/* Adds what lets pages of any origin read the answer.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_any_origin(ngx_svc_request_t *sr);

/* The headers that all answers of a route with a form have.  Or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_headers(ngx_svc_request_t *sr);

/* Copies into the pool; or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_bytes(ngx_svc_request_t *sr, ngx_str_t *dst,
    const u_char *data, size_t len);

/* Likewise of a value that may have no data, which the copy then has not. */
ngx_int_t ngx_svc_oauth_copy(ngx_svc_request_t *sr, ngx_str_t *dst,
    const ngx_str_t *value);

/* Of a path below an issuer its slug, which may be nobody's; else empty. */
ngx_str_t ngx_svc_oauth_slug(ngx_svc_request_t *sr);

/* The issuer of the tenant with that slug, of the pool; no data: memory. */
ngx_str_t ngx_svc_oauth_issuer(ngx_svc_request_t *sr, const ngx_str_t *slug);

/*
 * What stands for a byte of an error's description (RFC 6749, 5.2): ASCII,
 * without '"' and "\".
 */
#define ngx_svc_oauth_description(c)                                          \
    ((c) == '"' ? '\'' : (c) < ' ' || (c) > '~' || (c) == '\\' ? '?' : (c))

/* The row of a table with the name that a verdict begins with; or NULL. */
const ngx_svc_oauth_verdict_t *ngx_svc_oauth_verdict(
    const ngx_svc_oauth_verdict_t *table, const ngx_str_t *verdict);


#endif /* _NGX_SVC_OAUTH_H_INCLUDED_ */
