/*
 * Hashes, random ids and tokens, and sealing of secrets.
 */

#include "ngx_svc_crypto.h"
#include "ngx_svc_hex.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>


#define NGX_SVC_SEAL_NONCE_LEN  12
#define NGX_SVC_SEAL_TAG_LEN    16


/* The parts of a sealed text. */

typedef struct {
    const ngx_svc_key_t  *key;
    const u_char         *nonce;
    const u_char         *text;
    size_t                len;
    const u_char         *tag;
} ngx_svc_sealed_t;


static ngx_int_t ngx_svc_keys_line(ngx_svc_keys_t *keys, const u_char *line,
    size_t len, ngx_uint_t n, char *why);
static const char *ngx_svc_key_line(ngx_svc_keys_t *keys, const u_char *line,
    size_t len);
static ngx_uint_t ngx_svc_key_id_valid(const u_char *id, size_t len);
static const ngx_svc_key_t *ngx_svc_key_find(const ngx_svc_keys_t *keys,
    const u_char *id, size_t len);
static ngx_int_t ngx_svc_encrypt(EVP_CIPHER_CTX *ctx, const u_char *key,
    const u_char *nonce, const u_char *text, size_t len, const u_char *aad,
    size_t aad_len, u_char *out);
static ngx_int_t ngx_svc_decrypt(EVP_CIPHER_CTX *ctx,
    const ngx_svc_sealed_t *sealed, const u_char *aad, size_t aad_len,
    u_char *out);
static void ngx_svc_wipe(void *data);
static ngx_int_t ngx_svc_sealed_split(const ngx_svc_keys_t *keys,
    const u_char *text, size_t len, ngx_svc_sealed_t *sealed);


/*
 * One context lives as long as the process: fetching the digest anew for each
 * call costs four times as much.
 */

static EVP_MD_CTX  *ngx_svc_sha256_ctx;


ngx_int_t
ngx_svc_sha256(const u_char *data, size_t len, u_char out[NGX_SVC_SHA256_LEN])
{
    EVP_MD      *md;
    EVP_MD_CTX  *ctx;

    ctx = ngx_svc_sha256_ctx;

    if (ctx == NULL) {
        md = EVP_MD_fetch(NULL, "SHA256", NULL);
        ctx = EVP_MD_CTX_new();

        if (md == NULL || ctx == NULL || !EVP_DigestInit_ex2(ctx, md, NULL)) {
            EVP_MD_CTX_free(ctx);
            EVP_MD_free(md);
            return NGX_ERROR;
        }

        /* the context has its own reference */

        EVP_MD_free(md);
        ngx_svc_sha256_ctx = ctx;
    }

    if (!EVP_DigestInit_ex2(ctx, NULL, NULL)
        || !EVP_DigestUpdate(ctx, data, len)
        || !EVP_DigestFinal_ex(ctx, out, NULL))
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_svc_crypto_exit(void)
{
    EVP_MD_CTX_free(ngx_svc_sha256_ctx);
    ngx_svc_sha256_ctx = NULL;
}


void
ngx_svc_crypto_thread_end(void)
{
    OPENSSL_thread_stop();
}


ngx_int_t
ngx_svc_random(u_char *out, size_t len)
{
    if (len > NGX_MAX_INT32_VALUE || RAND_bytes(out, (int) len) != 1) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_uint_t
ngx_svc_equal(const u_char *a, const u_char *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}


ngx_int_t
ngx_svc_uuid_new(u_char out[NGX_SVC_UUID_LEN])
{
    uint64_t     msec;
    ngx_uint_t   i;
    ngx_time_t  *tp;

    if (ngx_svc_random(out + 6, NGX_SVC_UUID_LEN - 6) != NGX_OK) {
        return NGX_ERROR;
    }

    tp = ngx_timeofday();
    msec = (uint64_t) tp->sec * 1000 + tp->msec;

    for (i = 0; i < 6; i++) {
        out[i] = (u_char) (msec >> (40 - 8 * i));
    }

    out[6] = (u_char) (0x70 | (out[6] & 0x0f));
    out[8] = (u_char) (0x80 | (out[8] & 0x3f));

    return NGX_OK;
}


ngx_int_t
ngx_svc_uuid_parse(const u_char *text, size_t len,
    u_char out[NGX_SVC_UUID_LEN])
{
    ngx_uint_t     i;
    const u_char  *p;

    /* bytes in each group */

    static const u_char  groups[] = { 4, 2, 2, 2, 6 };

    if (len != NGX_SVC_UUID_TEXT_LEN) {
        return NGX_DECLINED;
    }

    p = text;

    for (i = 0; i < sizeof(groups); i++) {

        if (i > 0 && *p++ != '-') {
            return NGX_DECLINED;
        }

        if (ngx_svc_hex(p, groups[i], out) != NGX_OK) {
            return NGX_DECLINED;
        }

        p += 2 * groups[i];
        out += groups[i];
    }

    return NGX_OK;
}


u_char *
ngx_svc_uuid_text(u_char *p, const u_char uuid[NGX_SVC_UUID_LEN])
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_UUID_LEN; i++) {

        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *p++ = '-';
        }

        p = ngx_hex_dump(p, (u_char *) uuid + i, 1);
    }

    return p;
}


