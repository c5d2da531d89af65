/*
 * Access tokens: their ids and secrets, and what a client gets.
 */

#ifndef _NGX_SVC_OAUTH_ISSUE_H_INCLUDED_
#define _NGX_SVC_OAUTH_ISSUE_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/*
 * Makes o->jti, for the token that the request may get.  Call it in the
 * prepare.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_issue_new(ngx_svc_oauth_t *o);

/*
 * Makes o->secret and o->secret_hash, for an opaque token with a row, unless
 * they are there.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_issue_secret(ngx_svc_oauth_t *o);

/*
 * Sets *text to the UUID that o->jti makes with a time in ms, as text of the
 * request's pool.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_issue_jti_at(ngx_svc_oauth_t *o, int64_t ms,
    ngx_str_t *text);

/* What an answer and a JWT say of an access token.  No data: it has none. */

struct ngx_svc_oauth_issued_s {
    ngx_str_t  opaque;          /* the text of an opaque token that is sealed;
                                   none: o->secret is in it, or it is a JWT */
    ngx_str_t  format;          /* the client's: "opaque" or "jwt" */
    ngx_str_t  slug;            /* the tenant's */
    ngx_str_t  jti;             /* a UUID as text */
    int64_t    ms;              /* the time within jti */
    ngx_int_t  ttl;             /* seconds */
    ngx_str_t  client_id;
    ngx_str_t  subject;
    ngx_str_t  scope;           /* with spaces between the scopes */
    ngx_str_t  audience;        /* none: the issuer */
    ngx_str_t  chain;           /* clientIds with spaces between them */
    ngx_str_t  auth_time;       /* of the user's sign-in: digits */
    ngx_str_t  acr;             /* of the user's sign-in */
    ngx_str_t  kid;             /* of the key that signs a JWT */
    ngx_str_t  sealed;          /* that private key, if the worker lacks it */
};

/*
 * Sets o->access_token to an opaque token, or adds a JWT to o->jwts, which sets
 * it when it is signed.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_issue_token(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token);

/* Writes the members access_token, token_type, expires_in and scope. */
void ngx_svc_oauth_issue_write(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token, ngx_svc_json_writer_t *w);

/*
 * For an answer and for a JWT.  _act() writes the member "act" of a chain:
 * clientIds with spaces between them.  _bound() writes "token_type" and, if
 * there is a jkt, which has NGX_SVC_SHA256_LEN bytes, "cnf".
 */
void ngx_svc_oauth_issue_act(ngx_svc_json_writer_t *w, const ngx_str_t *chain);
void ngx_svc_oauth_issue_bound(ngx_svc_json_writer_t *w, const ngx_str_t *jkt);


#endif /* _NGX_SVC_OAUTH_ISSUE_H_INCLUDED_ */
