/*
 * Stored passwords: an accepted one is within the limits, and is written again
 * as it was; a cheap one is verified.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_phc.h"


static void fuzz_limits(const ngx_svc_phc_t *phc, uint32_t memory);
static void fuzz_again(const uint8_t *data, size_t size,
    const ngx_svc_phc_t *phc);
static size_t fuzz_base64(char *out, const u_char *bytes, size_t len,
    char plus);
static void fuzz_verify(const ngx_svc_phc_t *phc);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_int_t      rc;
    ngx_svc_phc_t  phc, other;

    static const ngx_svc_phc_cost_t  less = { 64, 1 };
    static const ngx_svc_phc_cost_t  more = { 1024 * 1024, 1 };

    rc = ngx_svc_phc_parse(data, size, NULL, &phc);

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED);
    fuzz_assert(ngx_svc_phc_parse(data, size, &less, &other) == rc);

    if (ngx_svc_phc_parse(data, size, &more, &other) == NGX_OK) {
        fuzz_limits(&other, more.memory);

    } else {
        fuzz_assert(rc == NGX_DECLINED);
    }

    if (rc == NGX_OK) {
        fuzz_limits(&phc, NGX_SVC_PHC_MEMORY);
        fuzz_again(data, size, &phc);
        fuzz_verify(&phc);
    }

    return 0;
}


static void
fuzz_limits(const ngx_svc_phc_t *phc, uint32_t memory)
{
    fuzz_assert(phc->iterations >= 1);

    switch (phc->scheme) {

    case NGX_SVC_PHC_S_ARGON2ID:
    case NGX_SVC_PHC_S_ARGON2I:
        fuzz_assert(phc->memory >= 8 * phc->lanes && phc->memory <= memory);
        fuzz_assert(phc->iterations <= 16);
        fuzz_assert(phc->lanes >= 1 && phc->lanes <= 4);
        fuzz_assert(phc->tag_len >= 16 && phc->tag_len <= 64);
        break;

    case NGX_SVC_PHC_S_BCRYPT:
        fuzz_assert(phc->iterations >= 4 && phc->iterations <= 14);
        fuzz_assert(strlen(phc->bcrypt) == 60);
        return;

    case NGX_SVC_PHC_S_PBKDF2_SHA256:
        fuzz_assert(phc->iterations <= 2000000);
        fuzz_assert(phc->tag_len == 32);
        break;

    case NGX_SVC_PHC_S_PBKDF2_SHA512:
        fuzz_assert(phc->iterations <= 2000000);
        fuzz_assert(phc->tag_len == 64);
        break;

    default:
        fuzz_assert(0);
    }

    fuzz_assert(phc->salt_len >= 8 && phc->salt_len <= 64);
}


static void
fuzz_again(const uint8_t *data, size_t size, const ngx_svc_phc_t *phc)
{
    char    text[512];
    char    plus;
    size_t  n;

    if (phc->scheme == NGX_SVC_PHC_S_BCRYPT) {
        fuzz_assert(size == 60 && memcmp(data, phc->bcrypt, 60) == 0);
        return;
    }

    if (phc->scheme <= NGX_SVC_PHC_S_ARGON2I) {
        plus = '+';
        n = snprintf(text, sizeof(text), "$argon2%s$v=19$m=%u,t=%u,p=%u$",
                     phc->scheme == NGX_SVC_PHC_S_ARGON2I ? "i" : "id",
                     phc->memory, phc->iterations, phc->lanes);

    } else {
        plus = '.';
        n = snprintf(text, sizeof(text), "$pbkdf2-sha%d$%u$",
                     phc->scheme == NGX_SVC_PHC_S_PBKDF2_SHA256 ? 256 : 512,
                     phc->iterations);
    }

    n += fuzz_base64(text + n, phc->salt, phc->salt_len, plus);
    text[n++] = '$';
    n += fuzz_base64(text + n, phc->tag, phc->tag_len, plus);

    fuzz_assert(n == size && memcmp(text, data, size) == 0);
}


/* Encodes base64 bit by bit. */

static size_t
fuzz_base64(char *out, const u_char *bytes, size_t len, char plus)
{
    size_t    i, j, n;
    unsigned  value;

    n = (len * 8 + 5) / 6;

    for (i = 0; i < n; i++) {
        value = 0;

        for (j = i * 6; j < i * 6 + 6; j++) {
            value = value * 2
                    + (j < len * 8 ? (bytes[j / 8] >> (7 - j % 8)) & 1 : 0);
        }

        out[i] = value < 26 ? 'A' + value
                 : value < 52 ? 'a' + value - 26
                 : value < 62 ? '0' + value - 52
                 : value == 62 ? plus : '/';
    }

    return n;
}


static void
fuzz_verify(const ngx_svc_phc_t *phc)
{
    ngx_int_t  rc;

    if (phc->scheme == NGX_SVC_PHC_S_BCRYPT
        || phc->memory * phc->iterations > 64 || phc->iterations > 64)
    {
        return;
    }

    rc = ngx_svc_phc_verify(phc, (const u_char *) "password", 8);

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED);
}
