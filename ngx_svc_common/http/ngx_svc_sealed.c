/*
 * Secrets that a tenant configures, sealed under svc_key_file.
 */

#include "ngx_svc_sealed.h"
#include "ngx_svc_header.h"
#include "ngx_svc_hex.h"


#define NGX_SVC_SEALED_WHAT  32     /* bytes of a name, at most */


/* The associated data of a sealed text. */

typedef struct {
    u_char    text[NGX_SVC_SEALED_WHAT + 1 + NGX_SVC_UUID_TEXT_LEN];
    size_t    len;
} ngx_svc_sealed_aad_t;


static void ngx_svc_sealed_new_id(ngx_svc_request_t *sr, u_char *text,
    ngx_str_t *id);
static ngx_int_t ngx_svc_sealed_member(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body,
    const ngx_str_t *id);
static ngx_int_t ngx_svc_sealed_for(ngx_svc_request_t *sr, const char *what,
    const ngx_str_t *id, const ngx_str_t *secret, ngx_str_t *sealed);
static ngx_int_t ngx_svc_sealed_aad(ngx_svc_sealed_aad_t *aad,
    const char *what, const ngx_str_t *id);
static const ngx_svc_keys_t *ngx_svc_sealed_keys(void);
static void ngx_svc_sealed_log(ngx_svc_request_t *sr, const char *what,
    const u_char *tenant, const ngx_str_t *key);


ngx_int_t
ngx_svc_sealed_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char     text[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t  id;

    ngx_svc_sealed_new_id(sr, text, &id);

    return ngx_svc_sealed_member(sr, call, param, body, &id);
}


ngx_int_t
ngx_svc_sealed_bind_path(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    return ngx_svc_sealed_member(sr, call, param, body,
                                 &sr->params[param->n]);
}


static ngx_int_t
ngx_svc_sealed_member(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body, const ngx_str_t *id)
{
    ngx_int_t         rc;
    ngx_str_t         sealed;
    ngx_svc_value_t  *value;

    value = (ngx_svc_value_t *) ((u_char *) body + param->offset);

    if (!value->set || value->null) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    rc = ngx_svc_sealed_for(sr, param->text, id, &value->str, &sealed);

    if (rc == NGX_OK) {
        ngx_svc_pg_bind(call, sealed.data, sealed.len);
    }

    return rc;
}


ngx_int_t
ngx_svc_sealed_make(ngx_svc_request_t *sr, const char *what,
    const ngx_str_t *secret, ngx_str_t *sealed)
{
    u_char     text[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t  id;

    ngx_svc_sealed_new_id(sr, text, &id);

    return ngx_svc_sealed_for(sr, what, &id, secret, sealed);
}


static void
ngx_svc_sealed_new_id(ngx_svc_request_t *sr, u_char *text, ngx_str_t *id)
{
    id->data = text;
    id->len = ngx_svc_uuid_text(text, sr->new_id) - text;
}


static ngx_int_t
ngx_svc_sealed_for(ngx_svc_request_t *sr, const char *what,
    const ngx_str_t *id, const ngx_str_t *secret, ngx_str_t *sealed)
{
    if (ngx_svc_sealed_able(sr) != NGX_OK) {
        return NGX_DECLINED;
    }

    sealed->data = ngx_pnalloc(sr->request->pool,
                               secret->len + NGX_SVC_SEAL_OVERHEAD);
    if (sealed->data == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_sealed_seal(what, id, secret, sealed->data, &sealed->len);
}


ngx_int_t
ngx_svc_sealed_able(ngx_svc_request_t *sr)
{
    if (ngx_svc_sealed_keys()->n) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_ERR, sr->request->connection->log, 0,
                  "svc: a secret that a tenant configures cannot be sealed: "
                  "set \"svc_key_file\"");

    return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "Secrets cannot be kept here: an operator has to set "
                        "\"svc_key_file\".");
}


