/*
 * The answers of an authenticator and of a browser: the first byte tells which
 * part of them the others are.
 */

#include "ngx_fuzz.h"
#include "ngx_unit_webauthn.h"
#include "ngx_svc_cbor.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_webauthn_authdata.h"
#include "ngx_svc_webauthn_client.h"


typedef void (*fuzz_part_pt)(ngx_pool_t *pool, ngx_str_t *text);


static void fuzz_cbor(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_object(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_data(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_client(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_answer(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_site(ngx_str_t *data);


static const fuzz_part_pt  fuzz_parts[] = {
    fuzz_cbor, fuzz_object, fuzz_data, fuzz_client, fuzz_answer
};

static ngx_str_t  fuzz_rp_id = ngx_string("acme.test");


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t    text;
    ngx_pool_t  *pool;

    if (size == 0) {
        return 0;
    }

    pool = fuzz_pool(4096);

    /* a copy that can be changed, and whose end ASan knows */

    text.len = size - 1;
    text.data = ngx_palloc(pool, size);
    fuzz_assert(text.data != NULL);
    memcpy(text.data, data + 1, text.len);

    fuzz_parts[data[0] % (sizeof(fuzz_parts) / sizeof(fuzz_part_pt))](pool,
                                                                      &text);

    ngx_destroy_pool(pool);

    return 0;
}


static void
fuzz_cbor(ngx_pool_t *pool, ngx_str_t *text)
{
    const u_char  *p, *end;

    p = text->data;
    end = text->data + text->len;

    if (ngx_svc_cbor_skip(&p, end) == NGX_OK) {
        fuzz_assert(p > text->data);
    }

    fuzz_assert(p <= end);
}


static void
fuzz_object(ngx_pool_t *pool, ngx_str_t *text)
{
    ngx_int_t                     rc;
    ngx_str_t                     data;
    ngx_svc_error_t               err;
    ngx_svc_passkey_t             passkey;
    ngx_svc_webauthn_authdata_t   authdata;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_webauthn_attestation(text, &data, &err) != NGX_OK) {
        fuzz_assert(err.len > 0);
        return;
    }

    fuzz_assert(data.data > text->data
                && data.data + data.len <= text->data + text->len);

    fuzz_site(&data);

    rc = ngx_svc_webauthn_authdata(&data, &fuzz_rp_id, 1, &authdata, &err);

    if (rc == NGX_OK) {
        fuzz_assert(authdata.id.len > 0
                    && authdata.id.data + authdata.id.len
                       < data.data + data.len);

        rc = ngx_svc_webauthn_key(pool, &data, &passkey, &err);
    }

    fuzz_assert(rc == NGX_OK || (rc == NGX_DECLINED && err.len > 0));
}


static void
fuzz_data(ngx_pool_t *pool, ngx_str_t *text)
{
    u_char                        key[NGX_SVC_PASSKEY_KEY_MAX];
    ngx_int_t                     rc;
    ngx_svc_error_t               err;
    ngx_svc_passkey_t             passkey;
    const ngx_unit_webauthn_t    *v;
    ngx_svc_webauthn_signed_t     s;
    ngx_svc_webauthn_authdata_t   authdata;

    err.kind = NGX_SVC_E_NONE;
    fuzz_site(text);

    rc = ngx_svc_webauthn_authdata(text, &fuzz_rp_id, 0, &authdata, &err);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && err.len > 0);
        return;
    }

    /* its end is the signature, and selects the algorithm */

    v = &ngx_unit_webauthn[text->data[text->len - 1] % 4];

    passkey.alg = v->alg;
    passkey.public_key.data = key;
    passkey.public_key.len = strlen(v->key) / 2;
    (void) ngx_svc_hex((u_char *) v->key, passkey.public_key.len, key);

    ngx_memzero(s.client_hash, sizeof(s.client_hash));
    s.authdata = *text;
    s.signature.data = text->data + 33;
    s.signature.len = text->len - 33;

    fuzz_assert(ngx_svc_webauthn_key_verify(&passkey, &fuzz_rp_id, &s)
                == NGX_DECLINED);
}


static void
fuzz_client(ngx_pool_t *pool, ngx_str_t *text)
{
    ngx_int_t                     rc;
    ngx_svc_error_t               err;
    ngx_svc_webauthn_used_t       used;
    ngx_svc_webauthn_ceremony_t   c;

    err.kind = NGX_SVC_E_NONE;
    ngx_unit_webauthn_ceremony(&c, NGX_SVC_WEBAUTHN_REGISTER);

    rc = ngx_svc_webauthn_client(pool, text, &c, &used, &err);

    fuzz_assert(rc == NGX_OK || (rc == NGX_DECLINED && err.len > 0));
}


static void
fuzz_answer(ngx_pool_t *pool, ngx_str_t *text)
{
    cJSON                         *json;
    ngx_int_t                      rc;
    ngx_svc_error_t                err;
    ngx_svc_passkey_t              passkey;
    ngx_svc_webauthn_used_t        used;
    ngx_svc_webauthn_ceremony_t    c;
    ngx_svc_webauthn_assertion_t   assertion;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, text, &json, &err) != NGX_OK) {
        return;
    }

    ngx_unit_webauthn_ceremony(&c, NGX_SVC_WEBAUTHN_REGISTER);
    rc = ngx_svc_webauthn_register(pool, json, &c, &passkey, &used, &err);
    fuzz_assert(rc == NGX_OK || (rc == NGX_DECLINED && err.len > 0));

    err.kind = NGX_SVC_E_NONE;
    err.len = 0;

    c.purpose = NGX_SVC_WEBAUTHN_STEP_UP;
    rc = ngx_svc_webauthn_assertion(pool, json, &c, &assertion, &err);
    fuzz_assert(rc == NGX_OK || (rc == NGX_DECLINED && err.len > 0));
}


/* With the hash of another site the check would end here. */

static void
fuzz_site(ngx_str_t *data)
{
    if (data->len >= NGX_SVC_SHA256_LEN) {
        fuzz_assert(ngx_svc_sha256(fuzz_rp_id.data, fuzz_rp_id.len, data->data)
                    == NGX_OK);
    }
}
