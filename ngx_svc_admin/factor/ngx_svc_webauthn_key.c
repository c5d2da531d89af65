/*
 * Public keys of passkeys, by libfido2.  Its memory is freed before a function
 * returns, and so are the errors that OpenSSL has queued: nginx would log them
 * as those of some connection.  fido_init() is not called: it would only let
 * FIDO_DEBUG in the environment turn on messages with data.
 */

#include "ngx_svc_webauthn_key.h"
#include "ngx_svc_webauthn_challenge.h"

#include <fido.h>
#include <fido/eddsa.h>
#include <fido/es256.h>
#include <fido/es384.h>
#include <fido/rs256.h>
#include <openssl/err.h>


typedef struct {
    int      alg;
    size_t   len;
    void  *(*load)(const u_char *data, size_t len);
    void   (*free)(void *key);
} ngx_svc_webauthn_alg_t;


static const ngx_svc_webauthn_alg_t *ngx_svc_webauthn_alg(ngx_int_t alg,
    size_t len);
static ngx_int_t ngx_svc_webauthn_key_read(ngx_pool_t *pool,
    const ngx_svc_webauthn_alg_t *alg, const ngx_str_t *authdata,
    ngx_svc_passkey_t *passkey);
static ngx_int_t ngx_svc_webauthn_key_take(ngx_pool_t *pool,
    const ngx_svc_webauthn_alg_t *alg, const fido_cred_t *cred,
    ngx_svc_passkey_t *passkey);
static ngx_int_t ngx_svc_webauthn_assert(const ngx_svc_webauthn_alg_t *alg,
    const void *key, const ngx_str_t *rp_id,
    const ngx_svc_webauthn_signed_t *s);
static int ngx_svc_webauthn_assert_set(fido_assert_t *assert,
    const ngx_str_t *rp_id, const ngx_svc_webauthn_signed_t *s);


/*
 * Defines two functions: load() makes a key of libfido2 from its bytes, NULL
 * when they are no such key, and free() frees it.
 */

#define ngx_svc_webauthn_key_type(name)                                       \
                                                                              \
    static void *                                                             \
    ngx_svc_webauthn_##name##_load(const u_char *data, size_t len)            \
    {                                                                         \
        name##_pk_t  *key;                                                    \
                                                                              \
        key = name##_pk_new();                                                \
                                                                              \
        if (key && name##_pk_from_ptr(key, data, len) != FIDO_OK) {           \
            name##_pk_free(&key);                                             \
        }                                                                     \
                                                                              \
        return key;                                                           \
    }                                                                         \
                                                                              \
    static void                                                               \
    ngx_svc_webauthn_##name##_free(void *key)                                 \
    {                                                                         \
        name##_pk_t  *k;                                                      \
                                                                              \
        k = key;                                                              \
        name##_pk_free(&k);                                                   \
    }

ngx_svc_webauthn_key_type(es256)
ngx_svc_webauthn_key_type(es384)
ngx_svc_webauthn_key_type(eddsa)
ngx_svc_webauthn_key_type(rs256)


static const ngx_svc_webauthn_alg_t  ngx_svc_webauthn_algs[] = {

    { NGX_SVC_PASSKEY_ES256, 64,
      ngx_svc_webauthn_es256_load, ngx_svc_webauthn_es256_free },

    { NGX_SVC_PASSKEY_EDDSA, 32,
      ngx_svc_webauthn_eddsa_load, ngx_svc_webauthn_eddsa_free },

    { NGX_SVC_PASSKEY_ES384, 96,
      ngx_svc_webauthn_es384_load, ngx_svc_webauthn_es384_free },

    { NGX_SVC_PASSKEY_RS256, NGX_SVC_PASSKEY_KEY_MAX,
      ngx_svc_webauthn_rs256_load, ngx_svc_webauthn_rs256_free },

    { 0, 0, NULL, NULL }
};


ngx_int_t
ngx_svc_webauthn_key(ngx_pool_t *pool, const ngx_str_t *authdata,
    ngx_svc_passkey_t *passkey, ngx_svc_error_t *err)
{
    ngx_int_t                      rc;
    const ngx_svc_webauthn_alg_t  *alg;

    rc = NGX_DECLINED;

    /* libfido2 must be told the algorithm, so that each one is tried */

    for (alg = ngx_svc_webauthn_algs; alg->alg && rc == NGX_DECLINED; alg++) {
        rc = ngx_svc_webauthn_key_read(pool, alg, authdata, passkey);
    }

    ERR_clear_error();

    if (rc == NGX_DECLINED) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "The public key of \"credential.response\" must be"
                            " a good one of ES256, EdDSA, ES384, or RS256 with"
                            " 2048 bits.");
    }

    return rc;
}


