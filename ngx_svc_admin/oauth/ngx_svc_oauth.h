/*
 * What the requests under /oauth share: the form, the client, and how verdicts
 * of PostgreSQL are answered.
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


#define NGX_SVC_OAUTH_JTI        20     /* hex digits of a jti after its time */
#define NGX_SVC_OAUTH_SCOPE_MAX  4096   /* bytes, in a token */

/* Returns 1 for the clientId of an agent. */
#define ngx_svc_oauth_agent(id)  ((id)->data[1] == 'g')


typedef struct ngx_svc_oauth_s  ngx_svc_oauth_t;
typedef struct ngx_svc_oauth_asserted_s  ngx_svc_oauth_asserted_t;
typedef struct ngx_svc_oauth_jwts_s  ngx_svc_oauth_jwts_t;
typedef struct ngx_svc_oauth_issued_s  ngx_svc_oauth_issued_t;


/* How a verdict is answered. */

typedef struct {
    const char                    *name;    /* NULL ends the table */
    ngx_svc_error_e                kind;
    const char                    *detail;  /* "%V" at most once: what the
                                               verdict has after its name and
                                               a space */
    const char                    *anomaly; /* type, if an agent is refused;
                                               or NULL */
    const char                    *reason;  /* of a refused delegation in the
                                               journal; or NULL */
} ngx_svc_oauth_verdict_t;


/*
 * The first statement of each transaction: it finds the client by a digest,
 * and sets the tenant for the statements after it.  It returns no row if there
 * is no such client.  Its "tenant" is NULL, and none is set, if the secret has
 * been retired, or if the location is another tenant's.
 *
 * _ASYNC: a crash of PostgreSQL may lose what is committed by it; a token that
 * is lost is dead.  _ANY records refusals: it also finds the client of a
 * retired secret, and tells the audit log which client acts, and from where.
 */

typedef enum {
    NGX_SVC_OAUTH_LOGIN_SYNC = 0,
    NGX_SVC_OAUTH_LOGIN_ASYNC,
    NGX_SVC_OAUTH_LOGIN_ANY
} ngx_svc_oauth_login_e;


/* What a client presents to authenticate. */

typedef struct {
    ngx_str_t                      id;
    ngx_str_t                      digest;  /* NGX_SVC_SHA256_LEN bytes;
                                               empty: no client of ours can
                                               have it */
    ngx_str_t                      public;  /* a boolean: the clientId is all */
    ngx_uint_t                     basic;   /* 1: in an Authorization header */
    ngx_svc_oauth_asserted_t      *asserted;    /* the client's JWT; or NULL */
    ngx_str_t                      slug;    /* the tenant's that aud names;
                                               else empty */
    ngx_str_t                      once;    /* digest of the assertion's
                                               "jti"; no data: none */
} ngx_svc_oauth_client_t;


/* Values of o->fault, a parameter of a grant's statement; also the verdicts. */

#define NGX_SVC_OAUTH_FAULT_TARGET  "fault_target"
#define NGX_SVC_OAUTH_FAULT_SCOPE   "fault_scope"


/*
 * A grant type of POST /oauth/token.  Its check looks at the parameters, and
 * returns NGX_OK, NGX_DECLINED with sr->error set, or NGX_ERROR.  The client
 * may learn that a target or a scope is wrong only after faults of the client
 * and of the grant: the check leaves such a fault in o->fault.  The statements
 * below come after the client's, and only read.
 */

typedef struct {
    ngx_str_t                      name;
    ngx_svc_metric_e               metric;  /* tokens given; the next one
                                               counts refusals */
    ngx_int_t                    (*check)(ngx_svc_oauth_t *o);
    ngx_svc_oauth_login_e          login;
    const ngx_svc_pg_statement_t  *statement;

    /*
     * Reads the token or code that is presented, before "statement"; jwt: used
     * in place of first if that is a JWT.  NULL: none.
     */
    const ngx_svc_pg_statement_t  *first;
    const ngx_svc_pg_statement_t  *jwt;

    /*
     * Used in place of "statement" if o->wider; wider_alone: 1: first and jwt
     * are left out then, too.
     */
    const ngx_svc_pg_statement_t  *wider;
    ngx_uint_t                     wider_alone;

    /*
     * Adds calls for presented tokens, after the client's and before the
     * others.  Returns NGX_OK or NGX_ERROR.  May be NULL.
     */
    ngx_int_t                    (*rows)(ngx_svc_oauth_t *o);

    /*
     * Decides by the statement's row, and answers; returns what a reply does.
     */
    ngx_int_t                    (*decide)(ngx_svc_oauth_t *o, PGresult *res);

    /*
     * Adds a call to the op that records a refusal with a reason.  May be
     * NULL.
     */
    ngx_int_t                    (*journal)(ngx_svc_oauth_t *o);

    /*
     * Adds an ID token to o->jwts, if the client gets one.  Returns NGX_OK or
     * NGX_ERROR.  May be NULL.
     */
    ngx_int_t                    (*id_token)(ngx_svc_oauth_t *o);

    /*
     * Adds members to an answer after the token's.  Returns NGX_OK or
     * NGX_ERROR.  May be NULL.
     */
    ngx_int_t                    (*more)(ngx_svc_oauth_t *o,
                                     ngx_svc_json_writer_t *w);
} ngx_svc_oauth_grant_t;


