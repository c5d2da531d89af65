/*
 * What introspection answers of a token (RFC 7662, 2.2).
 */

#ifndef _NGX_SVC_OAUTH_INTROSPECTED_H_INCLUDED_
#define _NGX_SVC_OAUTH_INTROSPECTED_H_INCLUDED_


#include "ngx_svc_oauth_issue.h"


/* Of one that is active, as text.  No data: it is left out. */

typedef struct {
    ngx_str_t  sub;
    ngx_str_t  client_id;
    ngx_str_t  scope;
    ngx_str_t  exp;
    ngx_str_t  iss;             /* and what is below: of an access token */
    ngx_str_t  aud;
    ngx_str_t  iat;
    ngx_str_t  jti;
    ngx_str_t  chain;
    ngx_str_t  jkt;             /* bytes */
    ngx_str_t  auth_time;       /* of a user's */
    ngx_str_t  acr;
    ngx_uint_t access;
} ngx_svc_oauth_introspected_t;


/*
 * Sets exp and iat, of milliseconds, and jti, of NGX_SVC_UUID_LEN bytes: they
 * are of the pool.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_introspected_times(ngx_svc_oauth_t *o, int64_t ms,
    int64_t ends, u_char *jti, ngx_svc_oauth_introspected_t *token);

/* The bytes of a bytea's text, of the pool; no data: none.  As above. */
ngx_int_t ngx_svc_oauth_introspected_jkt(ngx_svc_oauth_t *o,
    const ngx_str_t *text, ngx_str_t *jkt);

/* For a reply, which returns what this does.  NULL: it is not active. */
ngx_int_t ngx_svc_oauth_introspected_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_introspected_t *token);


#endif /* _NGX_SVC_OAUTH_INTROSPECTED_H_INCLUDED_ */
