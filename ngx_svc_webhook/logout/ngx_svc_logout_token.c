/*
 * Logout tokens (OpenID Connect Back-Channel Logout 1.0, 2.4).
 */

#include "ngx_svc_logout_token.h"

#include "ngx_svc_conf.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_jws_rsa.h"
#include "ngx_svc_oauth_sid.h"


#define NGX_SVC_LOGOUT_TTL     120          /* s, as 2.4 recommends */
#define NGX_SVC_LOGOUT_HEADER  128          /* bytes of a JWT's header */
#define NGX_SVC_LOGOUT_SEALED  (NGX_SVC_JWK_DER_MAX + NGX_SVC_SEAL_OVERHEAD)

/* A key is sealed for this, see ngx_svc_oauth_key.c. */
#define NGX_SVC_LOGOUT_AAD     "oauth_key"

#define NGX_SVC_LOGOUT_FORM    "logout_token="


static ngx_int_t ngx_svc_logout_token_payload(ngx_svc_logout_t *row,
    const ngx_str_t *base, ngx_pool_t *pool, ngx_str_t *payload);
static ngx_int_t ngx_svc_logout_token_session(ngx_svc_logout_t *row,
    ngx_svc_json_writer_t *w);
static u_char *ngx_svc_logout_token_sign(ngx_svc_logout_t *row,
    const ngx_str_t *head, const ngx_str_t *payload, u_char *p);
static EVP_PKEY *ngx_svc_logout_token_key(ngx_svc_logout_t *row,
    ngx_uint_t rsa);


