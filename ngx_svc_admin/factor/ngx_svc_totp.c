/*
 * One-time passwords by time.
 */

#include "ngx_svc_totp.h"
#include "ngx_svc_base32.h"
#include "ngx_svc_crypto.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>


#define NGX_SVC_TOTP_MAC_LEN     20
#define NGX_SVC_TOTP_MODULUS     1000000
#define NGX_SVC_TOTP_ISSUER_LEN  64


static ngx_int_t ngx_svc_totp_code(
    const u_char secret[NGX_SVC_TOTP_SECRET_LEN], int64_t step,
    u_char code[NGX_SVC_TOTP_DIGITS]);
static size_t ngx_svc_totp_issuer_len(const ngx_str_t *issuer);


ngx_uint_t
ngx_svc_totp_shaped(const ngx_str_t *code)
{
    size_t  i;

    if (code->len != NGX_SVC_TOTP_DIGITS) {
        return 0;
    }

    for (i = 0; i < NGX_SVC_TOTP_DIGITS; i++) {
        if (code->data[i] < '0' || code->data[i] > '9') {
            return 0;
        }
    }

    return 1;
}


ngx_int_t
ngx_svc_totp_verify(const u_char secret[NGX_SVC_TOTP_SECRET_LEN],
    const ngx_str_t *code, time_t now, int64_t last_step, int64_t *step)
{
    u_char      expected[NGX_SVC_TOTP_DIGITS];
    int64_t     i, middle, found;
    ngx_int_t   rc;
    ngx_uint_t  equal;

    if (!ngx_svc_totp_shaped(code)) {
        return NGX_DECLINED;
    }

    middle = now / NGX_SVC_TOTP_PERIOD;
    found = 0;
    rc = NGX_OK;

    /*
     * All three are computed, however early one is equal.  When two steps have
     * the same code the later one counts: else the code could be used again for
     * that one.
     */

    for (i = middle - 1; i <= middle + 1 && rc == NGX_OK; i++) {
        rc = ngx_svc_totp_code(secret, i, expected);

        equal = ngx_svc_equal(expected, code->data, NGX_SVC_TOTP_DIGITS);
        found = equal ? i : found;
    }

    ngx_explicit_memzero(expected, sizeof(expected));

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    if (found <= last_step) {
        return NGX_DECLINED;
    }

    *step = found;

    return NGX_OK;
}


/* Computes the code of a step (RFC 4226, 5.3). */

static ngx_int_t
ngx_svc_totp_code(const u_char secret[NGX_SVC_TOTP_SECRET_LEN], int64_t step,
    u_char code[NGX_SVC_TOTP_DIGITS])
{
    u_char       *p, counter[8], mac[NGX_SVC_TOTP_MAC_LEN];
    uint32_t      n;
    ngx_uint_t    i;
    unsigned int  len;

    for (i = 0; i < sizeof(counter); i++) {
        counter[i] = (u_char) ((uint64_t) step >> (56 - 8 * i));
    }

    if (HMAC(EVP_sha1(), secret, NGX_SVC_TOTP_SECRET_LEN, counter,
             sizeof(counter), mac, &len)
        == NULL)
    {
        return NGX_ERROR;
    }

    p = mac + (mac[NGX_SVC_TOTP_MAC_LEN - 1] & 0xf);

    n = (uint32_t) (p[0] & 0x7f) << 24 | p[1] << 16 | p[2] << 8 | p[3];
    n %= NGX_SVC_TOTP_MODULUS;

    for (i = NGX_SVC_TOTP_DIGITS; i > 0; i--) {
        code[i - 1] = (u_char) ('0' + n % 10);
        n /= 10;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_totp_uri(ngx_pool_t *pool, const ngx_str_t *issuer,
    const ngx_str_t *account, const u_char secret[NGX_SVC_TOTP_SECRET_LEN],
    ngx_str_t *uri)
{
    u_char  *p;
    size_t   len, issuer_len;

    static const u_char  begin[] = "otpauth://totp/";
    static const u_char  end[] = "&algorithm=SHA1&digits=6&period=30";

    issuer_len = ngx_svc_totp_issuer_len(issuer);

    /* each byte may become three */

    len = sizeof(begin) + sizeof(":?secret=&issuer=") + sizeof(end)
          + ngx_svc_base32_len(NGX_SVC_TOTP_SECRET_LEN)
          + 3 * (2 * issuer_len + account->len);

    p = ngx_pnalloc(pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    uri->data = p;

    p = ngx_cpymem(p, begin, sizeof(begin) - 1);
    p = (u_char *) ngx_escape_uri(p, issuer->data, issuer_len,
                                  NGX_ESCAPE_URI_COMPONENT);
    *p++ = ':';
    p = (u_char *) ngx_escape_uri(p, account->data, account->len,
                                  NGX_ESCAPE_URI_COMPONENT);
    p = ngx_cpymem(p, "?secret=", sizeof("?secret=") - 1);
    p = ngx_svc_base32(p, NGX_SVC_BASE32_RFC4648, secret,
                       NGX_SVC_TOTP_SECRET_LEN);
    p = ngx_cpymem(p, "&issuer=", sizeof("&issuer=") - 1);
    p = (u_char *) ngx_escape_uri(p, issuer->data, issuer_len,
                                  NGX_ESCAPE_URI_COMPONENT);
    p = ngx_cpymem(p, end, sizeof(end) - 1);

    uri->len = p - uri->data;

    return NGX_OK;
}


/* Returns the length of an issuer, which is cut between characters. */

static size_t
ngx_svc_totp_issuer_len(const ngx_str_t *issuer)
{
    size_t  len;

    if (issuer->len <= NGX_SVC_TOTP_ISSUER_LEN) {
        return issuer->len;
    }

    len = NGX_SVC_TOTP_ISSUER_LEN;

    while (len && (issuer->data[len] & 0xc0) == 0x80) {
        len--;
    }

    return len;
}
