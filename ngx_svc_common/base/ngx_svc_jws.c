/*
 * JSON Web Signatures.  OpenSSL's queue of errors is cleared before each
 * return: it may have errors also when a call has succeeded.
 */

#include "ngx_svc_jws.h"
#include "ngx_svc_json.h"
#include "ngx_svc_jws_ec.h"
#include "ngx_svc_jws_rsa.h"

#include <openssl/err.h>


/* The algorithms of those who sign. */

#define NGX_SVC_JWS_SMALL   (ngx_svc_jwa_bit(NGX_SVC_JWA_ES256)               \
                             | ngx_svc_jwa_bit(NGX_SVC_JWA_EDDSA))
#define NGX_SVC_JWS_TENANT  (NGX_SVC_JWS_SMALL                                \
                             | ngx_svc_jwa_bit(NGX_SVC_JWA_RS256))
#define NGX_SVC_JWS_CLIENT  (NGX_SVC_JWS_TENANT                               \
                             | ngx_svc_jwa_bit(NGX_SVC_JWA_PS256))
#define NGX_SVC_JWS_FOREIGN_ALGS                                              \
    (NGX_SVC_JWS_CLIENT | ngx_svc_jwa_bit(NGX_SVC_JWA_ES384))


/* Those who sign, and what is taken of them. */

typedef struct {
    ngx_uint_t       algs;          /* as ngx_svc_jwa_bit() */
    size_t           max;           /* bytes of a text */
    size_t           rsa_max;       /* bytes of a signature of RSA */
    const char      *too_long;
    const char      *other_alg;
    const char      *other_rsa;
} ngx_svc_jws_signers_t;


static ngx_int_t ngx_svc_jws_read(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_jws_t *jws, const ngx_svc_jws_signers_t *signers);
static ngx_int_t ngx_svc_jws_refuse(ngx_svc_jws_t *jws, const char *why);
static ngx_int_t ngx_svc_jws_split(const ngx_str_t *text, ngx_str_t parts[3]);
static ngx_int_t ngx_svc_jws_object(ngx_pool_t *pool, const ngx_str_t *part,
    cJSON **json);
static ngx_int_t ngx_svc_jws_header(ngx_svc_jws_t *jws,
    const ngx_svc_jws_signers_t *signers);
static ngx_int_t ngx_svc_jws_signature(ngx_pool_t *pool,
    const ngx_str_t *part, ngx_svc_jws_t *jws,
    const ngx_svc_jws_signers_t *signers);
static int ngx_svc_jws_verify_eddsa(const ngx_svc_jws_t *jws, EVP_PKEY *key);


static const struct {
    ngx_svc_jwa_e   alg;
    const char     *type;
    int           (*verify)(const ngx_svc_jws_t *jws, EVP_PKEY *key);
} ngx_svc_jws_algs[] = {
    { NGX_SVC_JWA_ES256, "EC", ngx_svc_jws_ec_verify_es256 },
    { NGX_SVC_JWA_EDDSA, "ED25519", ngx_svc_jws_verify_eddsa },
    { NGX_SVC_JWA_RS256, "RSA", ngx_svc_jws_rsa_verify },
    { NGX_SVC_JWA_PS256, "RSA", ngx_svc_jws_rsa_verify },
    { NGX_SVC_JWA_ES384, "EC", ngx_svc_jws_ec_verify_es384 },
    { NGX_SVC_JWA_NONE, NULL, NULL }
};


#define NGX_SVC_JWS_NO_SMALL                                                  \
    "has an 'alg' that is none of ES256, EdDSA and Ed25519"
#define NGX_SVC_JWS_NO_RSA                                                    \
    "has a signature that is not 256 bytes in base64url"

/* those whose keys come with the signature */

static const ngx_svc_jws_signers_t  ngx_svc_jws_small = {
    .algs = NGX_SVC_JWS_SMALL,
    .max = NGX_SVC_JWS_MAX,
    .rsa_max = NGX_SVC_JWS_RSA,
    .too_long = "is longer than 8192 bytes",
    .other_alg = NGX_SVC_JWS_NO_SMALL,
    .other_rsa = NGX_SVC_JWS_NO_RSA
};

static const ngx_svc_jws_signers_t  ngx_svc_jws_tenant = {
    .algs = NGX_SVC_JWS_TENANT,
    .max = NGX_SVC_JWS_MAX,
    .rsa_max = NGX_SVC_JWS_RSA,
    .too_long = "is longer than 8192 bytes",
    .other_alg = NGX_SVC_JWS_NO_SMALL,
    .other_rsa = NGX_SVC_JWS_NO_RSA
};

static const ngx_svc_jws_signers_t  ngx_svc_jws_client = {
    .algs = NGX_SVC_JWS_CLIENT,
    .max = NGX_SVC_JWS_MAX,
    .rsa_max = NGX_SVC_JWS_RSA_MAX,
    .too_long = "is longer than 8192 bytes",
    .other_alg = "has an 'alg' that is none of ES256, EdDSA, Ed25519, PS256 and"
                 " RS256",
    .other_rsa = "has a signature that is not 256 to 512 bytes in base64url"
};