ngx_int_t
ngx_svc_keys_parse(ngx_svc_keys_t *keys, const u_char *text, size_t len,
    char *why)
{
    ngx_uint_t     n;
    const u_char  *p, *end, *eol;

    keys->n = 0;
    end = text + len;
    n = 0;

    for (p = text; p < end; p = eol + 1) {

        eol = memchr(p, '\n', end - p);
        if (eol == NULL) {
            eol = end;
        }

        n++;

        if (p == eol || *p == '#') {
            continue;
        }

        if (ngx_svc_keys_line(keys, p, eol - p, n, why) != NGX_OK) {
            ngx_explicit_memzero(keys, sizeof(ngx_svc_keys_t));
            return NGX_DECLINED;
        }
    }

    if (keys->n == 0) {
        (void) ngx_sprintf((u_char *) why, "there is no key%Z");
        return NGX_DECLINED;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_seal(const ngx_svc_keys_t *keys, const u_char *text, size_t len,
    const u_char *aad, size_t aad_len, u_char *out, size_t *out_len)
{
    u_char               *nonce, *p;
    ngx_int_t             rc;
    EVP_CIPHER_CTX       *ctx;
    const ngx_svc_key_t  *key;

    key = &keys->keys[0];

    if (keys->n == 0
        || len > NGX_MAX_INT32_VALUE
        || aad_len > NGX_MAX_INT32_VALUE)
    {
        return NGX_ERROR;
    }

    *out = (u_char) key->id_len;
    nonce = ngx_cpymem(out + 1, key->id, key->id_len);
    p = nonce + NGX_SVC_SEAL_NONCE_LEN;

    if (ngx_svc_random(nonce, NGX_SVC_SEAL_NONCE_LEN) != NGX_OK) {
        return NGX_ERROR;
    }

    ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_encrypt(ctx, key->key, nonce, text, len, aad, aad_len, p);

    EVP_CIPHER_CTX_free(ctx);

    *out_len = p + len + NGX_SVC_SEAL_TAG_LEN - out;

    return rc;
}


ngx_int_t
ngx_svc_unseal(const ngx_svc_keys_t *keys, const u_char *text, size_t len,
    const u_char *aad, size_t aad_len, u_char *out, size_t *out_len)
{
    ngx_int_t          rc;
    EVP_CIPHER_CTX    *ctx;
    ngx_svc_sealed_t   sealed;

    if (aad_len > NGX_MAX_INT32_VALUE
        || ngx_svc_sealed_split(keys, text, len, &sealed) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_decrypt(ctx, &sealed, aad, aad_len, out);

    EVP_CIPHER_CTX_free(ctx);

    if (rc != NGX_OK) {

        /* what was decrypted is not authentic: the caller must not see it */

        ngx_explicit_memzero(out, sealed.len);

        /* nginx would take errors that are left for those of a connection */

        ERR_clear_error();

        return rc;
    }

    *out_len = sealed.len;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_keys_line(ngx_svc_keys_t *keys, const u_char *line, size_t len,
    ngx_uint_t n, char *why)
{
    const char  *message;

    message = ngx_svc_key_line(keys, line, len);

    if (message == NULL) {
        return NGX_OK;
    }

    (void) ngx_snprintf((u_char *) why, NGX_MAX_ERROR_STR / 8,
                        "line %ui: %s%Z", n, message);

    return NGX_DECLINED;
}


/* Returns NULL, or what is wrong with the line. */

static const char *
ngx_svc_key_line(ngx_svc_keys_t *keys, const u_char *line, size_t len)
{
    size_t          id_len;
    ngx_svc_key_t  *key;
    const u_char   *colon;

    colon = memchr(line, ':', len);
    if (colon == NULL) {
        return "no \":\" between the key's id and the key";
    }

    id_len = colon - line;

    if (!ngx_svc_key_id_valid(line, id_len)) {
        return "the key's id must be 1 to 32 characters A-Z, a-z, 0-9, \"_\""
               " or \"-\"";
    }

    if (ngx_svc_key_find(keys, line, id_len) != NULL) {
        return "the key's id is used in an earlier line";
    }

    if (keys->n == NGX_SVC_KEYS) {
        return "more than 8 keys";
    }

    key = &keys->keys[keys->n];

    if (len - id_len - 1 != 2 * NGX_SVC_KEY_LEN
        || ngx_svc_hex(colon + 1, NGX_SVC_KEY_LEN, key->key) != NGX_OK)
    {
        return "the key must be 64 hex digits";
    }

    ngx_memcpy(key->id, line, id_len);
    key->id_len = id_len;
    keys->n++;

    return NULL;
}


static ngx_uint_t
ngx_svc_key_id_valid(const u_char *id, size_t len)
{
    size_t  i;
    u_char  c;

    if (len == 0 || len > NGX_SVC_KEY_ID_LEN) {
        return 0;
    }

    for (i = 0; i < len; i++) {
        c = id[i];

        if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z')
            && !(c >= '0' && c <= '9') && c != '_' && c != '-')
        {
            return 0;
        }
    }

    return 1;
}


static const ngx_svc_key_t *
ngx_svc_key_find(const ngx_svc_keys_t *keys, const u_char *id, size_t len)
{
    ngx_uint_t  i;

    for (i = 0; i < keys->n; i++) {
        if (keys->keys[i].id_len == len
            && ngx_memcmp(keys->keys[i].id, id, len) == 0)
        {
            return &keys->keys[i];
        }
    }

    return NULL;
}


/* Writes the ciphertext, and the tag after it. */

static ngx_int_t
ngx_svc_encrypt(EVP_CIPHER_CTX *ctx, const u_char *key, const u_char *nonce,
    const u_char *text, size_t len, const u_char *aad, size_t aad_len,
    u_char *out)
{
    int  n;

    /* GCM is a stream: EVP_EncryptUpdate() writes all, _Final_ex() nothing */

    if (!EVP_EncryptInit_ex2(ctx, EVP_aes_256_gcm(), key, nonce, NULL)
        || !EVP_EncryptUpdate(ctx, NULL, &n, aad, (int) aad_len)
        || !EVP_EncryptUpdate(ctx, out, &n, text, (int) len)
        || !EVP_EncryptFinal_ex(ctx, out + len, &n)
        || !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
                                NGX_SVC_SEAL_TAG_LEN, out + len))
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_decrypt(EVP_CIPHER_CTX *ctx, const ngx_svc_sealed_t *sealed,
    const u_char *aad, size_t aad_len, u_char *out)
{
    int     n;
    u_char  tag[NGX_SVC_SEAL_TAG_LEN];

    ngx_memcpy(tag, sealed->tag, NGX_SVC_SEAL_TAG_LEN);

    if (!EVP_DecryptInit_ex2(ctx, EVP_aes_256_gcm(), sealed->key->key,
                             sealed->nonce, NULL)
        || !EVP_DecryptUpdate(ctx, NULL, &n, aad, (int) aad_len)
        || !EVP_DecryptUpdate(ctx, out, &n, sealed->text, (int) sealed->len)
        || !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
                                NGX_SVC_SEAL_TAG_LEN, tag))
    {
        return NGX_ERROR;
    }

    /* EVP_DecryptFinal_ex() compares the tags */

    if (EVP_DecryptFinal_ex(ctx, out + sealed->len, &n) != 1) {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_sealed_split(const ngx_svc_keys_t *keys, const u_char *text,
    size_t len, ngx_svc_sealed_t *sealed)
{
    size_t  id_len, overhead;

    if (len == 0 || len > NGX_MAX_INT32_VALUE) {
        return NGX_DECLINED;
    }

    id_len = text[0];
    overhead = 1 + id_len + NGX_SVC_SEAL_NONCE_LEN + NGX_SVC_SEAL_TAG_LEN;

    if (len < overhead) {
        return NGX_DECLINED;
    }

    sealed->key = ngx_svc_key_find(keys, text + 1, id_len);
    if (sealed->key == NULL) {
        return NGX_DECLINED;
    }

    sealed->nonce = text + 1 + id_len;
    sealed->text = sealed->nonce + NGX_SVC_SEAL_NONCE_LEN;
    sealed->len = len - overhead;
    sealed->tag = sealed->text + sealed->len;

    return NGX_OK;
}


ngx_uint_t
ngx_svc_key_missing(const ngx_svc_keys_t *keys, const u_char *text, size_t len,
    ngx_str_t *id)
{
    if (len == 0 || len <= text[0] || !ngx_svc_key_id_valid(text + 1, text[0]))
    {
        return 0;
    }

    id->data = (u_char *) text + 1;
    id->len = text[0];

    return !ngx_svc_key_known(keys, id);
}


ngx_uint_t
ngx_svc_key_known(const ngx_svc_keys_t *keys, const ngx_str_t *id)
{
    return ngx_svc_key_find(keys, id->data, id->len) != NULL;
}


ngx_int_t
ngx_svc_wipe_later(ngx_pool_t *pool, u_char *data, size_t len)
{
    ngx_str_t           *bytes;
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(pool, sizeof(ngx_str_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    bytes = cln->data;
    bytes->data = data;
    bytes->len = len;

    cln->handler = ngx_svc_wipe;

    return NGX_OK;
}


static void
ngx_svc_wipe(void *data)
{
    ngx_str_t *bytes = data;

    ngx_explicit_memzero(bytes->data, bytes->len);
}
