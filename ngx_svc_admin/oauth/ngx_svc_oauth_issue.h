/*
 * Access tokens: as rows of svc.oauth_token, and as what a client gets.
 */

#ifndef _NGX_SVC_OAUTH_ISSUE_H_INCLUDED_
#define _NGX_SVC_OAUTH_ISSUE_H_INCLUDED_


#include "ngx_svc_oauth_client.h"


/* For a prepare: the id of a token that may come of it; or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_issue_new(ngx_svc_oauth_t *o);

/* The secret of an opaque one that has a row, unless it is there; likewise. */
ngx_int_t ngx_svc_oauth_issue_secret(ngx_svc_oauth_t *o);

/* The id of such a token of a time, in ms, as text of the pool; likewise. */
ngx_int_t ngx_svc_oauth_issue_jti_at(ngx_svc_oauth_t *o, int64_t ms,
    ngx_str_t *text);

/* What is answered of a token.  No data: there is none of it. */

struct ngx_svc_oauth_issued_s {
    ngx_str_t  opaque;          /* its text; none: of o->secret, or a JWT */
    ngx_str_t  format;          /* as of the client */
    ngx_str_t  slug;            /* of its tenant */
    ngx_str_t  jti;             /* a UUID as text */
    int64_t    ms;              /* of the time within it */
    ngx_int_t  ttl;             /* seconds */
    ngx_str_t  client_id;
    ngx_str_t  subject;
    ngx_str_t  scope;           /* with spaces between them */
    ngx_str_t  audience;        /* none: the issuer */
    ngx_str_t  chain;           /* clientIds with spaces between them */
    ngx_str_t  auth_time;       /* digits */
    ngx_str_t  acr;             /* of the same sign-in */
    ngx_str_t  kid;             /* of a JWT: what signs it, */
    ngx_str_t  sealed;          /*     and that, where the worker lacks it */
};

/*
 * Sets o->access_token of an opaque one, and adds a JWT to o->jwts.  NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_issue_token(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token);

/* Writes the members access_token, token_type, expires_in and scope. */
void ngx_svc_oauth_issue_write(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token, ngx_svc_json_writer_t *w);

/*
 * Of an answer and of a JWT: "act" of a chain, clientIds with spaces between
 * them; "token_type", of jkt, NGX_SVC_SHA256_LEN bytes or none, and "cnf" with
 * it.
 */
void ngx_svc_oauth_issue_act(ngx_svc_json_writer_t *w, const ngx_str_t *chain);
void ngx_svc_oauth_issue_bound(ngx_svc_json_writer_t *w, const ngx_str_t *jkt);


#endif /* _NGX_SVC_OAUTH_ISSUE_H_INCLUDED_ */
