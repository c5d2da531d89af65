/*
 * Bearer tokens that /v1 hands out: a row of svc.credential, its secret shown
 * once.
 */

#ifndef _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_
#define _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_


#include "ngx_svc_http.h"


/*
 * Of a route's statement: the SHA-256 of a new secret, which begins with the
 * prefix, a string; and what people know the token by, the beginning of that
 * secret.  The first one comes first, and makes sr->data.
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

/* The route's "more": the secret. */
void ngx_svc_admin_token_secret(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_ */