static const ngx_svc_jws_signers_t  ngx_svc_jws_foreign = {
    .algs = NGX_SVC_JWS_FOREIGN_ALGS,
    .max = NGX_SVC_JWS_FOREIGN_MAX,
    .rsa_max = NGX_SVC_JWS_FOREIGN_RSA,
    .too_long = "is longer than 16384 bytes",
    .other_alg = "has an 'alg' that is none of RS256, PS256, ES256, ES384,"
                 " EdDSA and Ed25519",
    .other_rsa = "has a signature that is not 256 to 1024 bytes in base64url"
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
    u_char  *start, raw[NGX_SVC_JWS_SIGNATURE];

    start = p;

    p = ngx_svc_base64url(p, header->data, header->len);
    *p++ = '.';
    p = ngx_svc_base64url(p, payload->data, payload->len);

    if (ngx_svc_jws_ec_sign(signer, start, p - start, raw) == NGX_OK) {
        *p++ = '.';
        p = ngx_svc_base64url(p, raw, sizeof(raw));

    } else {
        p = NULL;
    }

    ERR_clear_error();

    return p;
}


ngx_int_t
ngx_svc_jws_parse(ngx_pool_t *pool, const ngx_str_t *text, ngx_svc_jws_t *jws)
{
    return ngx_svc_jws_read(pool, text, jws, &ngx_svc_jws_small);
}


ngx_int_t
ngx_svc_jws_parse_signed(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_jws_t *jws)
{
    return ngx_svc_jws_read(pool, text, jws, &ngx_svc_jws_tenant);
}


ngx_int_t
ngx_svc_jws_parse_client(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_jws_t *jws)
{
    return ngx_svc_jws_read(pool, text, jws, &ngx_svc_jws_client);
}


ngx_int_t
ngx_svc_jws_parse_foreign(ngx_pool_t *pool, const ngx_str_t *text,
    ngx_svc_jws_t *jws)
{
    return ngx_svc_jws_read(pool, text, jws, &ngx_svc_jws_foreign);
}


static ngx_int_t
ngx_svc_jws_read(ngx_pool_t *pool, const ngx_str_t *text, ngx_svc_jws_t *jws,
    const ngx_svc_jws_signers_t *signers)
{
    ngx_int_t  rc;
    ngx_str_t  parts[3];

    ngx_memzero(jws, sizeof(ngx_svc_jws_t));

    if (text->len > signers->max) {
        return ngx_svc_jws_refuse(jws, signers->too_long);
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
        rc = ngx_svc_jws_header(jws, signers);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_jws_signature(pool, &parts[2], jws, signers);
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
ngx_svc_jws_header(ngx_svc_jws_t *jws, const ngx_svc_jws_signers_t *signers)
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

    return signers->algs & ngx_svc_jwa_bit(jws->alg)
           ? NGX_OK : ngx_svc_jws_refuse(jws, signers->other_alg);
}


static ngx_int_t
ngx_svc_jws_signature(ngx_pool_t *pool, const ngx_str_t *part,
    ngx_svc_jws_t *jws, const ngx_svc_jws_signers_t *signers)
{
    size_t       least, most;
    const char  *why;

    if (jws->alg == NGX_SVC_JWA_RS256 || jws->alg == NGX_SVC_JWA_PS256) {
        least = NGX_SVC_JWS_RSA;
        most = signers->rsa_max;
        why = signers->other_rsa;

    } else if (jws->alg == NGX_SVC_JWA_ES384) {
        least = most = NGX_SVC_JWS_ES384;
        why = "has a signature that is not 96 bytes in base64url";

    } else {
        least = most = NGX_SVC_JWS_SIGNATURE;
        why = "has a signature that is not 64 bytes in base64url";
    }

    if (part->len < ngx_svc_base64url_len(least)
        || part->len > ngx_svc_base64url_len(most))
    {
        return ngx_svc_jws_refuse(jws, why);
    }

    jws->signature = ngx_pnalloc(pool, part->len);
    if (jws->signature == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_base64url_decode(part->data, part->len, jws->signature,
                                    &jws->signature_len)
           == NGX_OK ? NGX_OK : ngx_svc_jws_refuse(jws, why);
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
 * fails.
 */

static int
ngx_svc_jws_verify_eddsa(const ngx_svc_jws_t *jws, EVP_PKEY *key)
{
    int          rc;
    EVP_MD_CTX  *ctx;

    ctx = EVP_MD_CTX_new();

    if (ctx == NULL || EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) != 1) {
        rc = -1;

    } else {
        rc = EVP_DigestVerify(ctx, jws->signature, jws->signature_len,
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