ngx_int_t
ngx_svc_webauthn_key_verify(const ngx_svc_passkey_t *passkey,
    const ngx_str_t *rp_id, const ngx_svc_webauthn_signed_t *s)
{
    void                          *key;
    ngx_int_t                      rc;
    const ngx_svc_webauthn_alg_t  *alg;

    alg = ngx_svc_webauthn_alg(passkey->alg, passkey->public_key.len);
    if (alg == NULL) {
        return NGX_DECLINED;
    }

    key = alg->load(passkey->public_key.data, passkey->public_key.len);

    rc = key ? ngx_svc_webauthn_assert(alg, key, rp_id, s) : NGX_DECLINED;

    if (key) {
        alg->free(key);
    }

    ERR_clear_error();

    return rc;
}


/* Returns NULL when it is none of ours, or its keys have another length. */

static const ngx_svc_webauthn_alg_t *
ngx_svc_webauthn_alg(ngx_int_t alg, size_t len)
{
    const ngx_svc_webauthn_alg_t  *a;

    for (a = ngx_svc_webauthn_algs; a->alg; a++) {
        if (a->alg == alg && a->len == len) {
            return a;
        }
    }

    return NULL;
}


static ngx_int_t
ngx_svc_webauthn_key_read(ngx_pool_t *pool, const ngx_svc_webauthn_alg_t *alg,
    const ngx_str_t *authdata, ngx_svc_passkey_t *passkey)
{
    ngx_int_t     rc;
    fido_cred_t  *cred;

    cred = fido_cred_new();
    if (cred == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_DECLINED;

    if (fido_cred_set_type(cred, alg->alg) == FIDO_OK
        && fido_cred_set_authdata_raw(cred, authdata->data, authdata->len)
           == FIDO_OK)
    {
        rc = ngx_svc_webauthn_key_take(pool, alg, cred, passkey);
    }

    fido_cred_free(&cred);

    return rc;
}


static ngx_int_t
ngx_svc_webauthn_key_take(ngx_pool_t *pool, const ngx_svc_webauthn_alg_t *alg,
    const fido_cred_t *cred, ngx_svc_passkey_t *passkey)
{
    void       *key;
    ngx_str_t  *bytes;

    bytes = &passkey->public_key;

    if (fido_cred_pubkey_len(cred) != alg->len) {
        return NGX_DECLINED;
    }

    /* libfido2 has not checked yet that the point is on the curve */

    key = alg->load(fido_cred_pubkey_ptr(cred), alg->len);
    if (key == NULL) {
        return NGX_DECLINED;
    }

    alg->free(key);

    bytes->len = alg->len;
    bytes->data = ngx_pnalloc(pool, alg->len);

    if (bytes->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(bytes->data, fido_cred_pubkey_ptr(cred), alg->len);
    passkey->alg = alg->alg;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webauthn_assert(const ngx_svc_webauthn_alg_t *alg, const void *key,
    const ngx_str_t *rp_id, const ngx_svc_webauthn_signed_t *s)
{
    int             rc;
    fido_assert_t  *assert;

    assert = fido_assert_new();
    if (assert == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_webauthn_assert_set(assert, rp_id, s);

    if (rc == FIDO_OK) {
        rc = fido_assert_verify(assert, 0, alg->alg, key);
    }

    fido_assert_free(&assert);

    return rc == FIDO_OK ? NGX_OK : NGX_DECLINED;
}


static int
ngx_svc_webauthn_assert_set(fido_assert_t *assert, const ngx_str_t *rp_id,
    const ngx_svc_webauthn_signed_t *s)
{
    int   rc;
    char  host[NGX_SVC_WEBAUTHN_RP_ID_MAX + 1];

    if (rp_id->len >= sizeof(host)) {
        return FIDO_ERR_INVALID_ARGUMENT;
    }

    (void) ngx_cpystrn((u_char *) host, rp_id->data, rp_id->len + 1);

    if ((rc = fido_assert_set_rp(assert, host)) != FIDO_OK
        || (rc = fido_assert_set_count(assert, 1)) != FIDO_OK
        || (rc = fido_assert_set_up(assert, FIDO_OPT_TRUE)) != FIDO_OK
        || (rc = fido_assert_set_uv(assert, FIDO_OPT_TRUE)) != FIDO_OK
        || (rc = fido_assert_set_clientdata_hash(assert, s->client_hash,
                                                 NGX_SVC_SHA256_LEN))
           != FIDO_OK
        || (rc = fido_assert_set_sig(assert, 0, s->signature.data,
                                     s->signature.len))
           != FIDO_OK)
    {
        return rc;
    }

    return fido_assert_set_authdata_raw(assert, 0, s->authdata.data,
                                        s->authdata.len);
}