/*
 * sr->data of a request.  It and all that it points to are in the request's
 * pool.
 */

struct ngx_svc_oauth_s {
    ngx_svc_request_t             *sr;
    ngx_svc_form_t                 form;
    ngx_svc_oauth_client_t         client;
    const ngx_svc_oauth_grant_t   *grant;

    /* Statements that were added to the latest op that has one; or NULL. */

    const ngx_svc_pg_statement_t  *login;       /* finds the client */
    const ngx_svc_pg_statement_t  *first;       /* the grant's first or jwt */
    const ngx_svc_pg_statement_t  *statement;   /* whose row decide gets */
    const ngx_svc_pg_statement_t  *looks;       /* tells proof_seen and
                                                   assertion_seen */
    ngx_uint_t                     wider;       /* 1: the grant's wider
                                                   statement is needed */
    const ngx_svc_oauth_verdict_t *verdict;     /* how a refusal is answered;
                                                   NULL: the client's secret
                                                   is not good */
    ngx_str_t                      refused;     /* the verdict's text */
    ngx_str_t                      fault_detail;    /* the fault's detail */

    /* Parameters of statements; no data is NULL. */

    ngx_str_t                      scopes;      /* text of an array, sorted */
    ngx_str_t                      resource;    /* as the client wrote it */
    ngx_str_t                      resource_key;
    ngx_str_t                      ip;
    ngx_str_t                      country;
    ngx_str_t                      request_id;
    ngx_str_t                      fault;       /* NGX_SVC_OAUTH_FAULT_* */
    ngx_str_t                      issuer;      /* up to the tenant's slug */
    ngx_str_t                      details;     /* of an anomaly, JSON */
    ngx_str_t                      anomaly;     /* the anomaly's type */

    /*
     * The token that is presented, and what goes on when its key has been
     * read.
     */

    ngx_svc_oauth_bearer_t         token;
    ngx_int_t                    (*presented_calls)(ngx_svc_request_t *sr);
    ngx_int_t                    (*presented_reply)(ngx_svc_request_t *sr);
    ngx_uint_t                     walks;       /* failed rounds of revoking
                                                   what was exchanged from it */

    ngx_str_t                      about;       /* the user whose claims are
                                                   read: NGX_SVC_UUID_LEN
                                                   bytes */

    /* Parts of the token that may be issued. */

    ngx_str_t                      jti;         /* NGX_SVC_OAUTH_JTI digits */
    ngx_str_t                      secret;      /* an opaque token's; wiped */
    ngx_str_t                      secret_hash;
    ngx_str_t                      jkt;         /* of the DPoP proof's key */
    ngx_str_t                      once;        /* digest of jkt and "jti" */
    unsigned                       once_spent:1;    /* 1: an op has spent
                                                       proof and assertion */
    unsigned                       proof_seen:1;    /* 1: used before */
    unsigned                       assertion_seen:1;    /* 1: used before */
    ngx_str_t                      access_token;    /* as the answer has it */
    ngx_str_t                      id_token;        /* as the answer has it;
                                                       no data: none */
    ngx_svc_oauth_jwts_t          *jwts;        /* to be signed */
    ngx_int_t                    (*signed_by)(ngx_svc_oauth_t *o, ngx_int_t rc);
                                                /* called after the thread */
    const ngx_svc_oauth_issued_t  *issued;      /* the token that is answered */
    ngx_str_t                      once_seconds;    /* for which once is kept */

    /* A key that is made because the tenant has none yet. */

    const ngx_svc_pg_statement_t  *key_first;   /* stores it */
    ngx_str_t                      kid;
    ngx_str_t                      jwk;
    ngx_str_t                      sealed;
    ngx_str_t                      ec_kid;      /* of P-256, beside RSA's */
    ngx_str_t                      ec_jwk;
    ngx_str_t                      ec_sealed;

    ngx_str_t                      tenant;      /* NGX_SVC_UUID_LEN bytes,
                                                   once the client is known */
    ngx_uint_t                     rounds;      /* times it was read again */
    void                          *data;        /* the grant type's */
};