ngx_int_t
ngx_svc_logout_token(ngx_svc_logout_t *row, const ngx_str_t *base,
    ngx_pool_t *pool, ngx_str_t *body)
{
    u_char     *p, *last, header[NGX_SVC_LOGOUT_HEADER];
    ngx_str_t   head, payload;

    head.data = header;
    head.len = ngx_snprintf(header, sizeof(header),
                            "{\"alg\":\"%V\",\"kid\":\"%V\","
                            "\"typ\":\"logout+jwt\"}", &row->alg, &row->kid)
               - header;

    if (ngx_svc_logout_token_payload(row, base, pool, &payload) != NGX_OK) {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(pool, sizeof(NGX_SVC_LOGOUT_FORM)
                          + ngx_svc_jws_rsa_len(head.len, payload.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    body->data = p;
    p = ngx_cpymem(p, NGX_SVC_LOGOUT_FORM, sizeof(NGX_SVC_LOGOUT_FORM) - 1);
    last = ngx_svc_logout_token_sign(row, &head, &payload, p);

    if (last == NULL) {
        return NGX_ERROR;
    }

    body->len = last - body->data;

    return NGX_OK;
}


/*
 * Signs a token here: RSA takes no longer than a step of a TLS handshake,
 * which is made here, too.
 */

static u_char *
ngx_svc_logout_token_sign(ngx_svc_logout_t *row, const ngx_str_t *head,
    const ngx_str_t *payload, u_char *p)
{
    u_char        *last;
    EVP_PKEY      *key;
    ngx_uint_t     rsa;
    EVP_PKEY_CTX  *signer;

    rsa = row->alg.len && row->alg.data[0] == 'R';
    last = NULL;

    key = ngx_svc_logout_token_key(row, rsa);
    if (key == NULL) {
        return NULL;
    }

    if (rsa) {
        last = ngx_svc_jws_rsa_sign(key, head, payload, p);
        EVP_PKEY_free(key);
        return last;
    }

    signer = ngx_svc_jws_signer(key);
    EVP_PKEY_free(key);

    if (signer) {
        last = ngx_svc_jws_sign(signer, head, payload, p);
        EVP_PKEY_CTX_free(signer);
    }

    return last;
}


static ngx_int_t
ngx_svc_logout_token_payload(ngx_svc_logout_t *row, const ngx_str_t *base,
    ngx_pool_t *pool, ngx_str_t *payload)
{
    u_char                 jti[NGX_SVC_ID_DIGITS];
    ngx_svc_json_writer_t  w;

    if (ngx_svc_random_id(jti) != NGX_OK
        || ngx_svc_json_writer_init(&w, pool, 512) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    ngx_svc_json_string_begin(&w, "iss");
    ngx_svc_json_string_append(&w, base->data, base->len);
    ngx_svc_json_string_append(&w, (u_char *) "/oauth/t/",
                               sizeof("/oauth/t/") - 1);
    ngx_svc_json_string_append(&w, row->slug.data, row->slug.len);
    ngx_svc_json_string_end(&w);

    ngx_svc_json_string(&w, "sub", row->user.data, row->user.len);

    ngx_svc_json_open(&w, "aud", '[');
    ngx_svc_json_string(&w, NULL, row->client.data, row->client.len);
    ngx_svc_json_close(&w, ']');

    ngx_svc_json_integer(&w, "iat", ngx_time());
    ngx_svc_json_integer(&w, "exp", ngx_time() + NGX_SVC_LOGOUT_TTL);
    ngx_svc_json_plain(&w, "jti", jti, NGX_SVC_ID_DIGITS);

    if (ngx_svc_logout_token_session(row, &w) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, "events", '{');
    ngx_svc_json_open(&w,
                      "http://schemas.openid.net/event/backchannel-logout",
                      '{');
    ngx_svc_json_close(&w, '}');
    ngx_svc_json_close(&w, '}');
    ngx_svc_json_close(&w, '}');

    payload->data = w.start;
    payload->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_logout_token_session(ngx_svc_logout_t *row, ngx_svc_json_writer_t *w)
{
    u_char  tenant[NGX_SVC_UUID_LEN], root[NGX_SVC_UUID_LEN];
    u_char  sid[NGX_SVC_OAUTH_SID];

    if (ngx_svc_uuid_parse(row->tenant.data, row->tenant.len, tenant)
        != NGX_OK
        || ngx_svc_uuid_parse(row->root.data, row->root.len, root) != NGX_OK
        || ngx_svc_oauth_sid(tenant, root, &row->client, sid) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_plain(w, "sid", sid, NGX_SVC_OAUTH_SID);

    return NGX_OK;
}


/* Opens the key; the caller frees it.  NULL: it cannot be opened. */

static EVP_PKEY *
ngx_svc_logout_token_key(ngx_svc_logout_t *row, ngx_uint_t rsa)
{
    size_t                len, n;
    u_char               *p, bytes[NGX_SVC_LOGOUT_SEALED];
    u_char                der[NGX_SVC_LOGOUT_SEALED];
    u_char                aad[sizeof(NGX_SVC_LOGOUT_AAD) + NGX_SVC_UUID_LEN
                              + NGX_SVC_JWK_KID];
    EVP_PKEY             *key;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);
    len = sizeof(bytes);
    p = ngx_cpymem(aad, NGX_SVC_LOGOUT_AAD, sizeof(NGX_SVC_LOGOUT_AAD));

    if (row->kid.len != NGX_SVC_JWK_KID
        || ngx_svc_uuid_parse(row->tenant.data, row->tenant.len, p) != NGX_OK
        || ngx_svc_hex_bytea(&row->sealed, bytes, &len) != NGX_OK)
    {
        return NULL;
    }

    ngx_memcpy(p + NGX_SVC_UUID_LEN, row->kid.data, NGX_SVC_JWK_KID);

    if (ngx_svc_unseal(&smcf->keys, bytes, len, aad, sizeof(aad), der, &n)
        != NGX_OK)
    {
        return NULL;
    }

    key = rsa ? ngx_svc_jwk_rsa_private(der, n) : ngx_svc_jwk_private(der, n);
    ngx_explicit_memzero(der, sizeof(der));

    return key;
}
