/*
 * Claims about a user (OpenID Connect Core 1.0, 5.1 and 5.4): which there are,
 * where they are read, and as what they are told.
 */

#ifndef _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_oauth_claim.h"
#include "ngx_svc_pg_array.h"


typedef struct {
    ngx_uint_t   wanted;        /* bits */
    PGresult    *user;          /* a row with their columns */
    PGresult    *groups;        /* a row for each; NULL: not wanted */
    const ngx_svc_pg_statement_t  *tells;   /* what reads the former, which the
                                               op may have before; or NULL */
    ngx_str_t    auth_time;     /* of the grant, */
    ngx_str_t    acr;           /*     if they are wanted */
} ngx_svc_oauth_claims_t;


/* The claims that these scopes ask for, "sub" among them. */
ngx_uint_t ngx_svc_oauth_claims_of(const ngx_svc_pg_array_t *scopes);

/* Sets o->about, of the pool, of an id as text.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_claims_about(ngx_svc_oauth_t *o,
    const ngx_str_t *user_id);

/* 1: something is wanted that the user's row has. */
ngx_uint_t ngx_svc_oauth_claims_of_row(const ngx_svc_oauth_claims_t *claims);

/*
 * Adds calls that read what is wanted of the user o->about to the op, but of
 * the row if something tells that; groups are told as the application
 * o->client.id wants them.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_claims_calls(ngx_svc_oauth_t *o,
    ngx_svc_oauth_claims_t *claims);

/* For a reply: of those calls the results. */
void ngx_svc_oauth_claims_take(ngx_svc_oauth_t *o,
    ngx_svc_oauth_claims_t *claims);

/* The members; what is not known is none. */
void ngx_svc_oauth_claims_write(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_claims_t *claims);

/*
 * For a reply of userinfo, which returns what this does: the claims, and who
 * acts for the user.
 */
ngx_int_t ngx_svc_oauth_claims_send(ngx_svc_request_t *sr,
    const ngx_svc_oauth_claims_t *claims, const ngx_svc_pg_array_t *chain);


#endif /* _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_ */
