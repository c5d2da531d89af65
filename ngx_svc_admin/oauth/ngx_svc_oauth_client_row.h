/*
 * A client's row, on which the grant types decide, and what they all decide on
 * it.
 */

#ifndef _NGX_SVC_OAUTH_CLIENT_ROW_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLIENT_ROW_H_INCLUDED_


#include "ngx_svc_oauth_issue.h"
#include "ngx_svc_pg_array.h"


typedef enum {
    NGX_SVC_OAUTH_CLIENT_SLUG = 0,
    NGX_SVC_OAUTH_CLIENT_METHOD,
    NGX_SVC_OAUTH_CLIENT_SUSPENDED,
    NGX_SVC_OAUTH_CLIENT_STATE,
    NGX_SVC_OAUTH_CLIENT_GRANTS,
    NGX_SVC_OAUTH_CLIENT_SCOPES,
    NGX_SVC_OAUTH_CLIENT_FORMAT,
    NGX_SVC_OAUTH_CLIENT_TTL,
    NGX_SVC_OAUTH_CLIENT_MAX_TTL,
    NGX_SVC_OAUTH_CLIENT_TTL_LEFT,
    NGX_SVC_OAUTH_CLIENT_DPOP,
    NGX_SVC_OAUTH_CLIENT_KID,
    NGX_SVC_OAUTH_CLIENT_ALLOWED_SCOPES,
    NGX_SVC_OAUTH_CLIENT_ALLOWED,
    NGX_SVC_OAUTH_CLIENT_ALLOWED_KEYS,
    NGX_SVC_OAUTH_CLIENT_NOW,
    NGX_SVC_OAUTH_CLIENT_COLUMNS        /* the grant's own ones begin */
} ngx_svc_oauth_client_column_e;


/* It lives as long as the result; the arrays are of the request's pool. */

typedef struct {
    PGresult                *res;           /* of ..._read() alone */
    ngx_svc_pg_array_t       grants;
    ngx_svc_pg_array_t       scopes;
    ngx_svc_pg_array_t       allowed_scopes;
    ngx_svc_pg_array_t       allowed;       /* audiences, */
    ngx_svc_pg_array_t       allowed_keys;  /*     and their keys */
    ngx_str_t                slug;          /* of its tenant */
    const char              *state;         /* why it may not act; NULL */
    unsigned                 public:1;      /* it has no secret */
    unsigned                 suspended:1;   /* its tenant is */
    unsigned                 dpop:1;        /* it must show a proof */
    unsigned                 scope_ceiling:1;
    unsigned                 audience_ceiling:1;
    unsigned                 ignores:1;     /* scopes that it does not have;
                                               for the caller to say */
    ngx_str_t                refused;       /* a scope, with its verdict */
} ngx_svc_oauth_client_row_t;


/* Of a result that has a row.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_client_row_read(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_client_row_t *row);

/*
 * The verdicts that come first, in their order, each a name of the verdicts of
 * ngx_svc_oauth_refuse(); NULL: none.  What is shown once is looked at
 * by then: see ngx_svc_oauth_once_take().
 */
const char *ngx_svc_oauth_client_row_judge(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row);

/*
 * For a check, of a grant with a wider statement, which is for agents and for
 * resources: 1 if the client, or what it asks for, is one.
 */
ngx_uint_t ngx_svc_oauth_client_row_wider(ngx_svc_oauth_t *o);

/* 1: a scope of users, which a client's own token, or an actor's, never has. */
ngx_uint_t ngx_svc_oauth_client_row_of_users(const ngx_str_t *scope);

/*
 * Takes out of what is asked for the scopes of OpenID Connect that are not in
 * given, for which nobody is refused, and if the client ignores them those that
 * it does not have.  NGX_OK; NGX_DECLINED with row->refused: there were some of
 * the latter, and nothing is left.
 */
ngx_int_t ngx_svc_oauth_client_row_ignore(ngx_svc_oauth_client_row_t *row,
    ngx_svc_pg_array_t *asked, const ngx_svc_pg_array_t *given);

/* 1: the target, or a scope, cannot be one: see o->fault. */
ngx_uint_t ngx_svc_oauth_client_row_fault(ngx_svc_oauth_t *o,
    const char *fault);

/* Seconds that a token of the client lives today. */
ngx_int_t ngx_svc_oauth_client_row_ttl(const ngx_svc_oauth_client_row_t *row);

/*
 * Joins scopes by spaces, in *text, of the pool.  NGX_OK; NGX_DECLINED: they
 * are too many for a token; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_row_scope(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *scopes, ngx_str_t *text);

/*
 * 1: the key is that of the tenant's issuer, which a token has no audience for;
 * 0; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_client_row_issuer(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row, const ngx_str_t *key);

/*
 * For a decide: refuses by a verdict, with what a ceiling allows of what it has
 * refused.  Returns what a reply does.
 */
ngx_int_t ngx_svc_oauth_client_row_refuse(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row, const char *verdict);


#endif /* _NGX_SVC_OAUTH_CLIENT_ROW_H_INCLUDED_ */
