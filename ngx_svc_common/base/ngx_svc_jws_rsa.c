/*
 * JSON Web Signatures by RSA.  Nothing here is shared between threads.  The
 * caller clears OpenSSL's queue of errors, or it is cleared before the return.
 */

#include "ngx_svc_jws_rsa.h"
#include "ngx_svc_crypto.h"

#include <openssl/err.h>
#include <openssl/rsa.h>


static EVP_PKEY_CTX *ngx_svc_jws_rsa_context(EVP_PKEY *key,
    int (*init)(EVP_PKEY_CTX *ctx), int padding);


u_char *
ngx_svc_jws_rsa_sign(EVP_PKEY *key, const ngx_str_t *header,
    const ngx_str_t *payload, u_char *p)
{
    size_t         len;
    u_char        *start, digest[NGX_SVC_SHA256_LEN], raw[NGX_SVC_JWS_RSA];
    EVP_PKEY_CTX  *ctx;

    start = p;

    p = ngx_svc_base64url(p, header->data, header->len);
    *p++ = '.';
    p = ngx_svc_base64url(p, payload->data, payload->len);

    len = sizeof(raw);
    ctx = ngx_svc_jws_rsa_context(key, EVP_PKEY_sign_init, RSA_PKCS1_PADDING);

    if (ctx
        && EVP_Digest(start, p - start, digest, NULL, EVP_sha256(), NULL) == 1
        && EVP_PKEY_sign(ctx, raw, &len, digest, sizeof(digest)) == 1
        && len == sizeof(raw))
    {
        *p++ = '.';
        p = ngx_svc_base64url(p, raw, sizeof(raw));

    } else {
        p = NULL;
    }

    EVP_PKEY_CTX_free(ctx);
    ERR_clear_error();

    return p;
}


/*
 * Makes a context for PKCS #1 v1.5 or PSS.  All hashes are SHA-256, and the
 * salt of PSS is as long as that.
 */

static EVP_PKEY_CTX *
ngx_svc_jws_rsa_context(EVP_PKEY *key, int (*init)(EVP_PKEY_CTX *ctx),
    int padding)
{
    EVP_PKEY_CTX  *ctx;

    ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);

    if (ctx
        && (init(ctx) != 1
            || EVP_PKEY_CTX_set_rsa_padding(ctx, padding) != 1
            || EVP_PKEY_CTX_set_signature_md(ctx, EVP_sha256()) != 1
            || (padding == RSA_PKCS1_PSS_PADDING
                && (EVP_PKEY_CTX_set_rsa_mgf1_md(ctx, EVP_sha256()) != 1
                    || EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx,
                                                        RSA_PSS_SALTLEN_DIGEST)
                       != 1))))
    {
        EVP_PKEY_CTX_free(ctx);
        return NULL;
    }

    return ctx;
}


int
ngx_svc_jws_rsa_verify(const ngx_svc_jws_t *jws, EVP_PKEY *key)
{
    int            rc;
    u_char         digest[NGX_SVC_SHA256_LEN];
    EVP_PKEY_CTX  *ctx;

    if (jws->signature_len != (size_t) EVP_PKEY_get_size(key)) {
        return 0;
    }

    if (ngx_svc_sha256(jws->signed_text.data, jws->signed_text.len, digest)
        != NGX_OK)
    {
        return -1;
    }

    ctx = ngx_svc_jws_rsa_context(key, EVP_PKEY_verify_init,
                                  jws->alg == NGX_SVC_JWA_PS256
                                  ? RSA_PKCS1_PSS_PADDING
                                  : RSA_PKCS1_PADDING);

    rc = ctx ? EVP_PKEY_verify(ctx, jws->signature, jws->signature_len, digest,
                               sizeof(digest))
             : -1;

    EVP_PKEY_CTX_free(ctx);

    return rc < 0 && ctx ? 0 : rc;
}
