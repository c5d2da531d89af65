/*
 * Bearer tokens that /v1 hands out.
 */

#include "ngx_svc_admin_new_token.h"
#include "ngx_svc_admin_secret.h"


ngx_int_t
ngx_svc_admin_token_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_secret_t  *secret;

    secret = ngx_svc_admin_secret_new(sr, param->text);
    if (secret == NULL) {
        return NGX_ERROR;
    }

    sr->data = secret;

    ngx_svc_pg_bind(call, secret->hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_admin_token_bind_shown(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_secret_t  *secret;

    secret = sr->data;

    ngx_svc_pg_bind(call, secret->text.data, param->n);

    return NGX_OK;
}


void
ngx_svc_admin_token_secret(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    ngx_svc_admin_secret_t  *secret;

    secret = sr->data;

    ngx_svc_json_secret(w, "secret", secret->text.data, secret->text.len);
}
