/*
 * Claims about a user (OpenID Connect Core 1.0, 5.1 and 5.4): which of them
 * are wanted, where they are read, and how they are told.
 */

#ifndef _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_oauth_claim.h"
#include "ngx_svc_pg_array.h"


typedef struct {
    ngx_uint_t   wanted;        /* bits of claims */
    PGresult    *user;          /* a row with their columns */
    PGresult    *groups;        /* a row for each group; NULL: not wanted */
    const ngx_svc_pg_statement_t  *tells;   /* reads user; set before if the
                                               op has it anyhow; or NULL */
    ngx_str_t    auth_time;     /* the grant's, if it is wanted */
    ngx_str_t    acr;           /* the grant's, if it is wanted */
} ngx_svc_oauth_claims_t;


/* Returns the bits of the claims that these scopes ask for. */
ngx_uint_t ngx_svc_oauth_claims_of(const ngx_svc_pg_array_t *scopes);

/*
 * Sets o->about, in the pool, to the id that a text is.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_claims_about(ngx_svc_oauth_t *o,
    const ngx_str_t *user_id);

/* Returns 1 if a claim is wanted that the user's row has. */
ngx_uint_t ngx_svc_oauth_claims_of_row(const ngx_svc_oauth_claims_t *claims);

/*
 * Adds calls to the op that read what is wanted of the user o->about; the row
 * is not read if claims->tells reads it already.  Groups are told as the
 * application o->client.id wants them.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_claims_calls(ngx_svc_oauth_t *o,
    ngx_svc_oauth_claims_t *claims);

/* For a reply: takes the results of those calls. */
void ngx_svc_oauth_claims_take(ngx_svc_oauth_t *o,
    ngx_svc_oauth_claims_t *claims);

/* Writes the members; a claim whose value is not known is left out. */
void ngx_svc_oauth_claims_write(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_claims_t *claims);

/*
 * For a reply of userinfo, which returns what this does: sends the claims, and
 * the actors.
 */
ngx_int_t ngx_svc_oauth_claims_send(ngx_svc_request_t *sr,
    const ngx_svc_oauth_claims_t *claims, const ngx_svc_pg_array_t *chain);


#endif /* _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_ */