ngx_int_t
ngx_svc_sealed_seal(const char *what, const ngx_str_t *id,
    const ngx_str_t *secret, u_char *out, size_t *len)
{
    ngx_svc_sealed_aad_t  aad;

    if (ngx_svc_sealed_aad(&aad, what, id) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_seal(ngx_svc_sealed_keys(), secret->data, secret->len,
                        aad.text, aad.len, out, len);
}


/*
 * The overhead is that of the longest id of a key: with a shorter one the text
 * may be longer than out, so it is unsealed into a buffer first.
 */

ngx_int_t
ngx_svc_sealed_open(const char *what, const ngx_str_t *id,
    const ngx_str_t *column, u_char *out, size_t *len)
{
    u_char                sealed[NGX_SVC_SEALED_MAX + NGX_SVC_SEAL_OVERHEAD];
    u_char                text[sizeof(sealed)];
    size_t                n;
    ngx_int_t             rc;
    ngx_svc_sealed_aad_t  aad;

    n = ngx_min(*len, NGX_SVC_SEALED_MAX) + NGX_SVC_SEAL_OVERHEAD;

    if (ngx_svc_sealed_aad(&aad, what, id) != NGX_OK
        || ngx_svc_hex_bytea(column, sealed, &n) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    rc = ngx_svc_unseal(ngx_svc_sealed_keys(), sealed, n, aad.text, aad.len,
                        text, &n);

    if (rc == NGX_OK && n > *len) {
        rc = NGX_DECLINED;
    }

    if (rc == NGX_OK) {
        ngx_memcpy(out, text, n);
        *len = n;
    }

    ngx_explicit_memzero(text, sizeof(text));

    return rc;
}


ngx_int_t
ngx_svc_sealed_text(ngx_svc_request_t *sr, ngx_pool_t *pool,
    const char *what, const ngx_str_t *id, const ngx_str_t *column,
    const char *name, const u_char *tenant, ngx_str_t *text)
{
    size_t      len;
    u_char     *p, *sealed;
    ngx_int_t   rc;

    len = ngx_min(column->len / 2, NGX_SVC_SEALED_MAX);
    p = ngx_pnalloc(pool, len);

    if (p == NULL || ngx_svc_wipe_later(pool, p, len) != NGX_OK) {
        return NGX_ERROR;
    }

    text->data = p;
    text->len = len;

    rc = ngx_svc_sealed_open(what, id, column, text->data, &text->len);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    ngx_str_null(text);

    len = column->len / 2;
    sealed = ngx_pnalloc(pool, len + 1);

    if (sealed == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_hex_bytea(column, sealed, &len) != NGX_OK) {
        len = 0;
    }

    ngx_svc_sealed_lost(sr, name, tenant, sealed, len);

    return NGX_DECLINED;
}


void
ngx_svc_sealed_lost(ngx_svc_request_t *sr, const char *what,
    const u_char *tenant, const u_char *sealed, size_t len)
{
    ngx_str_t  id;

    ngx_svc_sealed_log(sr, what, tenant,
                       ngx_svc_key_missing(ngx_svc_sealed_keys(), sealed, len,
                                           &id)
                       ? &id : NULL);
}


ngx_uint_t
ngx_svc_sealed_key_there(const ngx_str_t *id)
{
    return ngx_svc_key_known(ngx_svc_sealed_keys(), id);
}


void
ngx_svc_sealed_key_lost(ngx_svc_request_t *sr, const char *what,
    const u_char *tenant, const ngx_str_t *id)
{
    ngx_svc_sealed_log(sr, what, tenant, id);
}


static void
ngx_svc_sealed_log(ngx_svc_request_t *sr, const char *what,
    const u_char *tenant, const ngx_str_t *key)
{
    u_char     *p, of[NGX_SVC_UUID_TEXT_LEN];
    ngx_log_t  *log;
    ngx_str_t   request;

    p = of;
    *p = '-';
    p = tenant ? ngx_svc_uuid_text(of, tenant) : of + 1;

    ngx_str_set(&request, "-");
    log = ngx_cycle->log;

    if (sr) {
        request = ngx_svc_request_id(sr->request);
        log = sr->request->connection->log;
    }

    if (key) {
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "svc: %s cannot be unsealed: its key \"%V\" is not in "
                      "\"svc_key_file\", tenant: %*s, request id: %V", what,
                      key, (size_t) (p - of), of, &request);
        return;
    }

    ngx_log_error(NGX_LOG_ERR, log, 0,
                  "svc: %s cannot be unsealed: it is damaged, or another "
                  "row's, tenant: %*s, request id: %V", what,
                  (size_t) (p - of), of, &request);
}


static ngx_int_t
ngx_svc_sealed_aad(ngx_svc_sealed_aad_t *aad, const char *what,
    const ngx_str_t *id)
{
    u_char  *p;

    if (id->len != NGX_SVC_UUID_TEXT_LEN) {
        return NGX_DECLINED;
    }

    p = ngx_cpystrn(aad->text, (u_char *) what, NGX_SVC_SEALED_WHAT + 1);
    *p++ = ':';
    p = ngx_cpymem(p, id->data, NGX_SVC_UUID_TEXT_LEN);

    aad->len = p - aad->text;

    return NGX_OK;
}


static const ngx_svc_keys_t *
ngx_svc_sealed_keys(void)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    return &smcf->keys;
}
