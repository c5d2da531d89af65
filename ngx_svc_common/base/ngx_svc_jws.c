/*
 * JSON Web Signatures.  OpenSSL's queue of errors is cleared before each
 * return: it may have errors also when a call has succeeded.
 */

#include "ngx_svc_jws.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_json.h"
#include "ngx_svc_jws_rsa.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>


#define NGX_SVC_JWS_NUMBER  32      /* bytes of r, and of s */
#define NGX_SVC_JWS_DER     72      /* bytes of both in DER, at most */

/*
 * The algorithms of those who sign: with a key that comes with the signature,
 * tenants, and clients.
 */

#define NGX_SVC_JWS_SMALL   (ngx_svc_jwa_bit(NGX_SVC_JWA_ES256)               \
                             | ngx_svc_jwa_bit(NGX_SVC_JWA_EDDSA))
#define NGX_SVC_JWS_TENANT  (NGX_SVC_JWS_SMALL                                \
                             | ngx_svc_jwa_bit(NGX_SVC_JWA_RS256))
#define NGX_SVC_JWS_CLIENT  (NGX_SVC_JWS_TENANT                               \
                             | ngx_svc_jwa_bit(NGX_SVC_JWA_PS256))


static ngx_int_t ngx_svc_jws_raw(const u_char *der, size_t len, u_char *raw);
static ngx_int_t ngx_svc_jws_read(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_jws_t *jws, ngx_uint_t algs);
static ngx_int_t ngx_svc_jws_refuse(ngx_svc_jws_t *jws, const char *why);
static ngx_int_t ngx_svc_jws_split(const ngx_str_t *text, ngx_str_t parts[3]);
static ngx_int_t ngx_svc_jws_object(ngx_pool_t *pool, const ngx_str_t *part,
    cJSON **json);
static ngx_int_t ngx_svc_jws_header(ngx_svc_jws_t *jws);
static const char *ngx_svc_jws_other_alg(const ngx_svc_jws_t *jws);
static ngx_int_t ngx_svc_jws_signature(const ngx_str_t *part,
    ngx_svc_jws_t *jws);
static int ngx_svc_jws_verify_es256(const ngx_svc_jws_t *jws, EVP_PKEY *key);
static ngx_uint_t ngx_svc_jws_in_range(const u_char *number);
static size_t ngx_svc_jws_der(const u_char *raw, u_char *der);
static u_char *ngx_svc_jws_der_number(u_char *p, const u_char *number);
static int ngx_svc_jws_verify_eddsa(const ngx_svc_jws_t *jws, EVP_PKEY *key);


static const struct {
    ngx_svc_jwa_e   alg;
    const char     *type;
    int           (*verify)(const ngx_svc_jws_t *jws, EVP_PKEY *key);
} ngx_svc_jws_algs[] = {
    { NGX_SVC_JWA_ES256, "EC", ngx_svc_jws_verify_es256 },
    { NGX_SVC_JWA_EDDSA, "ED25519", ngx_svc_jws_verify_eddsa },
    { NGX_SVC_JWA_RS256, "RSA", ngx_svc_jws_rsa_verify },
    { NGX_SVC_JWA_PS256, "RSA", ngx_svc_jws_rsa_verify },
    { NGX_SVC_JWA_NONE, NULL, NULL }
};

/* The order of P-256's group (FIPS 186-4, D.1.2.3). */

static const u_char  ngx_svc_jws_order[NGX_SVC_JWS_NUMBER] = {
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84,
    0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51
};


EVP_PKEY_CTX *
ngx_svc_jws_signer(EVP_PKEY *key)
{
    EVP_PKEY_CTX  *ctx;

    ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);

    if (ctx && EVP_PKEY_sign_init(ctx) != 1) {
        EVP_PKEY_CTX_free(ctx);
        ctx = NULL;
    }

    ERR_clear_error();

    return ctx;
}


