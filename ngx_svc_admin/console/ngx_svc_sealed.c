/*
 * Secrets that a tenant configures, sealed under svc_key_file.
 */

#include "ngx_svc_sealed.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_SEALED_WHAT  32     /* bytes of a name, at most */


static const ngx_svc_keys_t *ngx_svc_sealed_keys(ngx_svc_request_t *sr);


ngx_int_t
ngx_svc_sealed_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t         rc;
    ngx_str_t         sealed;
    ngx_svc_value_t  *value;

    value = (ngx_svc_value_t *) ((u_char *) body + param->offset);

    if (!value->set || value->null) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    rc = ngx_svc_sealed_make(sr, param->text, &value->str, &sealed);

    if (rc == NGX_OK) {
        ngx_svc_pg_bind(call, sealed.data, sealed.len);
    }

    return rc;
}


ngx_int_t
ngx_svc_sealed_make(ngx_svc_request_t *sr, const char *what,
    const ngx_str_t *secret, ngx_str_t *sealed)
{
    u_char                *p;
    u_char                 aad[NGX_SVC_SEALED_WHAT + 1 + NGX_SVC_UUID_TEXT_LEN];
    const ngx_svc_keys_t  *keys;

    keys = ngx_svc_sealed_keys(sr);

    if (keys == NULL) {
        return NGX_DECLINED;
    }

    p = ngx_cpystrn(aad, (u_char *) what, NGX_SVC_SEALED_WHAT + 1);
    *p++ = ':';
    p = ngx_svc_uuid_text(p, sr->new_id);

    sealed->data = ngx_pnalloc(sr->request->pool,
                               secret->len + NGX_SVC_SEAL_OVERHEAD);
    if (sealed->data == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_seal(keys, secret->data, secret->len, aad, p - aad,
                        sealed->data, &sealed->len);
}


ngx_int_t
ngx_svc_sealed_able(ngx_svc_request_t *sr)
{
    return ngx_svc_sealed_keys(sr) ? NGX_OK : NGX_DECLINED;
}


/* NULL with sr->error: there are none. */

static const ngx_svc_keys_t *
ngx_svc_sealed_keys(ngx_svc_request_t *sr)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    if (smcf->keys.n) {
        return &smcf->keys;
    }

    ngx_log_error(NGX_LOG_ERR, sr->request->connection->log, 0,
                  "svc: a secret that a tenant configures cannot be sealed: "
                  "set \"svc_key_file\"");

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "Secrets cannot be kept here: an operator has to set "
                        "\"svc_key_file\".");

    return NULL;
}
