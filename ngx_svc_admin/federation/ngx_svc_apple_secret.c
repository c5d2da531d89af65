/*
 * The secret with which we authenticate to Apple.  OpenSSL's queue of errors is
 * cleared before each return.
 */

#include "ngx_svc_apple_secret.h"
#include "ngx_svc_json_write.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>


#define NGX_SVC_APPLE_AUDIENCE  "https://appleid.apple.com"
#define NGX_SVC_APPLE_GROUP     "prime256v1"


static EVP_PKEY *ngx_svc_apple_secret_pkcs8(const char *name,
    const char *header, const u_char *der, long len);
static ngx_int_t ngx_svc_apple_secret_header(ngx_pool_t *pool,
    const ngx_svc_apple_secret_t *apple, ngx_str_t *text);
static ngx_int_t ngx_svc_apple_secret_payload(ngx_pool_t *pool,
    const ngx_svc_apple_secret_t *apple, time_t now, ngx_str_t *text);
static ngx_int_t ngx_svc_apple_secret_text(const ngx_svc_json_writer_t *w,
    ngx_str_t *text);
static ngx_int_t ngx_svc_apple_secret_sign(ngx_pool_t *pool, EVP_PKEY *key,
    const ngx_str_t *header, const ngx_str_t *payload, ngx_str_t *secret);


ngx_int_t
ngx_svc_apple_secret_key(const ngx_str_t *pem, EVP_PKEY **key)
{
    BIO     *bio;
    long     len;
    char    *name, *header;
    u_char  *der;

    *key = NULL;

    bio = BIO_new_mem_buf(pem->data, (int) pem->len);
    if (bio == NULL) {
        ERR_clear_error();
        return NGX_ERROR;
    }

    if (PEM_read_bio(bio, &name, &header, &der, &len) == 1) {
        *key = ngx_svc_apple_secret_pkcs8(name, header, der, len);

        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_clear_free(der, len);
    }

    BIO_free(bio);

    if (*key == NULL) {
        return ngx_svc_jwk_refused();
    }

    ERR_clear_error();

    return NGX_OK;
}


/*
 * Returns NULL when it is no key for P-256.  An encrypted PEM has a header or
 * another name.
 */

static EVP_PKEY *
ngx_svc_apple_secret_pkcs8(const char *name, const char *header,
    const u_char *der, long len)
{
    char                  group[32];
    EVP_PKEY             *key;
    const u_char         *p;
    PKCS8_PRIV_KEY_INFO  *info;

    if (ngx_strcmp(name, PEM_STRING_PKCS8INF) != 0 || header[0] != '\0') {
        return NULL;
    }

    p = der;
    info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &p, len);
    key = info && p == der + len ? EVP_PKCS82PKEY(info) : NULL;

    PKCS8_PRIV_KEY_INFO_free(info);

    if (key
        && (EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) != 1
            || ngx_strcmp(group, NGX_SVC_APPLE_GROUP) != 0))
    {
        EVP_PKEY_free(key);
        return NULL;
    }

    return key;
}


ngx_int_t
ngx_svc_apple_secret(ngx_pool_t *pool, const ngx_svc_apple_secret_t *apple,
    time_t now, ngx_str_t *secret)
{
    EVP_PKEY   *key;
    ngx_int_t   rc;
    ngx_str_t   header, payload;

    if (ngx_svc_apple_secret_header(pool, apple, &header) != NGX_OK
        || ngx_svc_apple_secret_payload(pool, apple, now, &payload) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_apple_secret_key(&apple->pem, &key);

    if (rc == NGX_OK) {
        rc = ngx_svc_apple_secret_sign(pool, key, &header, &payload, secret);
        EVP_PKEY_free(key);
    }

    return rc;
}


static ngx_int_t
ngx_svc_apple_secret_header(ngx_pool_t *pool,
    const ngx_svc_apple_secret_t *apple, ngx_str_t *text)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, pool, 128) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "alg", (u_char *) "ES256", 5);
    ngx_svc_json_string(&w, "kid", apple->key_id.data, apple->key_id.len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_apple_secret_text(&w, text);
}


static ngx_int_t
ngx_svc_apple_secret_payload(ngx_pool_t *pool,
    const ngx_svc_apple_secret_t *apple, time_t now, ngx_str_t *text)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_string(&w, "iss", apple->team_id.data, apple->team_id.len);
    ngx_svc_json_integer(&w, "iat", now);
    ngx_svc_json_integer(&w, "exp", now + NGX_SVC_APPLE_SECRET_LIFE);
    ngx_svc_json_plain(&w, "aud", (u_char *) NGX_SVC_APPLE_AUDIENCE,
                       sizeof(NGX_SVC_APPLE_AUDIENCE) - 1);
    ngx_svc_json_string(&w, "sub", apple->client_id.data,
                        apple->client_id.len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_apple_secret_text(&w, text);
}


static ngx_int_t
ngx_svc_apple_secret_text(const ngx_svc_json_writer_t *w, ngx_str_t *text)
{
    text->data = w->start;
    text->len = w->last - w->start;

    return w->failed ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_apple_secret_sign(ngx_pool_t *pool, EVP_PKEY *key,
    const ngx_str_t *header, const ngx_str_t *payload, ngx_str_t *secret)
{
    u_char        *p;
    EVP_PKEY_CTX  *signer;

    secret->data = ngx_pnalloc(pool, ngx_svc_jws_len(header->len,
                                                     payload->len));
    signer = ngx_svc_jws_signer(key);

    p = secret->data && signer
        ? ngx_svc_jws_sign(signer, header, payload, secret->data) : NULL;

    EVP_PKEY_CTX_free(signer);

    if (p == NULL) {
        return NGX_ERROR;
    }

    secret->len = p - secret->data;

    return NGX_OK;
}