u_char *
ngx_svc_jws_sign(EVP_PKEY_CTX *signer, const ngx_str_t *header,
    const ngx_str_t *payload, u_char *p)
{
    size_t   len;
    u_char  *start, digest[NGX_SVC_SHA256_LEN], der[NGX_SVC_JWS_DER];
    u_char   raw[NGX_SVC_JWS_SIGNATURE];

    start = p;

    p = ngx_svc_base64url(p, header->data, header->len);
    *p++ = '.';
    p = ngx_svc_base64url(p, payload->data, payload->len);

    len = sizeof(der);

    if (ngx_svc_sha256(start, p - start, digest) == NGX_OK
        && EVP_PKEY_sign(signer, der, &len, digest, sizeof(digest)) == 1
        && ngx_svc_jws_raw(der, len, raw) == NGX_OK)
    {
        *p++ = '.';
        p = ngx_svc_base64url(p, raw, sizeof(raw));

    } else {
        p = NULL;
    }

    ERR_clear_error();

    return p;
}


/* Writes a signature as RFC 7518, 3.4: r and s, each with 32 bytes. */

static ngx_int_t
ngx_svc_jws_raw(const u_char *der, size_t len, u_char *raw)
{
    ngx_int_t      rc;
    ECDSA_SIG     *sig;
    const u_char  *p;

    p = der;
    sig = d2i_ECDSA_SIG(NULL, &p, len);

    if (sig == NULL) {
        return NGX_ERROR;
    }

    rc = BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, NGX_SVC_JWS_NUMBER)
         == NGX_SVC_JWS_NUMBER
         && BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + NGX_SVC_JWS_NUMBER,
                         NGX_SVC_JWS_NUMBER)
            == NGX_SVC_JWS_NUMBER
         ? NGX_OK : NGX_ERROR;

    ECDSA_SIG_free(sig);

    return rc;
}


ngx_int_t
ngx_svc_jws_parse(ngx_pool_t *pool, const ngx_str_t *text, ngx_svc_jws_t *jws)
{
    return ngx_svc_jws_read(pool, text, jws, NGX_SVC_JWS_SMALL);
}


ngx_int_t
ngx_svc_jws_parse_signed(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_jws_t *jws)
{
    return ngx_svc_jws_read(pool, text, jws, NGX_SVC_JWS_TENANT);
}


ngx_int_t
ngx_svc_jws_parse_client(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_jws_t *jws)
{
    return ngx_svc_jws_read(pool, text, jws, NGX_SVC_JWS_CLIENT);
}


