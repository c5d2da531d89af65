/*
 * Bearer tokens that /v1 hands out: rows of svc.credential, whose secret is
 * shown once.
 */

#ifndef _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_
#define _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_


#include "ngx_svc_http.h"


/*
 * Parameters of a route's statement.  ngx_svc_param_new_token() makes a new
 * secret that begins with the prefix, a string, puts it into sr->data, and
 * binds its SHA-256; it must come first.  ngx_svc_param_token_shown() binds the
 * beginning of that secret, by which people know the token.
 */

#define ngx_svc_param_new_token(prefix)                                       \
    { .bind = ngx_svc_admin_token_bind, .text = prefix }
#define ngx_svc_param_token_shown(prefix)                                     \
    { .bind = ngx_svc_admin_token_bind_shown,                                 \
      .n = sizeof(prefix "pX3a") - 1 }

ngx_int_t ngx_svc_admin_token_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_admin_token_bind_shown(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* The "more" hook of the route: writes the secret. */
void ngx_svc_admin_token_secret(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_ */
