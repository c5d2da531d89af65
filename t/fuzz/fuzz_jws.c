/*
 * JSON Web Signatures.  An input's first line says what follows it:
 *
 *   s   header, payload: signed
 *   p   header, payload, signature (64 bytes are made of it): put together
 *
 * and without such a line it is a JWS as it is.  An accepted one has only one
 * spelling; what was signed verifies, and nothing else does.
 */

#include "ngx_fuzz_jose.h"


static ngx_str_t fuzz_put(ngx_pool_t *pool, ngx_str_t *text);
static void fuzz_jws(ngx_pool_t *pool, const ngx_str_t *text, int is_signed);
static void fuzz_spelling(const ngx_str_t *text);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t    text, header, payload, made;
    ngx_pool_t  *pool;

    pool = fuzz_pool(4096);

    text.data = (u_char *) data;
    text.len = size;

    if (size >= 2 && data[1] == '\n' && (data[0] == 's' || data[0] == 'p')) {
        text.data += 2;
        text.len -= 2;
    }

    if (text.len == size) {
        made.data = ngx_palloc(pool, size + 1);
        made.len = size;
        memcpy(made.data, data, size);

        fuzz_jws(pool, &made, 0);

    } else if (data[0] == 's') {
        header = fuzz_line(pool, &text);
        payload = fuzz_line(pool, &text);
        made = fuzz_signed(pool, &header, &payload);

        fuzz_jws(pool, &made, 1);

    } else {
        made = fuzz_put(pool, &text);

        fuzz_jws(pool, &made, 0);
    }

    fuzz_assert(ERR_peek_error() == 0);

    ngx_destroy_pool(pool);

    return 0;
}


static ngx_str_t
fuzz_put(ngx_pool_t *pool, ngx_str_t *text)
{
    u_char     *p, signature[NGX_SVC_JWS_SIGNATURE];
    ngx_str_t   header, payload, made;

    header = fuzz_line(pool, text);
    payload = fuzz_line(pool, text);

    memset(signature, 0, sizeof(signature));

    if (text->len) {
        memcpy(signature, text->data, ngx_min(text->len, sizeof(signature)));
    }

    made.len = ngx_svc_jws_len(header.len, payload.len);
    made.data = ngx_palloc(pool, made.len);
    fuzz_assert(made.data != NULL);

    p = ngx_svc_base64url(made.data, header.data, header.len);
    *p++ = '.';
    p = ngx_svc_base64url(p, payload.data, payload.len);
    *p++ = '.';
    p = ngx_svc_base64url(p, signature, sizeof(signature));

    fuzz_assert(p == made.data + made.len);

    return made;
}


static void
fuzz_jws(ngx_pool_t *pool, const ngx_str_t *text, int is_signed)
{
    ngx_int_t      rc;
    ngx_svc_jws_t  jws;

    rc = ngx_svc_jws_parse(pool, text, &jws);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && jws.why != NULL);
        return;
    }

    fuzz_assert(jws.why == NULL && text->len <= NGX_SVC_JWS_MAX);
    fuzz_assert(jws.alg == NGX_SVC_JWA_ES256 || jws.alg == NGX_SVC_JWA_EDDSA);
    fuzz_assert(cJSON_IsObject(jws.header) && cJSON_IsObject(jws.payload));
    fuzz_assert(cJSON_GetObjectItem(jws.header, "alg") != NULL);
    fuzz_assert(jws.signed_text.data == text->data);
    fuzz_assert(jws.signed_text.len + 1 + 86 == text->len);

    fuzz_spelling(text);

    rc = ngx_svc_jws_verify(&jws, fuzz_key, NGX_SVC_JWA_ES256);

    if (!is_signed || jws.alg != NGX_SVC_JWA_ES256) {
        fuzz_assert(rc == NGX_DECLINED);
        return;
    }

    fuzz_assert(rc == NGX_OK);

    jws.signature[text->len % jws.signature_len] ^= 1 << text->len % 7;

    fuzz_assert(ngx_svc_jws_verify(&jws, fuzz_key, NGX_SVC_JWA_ES256)
                == NGX_DECLINED);
    fuzz_assert(ngx_svc_jws_verify(&jws, fuzz_key, NGX_SVC_JWA_EDDSA)
                == NGX_DECLINED);
}


/* Decodes each part by OpenSSL, and encodes it again. */

static void
fuzz_spelling(const ngx_str_t *text)
{
    int      n;
    size_t   i, len, start;
    u_char  *part, *bytes, *again;

    part = malloc(text->len + 4);
    bytes = malloc(text->len + 4);
    again = malloc(text->len + 8);
    fuzz_assert(part && bytes && again);

    for (i = 0, start = 0; i <= text->len; i++) {

        if (i < text->len && text->data[i] != '.') {
            part[i - start] = text->data[i] == '-' ? '+'
                              : text->data[i] == '_' ? '/' : text->data[i];
            continue;
        }

        for (len = i - start; len % 4; len++) {
            part[len] = '=';
        }

        n = EVP_DecodeBlock(bytes, part, (int) len);
        fuzz_assert(n >= 0);

        n -= (int) (len - (i - start));
        fuzz_assert(EVP_EncodeBlock(again, bytes, n) == (int) len);
        fuzz_assert(memcmp(again, part, len) == 0);

        start = i + 1;
    }

    free(part);
    free(bytes);
    free(again);
}