static ngx_int_t
ngx_svc_jws_read(ngx_pool_t *pool, const ngx_str_t *text, ngx_svc_jws_t *jws,
    ngx_uint_t algs)
{
    ngx_int_t  rc;
    ngx_str_t  parts[3];

    ngx_memzero(jws, sizeof(ngx_svc_jws_t));

    jws->algs = algs;

    if (text->len > NGX_SVC_JWS_MAX) {
        return ngx_svc_jws_refuse(jws, "is longer than 8192 bytes");
    }

    if (ngx_svc_jws_split(text, parts) != NGX_OK) {
        return ngx_svc_jws_refuse(jws, "is not a JWS of three parts");
    }

    rc = ngx_svc_jws_object(pool, &parts[0], &jws->header);

    if (rc == NGX_DECLINED) {
        return ngx_svc_jws_refuse(jws, "has a header that is not a JSON object"
                                  " in base64url");
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_jws_header(jws);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_jws_signature(&parts[2], jws);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_jws_object(pool, &parts[1], &jws->payload);

    if (rc == NGX_DECLINED) {
        return ngx_svc_jws_refuse(jws, "has a payload that is not a JSON"
                                  " object in base64url");
    }

    jws->signed_text.data = text->data;
    jws->signed_text.len = parts[2].data - 1 - text->data;

    return rc;
}


static ngx_int_t
ngx_svc_jws_refuse(ngx_svc_jws_t *jws, const char *why)
{
    jws->why = why;

    return NGX_DECLINED;
}


static ngx_int_t
ngx_svc_jws_split(const ngx_str_t *text, ngx_str_t parts[3])
{
    u_char      *p, *last, *dot;
    ngx_uint_t   i;

    p = text->data;
    last = text->data + text->len;

    for (i = 0; i < 3; i++) {
        dot = ngx_strlchr(p, last, '.');

        if ((dot == NULL) != (i == 2)) {
            return NGX_DECLINED;
        }

        if (dot == NULL) {
            dot = last;
        }

        parts[i].data = p;
        parts[i].len = dot - p;

        p = dot + 1;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_jws_object(ngx_pool_t *pool, const ngx_str_t *part, cJSON **json)
{
    ngx_str_t        text;
    ngx_svc_error_t  err;

    text.data = ngx_pnalloc(pool, part->len + 1);
    if (text.data == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_base64url_decode(part->data, part->len, text.data, &text.len)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    err.kind = NGX_SVC_E_NONE;

    return ngx_svc_json_parse(pool, &text, json, &err);
}


/* Reads the header (RFC 7515, 4.1).  We know no extension for "crit". */

static ngx_int_t
ngx_svc_jws_header(ngx_svc_jws_t *jws)
{
    ngx_str_t  alg;

    if (cJSON_GetObjectItemCaseSensitive(jws->header, "crit")) {
        return ngx_svc_jws_refuse(jws, "has a 'crit' in its header");
    }

    if (ngx_svc_jws_text(jws->header, "typ", &jws->typ) != NGX_OK) {
        return ngx_svc_jws_refuse(jws, "has a 'typ' that is not a string");
    }

    if (ngx_svc_jws_text(jws->header, "kid", &jws->kid) != NGX_OK) {
        return ngx_svc_jws_refuse(jws, "has a 'kid' that is not a string");
    }

    if (ngx_svc_jws_text(jws->header, "alg", &alg) == NGX_OK && alg.data) {
        jws->alg = ngx_svc_jwa((char *) alg.data);
    }

    return jws->algs & ngx_svc_jwa_bit(jws->alg)
           ? NGX_OK : ngx_svc_jws_refuse(jws, ngx_svc_jws_other_alg(jws));
}


static const char *
ngx_svc_jws_other_alg(const ngx_svc_jws_t *jws)
{
    return jws->algs == NGX_SVC_JWS_CLIENT
           ? "has an 'alg' that is none of ES256, EdDSA, Ed25519, PS256 and"
             " RS256"
           : "has an 'alg' that is none of ES256, EdDSA and Ed25519";
}


static ngx_int_t
ngx_svc_jws_signature(const ngx_str_t *part, ngx_svc_jws_t *jws)
{
    size_t      least, most;
    ngx_uint_t  rsa;

    rsa = ngx_svc_jwa_bit(jws->alg) & ~NGX_SVC_JWS_SMALL;

    least = rsa ? NGX_SVC_JWS_RSA : NGX_SVC_JWS_SIGNATURE;
    most = rsa && jws->algs == NGX_SVC_JWS_CLIENT ? NGX_SVC_JWS_RSA_MAX
                                                  : least;

    if (part->len >= ngx_svc_base64url_len(least)
        && part->len <= ngx_svc_base64url_len(most)
        && ngx_svc_base64url_decode(part->data, part->len, jws->signature,
                                    &jws->signature_len)
           == NGX_OK)
    {
        return NGX_OK;
    }

    return ngx_svc_jws_refuse(jws, !rsa
                              ? "has a signature that is not 64 bytes in"
                                " base64url"
                              : most > least
                              ? "has a signature that is not 256 to 512 bytes"
                                " in base64url"
                              : "has a signature that is not 256 bytes in"
                                " base64url");
}


ngx_int_t
ngx_svc_jws_verify(const ngx_svc_jws_t *jws, EVP_PKEY *key, ngx_svc_jwa_e alg)
{
    int         rc;
    ngx_uint_t  i;

    for (i = 0; ngx_svc_jws_algs[i].type; i++) {
        if (ngx_svc_jws_algs[i].alg == alg) {
            break;
        }
    }

    if (ngx_svc_jws_algs[i].type == NULL || jws->alg != alg
        || !EVP_PKEY_is_a(key, ngx_svc_jws_algs[i].type))
    {
        return NGX_DECLINED;
    }

    rc = ngx_svc_jws_algs[i].verify(jws, key);

    if (ngx_svc_jwk_refused() == NGX_ERROR && rc == 0) {
        rc = -1;
    }

    return rc == 1 ? NGX_OK : rc == 0 ? NGX_DECLINED : NGX_ERROR;
}


/*
 * Returns 1 if the signature is right, 0 if it is not, less than 0 when OpenSSL
 * fails; here and below.
 */

static int
ngx_svc_jws_verify_es256(const ngx_svc_jws_t *jws, EVP_PKEY *key)
{
    int            rc;
    size_t         len;
    u_char         digest[NGX_SVC_SHA256_LEN], der[NGX_SVC_JWS_DER];
    EVP_PKEY_CTX  *ctx;

    if (!ngx_svc_jws_in_range(jws->signature)
        || !ngx_svc_jws_in_range(jws->signature + NGX_SVC_JWS_NUMBER))
    {
        return 0;
    }

    len = ngx_svc_jws_der(jws->signature, der);

    if (ngx_svc_sha256(jws->signed_text.data, jws->signed_text.len, digest)
        != NGX_OK)
    {
        return -1;
    }

    ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);

    if (ctx == NULL || EVP_PKEY_verify_init(ctx) != 1) {
        rc = -1;

    } else {
        rc = EVP_PKEY_verify(ctx, der, len, digest, sizeof(digest));
    }

    EVP_PKEY_CTX_free(ctx);

    return rc;
}


/* Returns 1 if a number is from 1 to the order minus 1 (FIPS 186-4, 6.4). */

static ngx_uint_t
ngx_svc_jws_in_range(const u_char *number)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_JWS_NUMBER && number[i] == 0; i++) { /* void */ }

    return i < NGX_SVC_JWS_NUMBER
           && ngx_memcmp(number, ngx_svc_jws_order, NGX_SVC_JWS_NUMBER) < 0;
}


/* Writes r and s as SEQUENCE { r INTEGER, s INTEGER }; returns its length. */

static size_t
ngx_svc_jws_der(const u_char *raw, u_char *der)
{
    u_char  *p;

    p = ngx_svc_jws_der_number(der + 2, raw);
    p = ngx_svc_jws_der_number(p, raw + NGX_SVC_JWS_NUMBER);

    der[0] = 0x30;
    der[1] = (u_char) (p - der - 2);

    return p - der;
}


/*
 * Writes an INTEGER without leading zeros, but for one where the number would
 * be negative without it.
 */

static u_char *
ngx_svc_jws_der_number(u_char *p, const u_char *number)
{
    size_t  len;

    for (len = NGX_SVC_JWS_NUMBER; *number == 0; number++) {
        len--;
    }

    *p++ = 0x02;

    if (*number & 0x80) {
        *p++ = (u_char) (len + 1);
        *p++ = 0;

    } else {
        *p++ = (u_char) len;
    }

    return ngx_cpymem(p, number, len);
}


static int
ngx_svc_jws_verify_eddsa(const ngx_svc_jws_t *jws, EVP_PKEY *key)
{
    int          rc;
    EVP_MD_CTX  *ctx;

    ctx = EVP_MD_CTX_new();

    if (ctx == NULL || EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) != 1) {
        rc = -1;

    } else {
        rc = EVP_DigestVerify(ctx, jws->signature, NGX_SVC_JWS_SIGNATURE,
                              jws->signed_text.data, jws->signed_text.len);
    }

    EVP_MD_CTX_free(ctx);

    return rc;
}


ngx_int_t
ngx_svc_jws_text(const cJSON *json, const char *name, ngx_str_t *text)
{
    const cJSON  *item;

    ngx_str_null(text);

    item = cJSON_GetObjectItemCaseSensitive(json, name);

    if (item == NULL) {
        return NGX_OK;
    }

    if (!cJSON_IsString(item)) {
        return NGX_DECLINED;
    }

    text->data = (u_char *) item->valuestring;
    text->len = ngx_strlen(item->valuestring);

    return NGX_OK;
}


ngx_int_t
ngx_svc_jws_date(const cJSON *json, const char *name, int64_t *seconds)
{
    double        value;
    const cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(json, name);

    if (!cJSON_IsNumber(item)) {
        return NGX_DECLINED;
    }

    value = item->valuedouble;

    if (value < -NGX_SVC_JWS_INTEGER || value > NGX_SVC_JWS_INTEGER) {
        return NGX_DECLINED;
    }

    *seconds = (int64_t) value;

    if (value < (double) *seconds) {
        (*seconds)--;
    }

    return NGX_OK;
}