#define ngx_svc_oauth_param(field)                                            \
    ngx_svc_param_data(ngx_svc_oauth_t, field)

/*
 * Binds an ngx_str_t of the struct that o->data points to: NULL if it has no
 * data.
 */
#define ngx_svc_oauth_data_param(type, field)                                 \
    { .bind = ngx_svc_oauth_bind_data, .offset = offsetof(type, field) }

ngx_svc_bind_function(ngx_svc_oauth_bind_data);


/*
 * For a prepare: makes sr->data, reads the form, and adds the answer's
 * headers.  No parameter but "resource" and "audience" may come twice, and
 * none may be in the query.  Returns NGX_OK; NGX_DECLINED with sr->error set;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_begin(ngx_svc_request_t *sr, ngx_svc_oauth_t **o);

/* Does the same with an o that is there, and knows its issuer. */
ngx_int_t ngx_svc_oauth_begin_form(ngx_svc_oauth_t *o);

/*
 * Checks that the Content-Type is a form's.  Returns NGX_OK, or NGX_DECLINED
 * with sr->error set.
 */
ngx_int_t ngx_svc_oauth_type(ngx_svc_request_t *sr);

/*
 * Gets a parameter; no data: it is absent.  Returns as ngx_svc_oauth_begin()
 * does.
 */
ngx_int_t ngx_svc_oauth_value(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value);

/* Does the same, and refuses a request without the parameter. */
ngx_int_t ngx_svc_oauth_needed(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value);

/*
 * Reads "scope" into o->scopes, sorted and each scope once.  Returns as
 * ngx_svc_oauth_begin() does.
 */
ngx_int_t ngx_svc_oauth_scope(ngx_svc_oauth_t *o);

/*
 * Reads "resource", which may come once, into o->resource and its key.
 * Returns as ngx_svc_oauth_begin() does.
 */
ngx_int_t ngx_svc_oauth_resource(ngx_svc_oauth_t *o);

/*
 * For a check: takes what one of those two has returned.  The first fault of a
 * target or a scope is kept in o->fault, for the verdict, and sr->error is
 * cleared: NGX_OK is returned then; else rc.
 */
ngx_int_t ngx_svc_oauth_later(ngx_svc_oauth_t *o, ngx_int_t rc);

/*
 * Writes a text of scopes as the text of an array in *array.  Returns as
 * ngx_svc_oauth_begin() does.
 */
ngx_int_t ngx_svc_oauth_scopes(ngx_svc_request_t *sr, const ngx_str_t *text,
    ngx_str_t *array);

/*
 * Sets o->resource, and o->resource_key, which is the same however the URI is
 * written; or refuses by invalid_target, and o->resource_key has no data.
 */
ngx_int_t ngx_svc_oauth_target(ngx_svc_oauth_t *o, const ngx_str_t *uri);

/*
 * Sets the caller's address and country, and the request's id.  Returns NGX_OK
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_caller(ngx_svc_oauth_t *o);

/*
 * Adds the headers that let pages of any origin read the answer.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_any_origin(ngx_svc_request_t *sr);

/*
 * Adds the headers that all answers of a route with a form have.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_headers(ngx_svc_request_t *sr);

/* Copies bytes into the request's pool.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_bytes(ngx_svc_request_t *sr, ngx_str_t *dst,
    const u_char *data, size_t len);

/* Does the same with a value; a value without data stays without data. */
ngx_int_t ngx_svc_oauth_copy(ngx_svc_request_t *sr, ngx_str_t *dst,
    const ngx_str_t *value);

/*
 * Returns the slug of a path below an issuer, which may be no tenant's; else
 * an empty one.
 */
ngx_str_t ngx_svc_oauth_slug(ngx_svc_request_t *sr);

/*
 * Returns the issuer of the tenant with that slug, in the request's pool; no
 * data: memory ran out.
 */
ngx_str_t ngx_svc_oauth_issuer(ngx_svc_request_t *sr, const ngx_str_t *slug);

/*
 * Returns the byte that stands for c in the description of an error (RFC 6749,
 * 5.2): ASCII without '"' and "\".
 */
#define ngx_svc_oauth_description(c)                                          \
    ((c) == '"' ? '\'' : (c) < ' ' || (c) > '~' || (c) == '\\' ? '?' : (c))

/* Returns the row whose name the verdict begins with; or NULL. */
const ngx_svc_oauth_verdict_t *ngx_svc_oauth_verdict(
    const ngx_svc_oauth_verdict_t *table, const ngx_str_t *verdict);


#endif /* _NGX_SVC_OAUTH_H_INCLUDED_ */
