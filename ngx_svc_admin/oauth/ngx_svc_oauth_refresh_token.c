/*
 * Refresh tokens.
 */

#include "ngx_svc_oauth_refresh_token.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_mac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>


#define NGX_SVC_OAUTH_REFRESH_TEXT                                            \
    (sizeof(NGX_SVC_OAUTH_REFRESH) - 1                                 \
     + ngx_svc_base64url_len(NGX_SVC_OAUTH_SECRET))


static ngx_int_t ngx_svc_oauth_refresh_token_read(const ngx_str_t *text,
    u_char *secret);
static ngx_int_t ngx_svc_oauth_refresh_token_derive(const ngx_svc_keys_t *keys);


/*
 * The worker's keys for successors, one for each key of svc_key_file.  They are
 * derived when the worker needs them first.
 */

static ngx_uint_t  ngx_svc_oauth_refresh_nkeys;
static u_char      ngx_svc_oauth_refresh_keys[NGX_SVC_KEYS][NGX_SVC_KEY_LEN];


ngx_int_t
ngx_svc_oauth_refresh_token_new(ngx_svc_oauth_refresh_tokens_t *t)
{
    t->n = 1;

    if (ngx_svc_random(t->secrets[0], NGX_SVC_OAUTH_SECRET) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_sha256(t->secrets[0], NGX_SVC_OAUTH_SECRET, t->digests[0]);
}


ngx_int_t
ngx_svc_oauth_refresh_token_successors(const ngx_svc_keys_t *keys,
    const ngx_str_t *text, u_char *digest, ngx_svc_oauth_refresh_tokens_t *t)
{
    u_char      secret[NGX_SVC_OAUTH_SECRET];
    ngx_int_t   rc;
    ngx_uint_t  i;

    rc = ngx_svc_oauth_refresh_token_read(text, secret);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_refresh_token_derive(keys);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_sha256(secret, sizeof(secret), digest);
    }

    t->n = ngx_svc_oauth_refresh_nkeys;

    for (i = 0; i < t->n && rc == NGX_OK; i++) {

        rc = HMAC(EVP_sha256(), ngx_svc_oauth_refresh_keys[i],
                  NGX_SVC_KEY_LEN, secret, sizeof(secret), t->secrets[i],
                  NULL)
             ? ngx_svc_sha256(t->secrets[i], NGX_SVC_OAUTH_SECRET,
                              t->digests[i])
             : NGX_ERROR;
    }

    ngx_explicit_memzero(secret, sizeof(secret));

    return rc;
}


/*
 * Takes the secret from a token's text; from another text takes its digest,
 * which is nobody's secret.
 */

static ngx_int_t
ngx_svc_oauth_refresh_token_read(const ngx_str_t *text, u_char *secret)
{
    size_t  len, prefix;

    prefix = sizeof(NGX_SVC_OAUTH_REFRESH) - 1;

    if (text->len == NGX_SVC_OAUTH_REFRESH_TEXT
        && ngx_strncmp(text->data, NGX_SVC_OAUTH_REFRESH, prefix) == 0
        && ngx_svc_base64url_decode(text->data + prefix, text->len - prefix,
                                    secret, &len)
           == NGX_OK
        && len == NGX_SVC_OAUTH_SECRET)
    {
        return NGX_OK;
    }

    return ngx_svc_sha256(text->data, text->len, secret);
}


static ngx_int_t
ngx_svc_oauth_refresh_token_derive(const ngx_svc_keys_t *keys)
{
    ngx_uint_t  i;

    if (ngx_svc_oauth_refresh_nkeys) {
        return NGX_OK;
    }

    for (i = 0; i < keys->n; i++) {
        if (ngx_svc_mac_derive(&keys->keys[i], "oauth-refresh",
                               ngx_svc_oauth_refresh_keys[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ngx_svc_oauth_refresh_nkeys = keys->n;

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_refresh_token_digests(ngx_pool_t *pool,
    const ngx_svc_oauth_refresh_tokens_t *t, ngx_str_t *array)
{
    u_char      *p;
    ngx_uint_t   i;

    p = ngx_pnalloc(pool, 2 + t->n * (sizeof(",\"\\\\x\"") - 1
                                      + 2 * NGX_SVC_SHA256_LEN));
    if (p == NULL) {
        return NGX_ERROR;
    }

    array->data = p;
    *p++ = '{';

    for (i = 0; i < t->n; i++) {
        p = ngx_sprintf(p, i ? ",\"\\\\x" : "\"\\\\x");
        p = ngx_hex_dump(p, (u_char *) t->digests[i], NGX_SVC_SHA256_LEN);
        *p++ = '"';
    }

    *p++ = '}';
    array->len = p - array->data;

    return NGX_OK;
}


void
ngx_svc_oauth_refresh_token_write(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_refresh_tokens_t *t, ngx_uint_t i)
{
    u_char  *p, text[NGX_SVC_OAUTH_REFRESH_TEXT];

    p = ngx_cpymem(text, NGX_SVC_OAUTH_REFRESH,
                   sizeof(NGX_SVC_OAUTH_REFRESH) - 1);

    (void) ngx_svc_base64url(p, t->secrets[i], NGX_SVC_OAUTH_SECRET);

    ngx_svc_json_plain(w, "refresh_token", text, sizeof(text));

    ngx_explicit_memzero(text, sizeof(text));
}


void
ngx_svc_oauth_refresh_token_exit_worker(void)
{
    ngx_explicit_memzero(ngx_svc_oauth_refresh_keys,
                         sizeof(ngx_svc_oauth_refresh_keys));
    ngx_svc_oauth_refresh_nkeys = 0;
}
