/*
 * Stored passwords.
 */

#include "ngx_svc_phc.h"
#include "ngx_svc_argon2.h"
#include "ngx_svc_crypto.h"

#include <crypt.h>

#include <openssl/err.h>
#include <openssl/evp.h>


#define NGX_SVC_PHC_NEW_SALT     16     /* bytes */
#define NGX_SVC_PHC_NEW_TAG      32
#define NGX_SVC_PHC_NEW_LANES    1
#define NGX_SVC_PHC_BCRYPT_KEY   72     /* bytes of a password that bcrypt
                                           reads */
#define NGX_SVC_PHC_BCRYPT_COST  4      /* length of "$2b$" */
#define NGX_SVC_PHC_BCRYPT_HASH  29     /* length of "$2b$12$" and the salt */
#define NGX_SVC_PHC_BASE64       ngx_base64_encoded_length(NGX_SVC_PHC_TAG)


typedef struct {
    const u_char              *pos;
    const u_char              *end;
    uint32_t                   memory;      /* the limit, in KiB */
} ngx_svc_phc_reader_t;


typedef struct {
    const char                *prefix;
    ngx_svc_phc_scheme_e       scheme;
    ngx_int_t                (*parse)(ngx_svc_phc_reader_t *r,
                                      ngx_svc_phc_t *phc);
} ngx_svc_phc_prefix_t;


static ngx_int_t ngx_svc_phc_parse_argon2(ngx_svc_phc_reader_t *r,
    ngx_svc_phc_t *phc);
static ngx_int_t ngx_svc_phc_parse_bcrypt(ngx_svc_phc_reader_t *r,
    ngx_svc_phc_t *phc);
static ngx_int_t ngx_svc_phc_parse_pbkdf2(ngx_svc_phc_reader_t *r,
    ngx_svc_phc_t *phc);
static ngx_int_t ngx_svc_phc_literal(ngx_svc_phc_reader_t *r,
    const char *text);
static ngx_int_t ngx_svc_phc_number(ngx_svc_phc_reader_t *r, uint32_t min,
    uint32_t max, uint32_t *number);
static ngx_int_t ngx_svc_phc_bytes(ngx_svc_phc_reader_t *r, char plus,
    u_char *out, size_t min, size_t max, size_t *len);
static ngx_int_t ngx_svc_phc_base64(ngx_str_t *text, u_char *out,
    size_t *len);
static ngx_int_t ngx_svc_phc_verify_argon2(const ngx_svc_phc_t *phc,
    const u_char *password, size_t len);
static ngx_int_t ngx_svc_phc_verify_bcrypt(const ngx_svc_phc_t *phc,
    const u_char *password, size_t len);
static ngx_int_t ngx_svc_phc_verify_pbkdf2(const ngx_svc_phc_t *phc,
    const u_char *password, size_t len);
static u_char *ngx_svc_phc_write(u_char *p, u_char *bytes, size_t len);


static const ngx_svc_phc_prefix_t  ngx_svc_phc_prefixes[] = {

    { "$argon2id$", NGX_SVC_PHC_S_ARGON2ID, ngx_svc_phc_parse_argon2 },
    { "$argon2i$", NGX_SVC_PHC_S_ARGON2I, ngx_svc_phc_parse_argon2 },
    { "$2a$", NGX_SVC_PHC_S_BCRYPT, ngx_svc_phc_parse_bcrypt },
    { "$2b$", NGX_SVC_PHC_S_BCRYPT, ngx_svc_phc_parse_bcrypt },
    { "$2y$", NGX_SVC_PHC_S_BCRYPT, ngx_svc_phc_parse_bcrypt },

    { "$pbkdf2-sha256$", NGX_SVC_PHC_S_PBKDF2_SHA256,
      ngx_svc_phc_parse_pbkdf2 },

    { "$pbkdf2-sha512$", NGX_SVC_PHC_S_PBKDF2_SHA512,
      ngx_svc_phc_parse_pbkdf2 },
};


ngx_int_t
ngx_svc_phc_parse(const u_char *text, size_t len,
    const ngx_svc_phc_cost_t *cost, ngx_svc_phc_t *phc)
{
    ngx_uint_t                   i;
    ngx_svc_phc_reader_t         r;
    const ngx_svc_phc_prefix_t  *prefix;

    if (len > NGX_SVC_PHC_LEN) {
        return NGX_DECLINED;
    }

    ngx_memzero(phc, sizeof(ngx_svc_phc_t));

    r.pos = text;
    r.end = text + len;
    r.memory = NGX_SVC_PHC_MEMORY;

    if (cost && cost->memory > r.memory) {
        r.memory = cost->memory;
    }

    for (i = 0;
         i < sizeof(ngx_svc_phc_prefixes) / sizeof(ngx_svc_phc_prefix_t);
         i++)
    {
        prefix = &ngx_svc_phc_prefixes[i];

        if (ngx_svc_phc_literal(&r, prefix->prefix) == NGX_OK) {
            phc->scheme = prefix->scheme;

            return prefix->parse(&r, phc);
        }
    }

    return NGX_DECLINED;
}


ngx_int_t
ngx_svc_phc_verify(const ngx_svc_phc_t *phc, const u_char *password,
    size_t len)
{
    switch (phc->scheme) {

    case NGX_SVC_PHC_S_ARGON2ID:
    case NGX_SVC_PHC_S_ARGON2I:
        return ngx_svc_phc_verify_argon2(phc, password, len);

    case NGX_SVC_PHC_S_BCRYPT:
        return ngx_svc_phc_verify_bcrypt(phc, password, len);

    default: /* PBKDF2 */
        return ngx_svc_phc_verify_pbkdf2(phc, password, len);
    }
}


ngx_int_t
ngx_svc_phc_make(const ngx_svc_phc_cost_t *cost, const u_char *password,
    size_t len, u_char out[NGX_SVC_PHC_LEN], size_t *out_len)
{
    u_char            *p, salt[NGX_SVC_PHC_NEW_SALT], tag[NGX_SVC_PHC_NEW_TAG];
    ngx_int_t          rc;
    ngx_svc_argon2_t   params;

    if (ngx_svc_random(salt, sizeof(salt)) != NGX_OK) {
        ERR_clear_error();
        return NGX_ERROR;
    }

    params.type = Argon2_id;
    params.memory = cost->memory;
    params.iterations = cost->iterations;
    params.lanes = NGX_SVC_PHC_NEW_LANES;
    params.salt = salt;
    params.salt_len = sizeof(salt);

    rc = ngx_svc_argon2(&params, password, len, tag, sizeof(tag));

    if (rc == NGX_OK) {
        p = ngx_snprintf(out, NGX_SVC_PHC_LEN, "$argon2id$v=%d$m=%uD,t=%uD,"
                         "p=%d", ARGON2_VERSION_13, cost->memory,
                         cost->iterations, NGX_SVC_PHC_NEW_LANES);
        p = ngx_svc_phc_write(p, salt, sizeof(salt));
        p = ngx_svc_phc_write(p, tag, sizeof(tag));

        *out_len = p - out;
    }

    ngx_explicit_memzero(tag, sizeof(tag));

    return rc;
}


ngx_int_t
ngx_svc_phc_dummy(const ngx_svc_phc_cost_t *cost, const u_char *password,
    size_t len)
{
    ngx_int_t      rc;
    ngx_svc_phc_t  phc;

    ngx_memzero(&phc, sizeof(ngx_svc_phc_t));

    phc.scheme = NGX_SVC_PHC_S_ARGON2ID;
    phc.memory = cost->memory;
    phc.iterations = cost->iterations;
    phc.lanes = NGX_SVC_PHC_NEW_LANES;
    phc.salt_len = NGX_SVC_PHC_NEW_SALT;
    phc.tag_len = NGX_SVC_PHC_NEW_TAG;

    rc = ngx_svc_phc_verify_argon2(&phc, password, len);

    return rc == NGX_OK ? NGX_DECLINED : rc;
}


ngx_uint_t
ngx_svc_phc_outdated(const ngx_svc_phc_t *phc, const ngx_svc_phc_cost_t *cost)
{
    return phc->scheme != NGX_SVC_PHC_S_ARGON2ID
           || phc->memory != cost->memory
           || phc->iterations != cost->iterations
           || phc->lanes != NGX_SVC_PHC_NEW_LANES
           || phc->salt_len != NGX_SVC_PHC_NEW_SALT
           || phc->tag_len != NGX_SVC_PHC_NEW_TAG;
}


static ngx_int_t
ngx_svc_phc_parse_argon2(ngx_svc_phc_reader_t *r, ngx_svc_phc_t *phc)
{
    if (ngx_svc_phc_literal(r, "v=19$m=") != NGX_OK
        || ngx_svc_phc_number(r, 8, r->memory, &phc->memory) != NGX_OK
        || ngx_svc_phc_literal(r, ",t=") != NGX_OK
        || ngx_svc_phc_number(r, 1, NGX_SVC_PHC_ITERATIONS, &phc->iterations)
           != NGX_OK
        || ngx_svc_phc_literal(r, ",p=") != NGX_OK
        || ngx_svc_phc_number(r, 1, NGX_SVC_PHC_LANES, &phc->lanes) != NGX_OK
        || phc->memory < 8 * phc->lanes
        || ngx_svc_phc_bytes(r, '+', phc->salt, NGX_SVC_PHC_SALT_MIN,
                             NGX_SVC_PHC_SALT, &phc->salt_len)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_phc_bytes(r, '+', phc->tag, NGX_SVC_PHC_TAG_MIN,
                          NGX_SVC_PHC_TAG, &phc->tag_len)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return r->pos == r->end ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_phc_parse_bcrypt(ngx_svc_phc_reader_t *r, ngx_svc_phc_t *phc)
{
    u_char         c;
    ngx_int_t      cost;
    const u_char  *p;

    p = r->pos;

    if (r->end - p != NGX_SVC_PHC_BCRYPT_LEN - NGX_SVC_PHC_BCRYPT_COST) {
        return NGX_DECLINED;
    }

    cost = ngx_atoi((u_char *) p, 2);

    if (cost < 4 || cost > NGX_SVC_PHC_BCRYPT || p[2] != '$') {
        return NGX_DECLINED;
    }

    phc->iterations = (uint32_t) cost;
    ngx_memcpy(phc->bcrypt, p - NGX_SVC_PHC_BCRYPT_COST,
               NGX_SVC_PHC_BCRYPT_LEN);

    for (p += 3; p < r->end; p++) {
        c = *p;

        if (!(c >= '.' && c <= '9') && !(c >= 'A' && c <= 'Z')
            && !(c >= 'a' && c <= 'z'))
        {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_phc_parse_pbkdf2(ngx_svc_phc_reader_t *r, ngx_svc_phc_t *phc)
{
    size_t  len;

    len = phc->scheme == NGX_SVC_PHC_S_PBKDF2_SHA256 ? 32 : 64;

    if (ngx_svc_phc_number(r, 1, NGX_SVC_PHC_PBKDF2, &phc->iterations)
        != NGX_OK
        || ngx_svc_phc_bytes(r, '.', phc->salt, NGX_SVC_PHC_SALT_MIN,
                             NGX_SVC_PHC_SALT, &phc->salt_len)
           != NGX_OK
        || ngx_svc_phc_bytes(r, '.', phc->tag, len, len, &phc->tag_len)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return r->pos == r->end ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_phc_literal(ngx_svc_phc_reader_t *r, const char *text)
{
    size_t  len;

    len = ngx_strlen(text);

    if ((size_t) (r->end - r->pos) < len
        || ngx_memcmp(r->pos, text, len) != 0)
    {
        return NGX_DECLINED;
    }

    r->pos += len;

    return NGX_OK;
}


/* Reads a decimal number, without zeros in front. */

static ngx_int_t
ngx_svc_phc_number(ngx_svc_phc_reader_t *r, uint32_t min, uint32_t max,
    uint32_t *number)
{
    uint32_t       n;
    const u_char  *start;

    n = 0;

    for (start = r->pos; r->pos < r->end; r->pos++) {

        if (*r->pos < '0' || *r->pos > '9') {
            break;
        }

        /* max is far from what would overflow */

        n = n * 10 + (*r->pos - '0');

        if (n > max) {
            return NGX_DECLINED;
        }
    }

    if (r->pos == start || *start == '0' || n < min) {
        return NGX_DECLINED;
    }

    *number = n;

    return NGX_OK;
}


/* Reads "$", and base64 without padding, in which 62 is a plus or a dot. */

static ngx_int_t
ngx_svc_phc_bytes(ngx_svc_phc_reader_t *r, char plus, u_char *out, size_t min,
    size_t max, size_t *len)
{
    u_char     c, text[NGX_SVC_PHC_BASE64];
    ngx_str_t  s;

    if (ngx_svc_phc_literal(r, "$") != NGX_OK) {
        return NGX_DECLINED;
    }

    s.data = text;
    s.len = 0;

    for ( /* void */ ; r->pos < r->end && *r->pos != '$'; r->pos++) {
        c = *r->pos;

        if (s.len == sizeof(text) || c == '=') {
            return NGX_DECLINED;
        }

        if (c == plus) {
            c = '+';

        } else if (c == '+') {
            return NGX_DECLINED;
        }

        text[s.len++] = c;
    }

    if (ngx_svc_phc_base64(&s, out, len) != NGX_OK
        || *len < min || *len > max)
    {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


/* Takes only the canonical text: the bits that are left over must be 0. */

static ngx_int_t
ngx_svc_phc_base64(ngx_str_t *text, u_char *out, size_t *len)
{
    u_char     bytes[NGX_SVC_PHC_BASE64], again[NGX_SVC_PHC_BASE64];
    ngx_str_t  decoded, encoded;

    decoded.data = bytes;
    encoded.data = again;

    if (ngx_decode_base64(&decoded, text) != NGX_OK
        || decoded.len > NGX_SVC_PHC_TAG)
    {
        return NGX_DECLINED;
    }

    ngx_encode_base64(&encoded, &decoded);

    if (encoded.len < text->len
        || ngx_memcmp(encoded.data, text->data, text->len) != 0)
    {
        return NGX_DECLINED;
    }

    ngx_memcpy(out, bytes, decoded.len);
    *len = decoded.len;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_phc_verify_argon2(const ngx_svc_phc_t *phc, const u_char *password,
    size_t len)
{
    u_char            tag[NGX_SVC_PHC_TAG];
    ngx_int_t         rc;
    ngx_svc_argon2_t  params;

    params.type = phc->scheme == NGX_SVC_PHC_S_ARGON2I ? Argon2_i : Argon2_id;
    params.memory = phc->memory;
    params.iterations = phc->iterations;
    params.lanes = phc->lanes;
    params.salt = phc->salt;
    params.salt_len = phc->salt_len;

    rc = ngx_svc_argon2(&params, password, len, tag, phc->tag_len);

    if (rc == NGX_OK && !ngx_svc_equal(tag, phc->tag, phc->tag_len)) {
        rc = NGX_DECLINED;
    }

    ngx_explicit_memzero(tag, sizeof(tag));

    return rc;
}


/*
 * Compares the hash alone: bcrypt reads two bits of the salt's last character,
 * and some strings have others set.
 */

static ngx_int_t
ngx_svc_phc_verify_bcrypt(const ngx_svc_phc_t *phc, const u_char *password,
    size_t len)
{
    char                key[NGX_SVC_PHC_BCRYPT_KEY + 1];
    char               *text;
    ngx_int_t           rc;
    struct crypt_data   data;

    /* bcrypt would stop at a NUL: this is another password */

    if (memchr(password, '\0', len) != NULL) {
        return NGX_DECLINED;
    }

    len = ngx_min(len, NGX_SVC_PHC_BCRYPT_KEY);

    ngx_memcpy(key, password, len);
    key[len] = '\0';

    ngx_memzero(&data, sizeof(struct crypt_data));

    text = crypt_rn(key, phc->bcrypt, &data, sizeof(struct crypt_data));

    if (text == NULL || ngx_strlen(text) != NGX_SVC_PHC_BCRYPT_LEN) {
        rc = NGX_ERROR;

    } else if (ngx_svc_equal((u_char *) text + NGX_SVC_PHC_BCRYPT_HASH,
                             (u_char *) phc->bcrypt + NGX_SVC_PHC_BCRYPT_HASH,
                             NGX_SVC_PHC_BCRYPT_LEN - NGX_SVC_PHC_BCRYPT_HASH))
    {
        rc = NGX_OK;

    } else {
        rc = NGX_DECLINED;
    }

    ngx_explicit_memzero(key, sizeof(key));
    ngx_explicit_memzero(&data, sizeof(struct crypt_data));

    return rc;
}


static ngx_int_t
ngx_svc_phc_verify_pbkdf2(const ngx_svc_phc_t *phc, const u_char *password,
    size_t len)
{
    u_char         tag[NGX_SVC_PHC_TAG];
    ngx_int_t      rc;
    const EVP_MD  *md;

    md = phc->scheme == NGX_SVC_PHC_S_PBKDF2_SHA256 ? EVP_sha256()
                                                    : EVP_sha512();

    if (!PKCS5_PBKDF2_HMAC((const char *) password, (int) len, phc->salt,
                           (int) phc->salt_len, (int) phc->iterations, md,
                           (int) phc->tag_len, tag))
    {
        ERR_clear_error();
        rc = NGX_ERROR;

    } else {
        rc = ngx_svc_equal(tag, phc->tag, phc->tag_len) ? NGX_OK
                                                        : NGX_DECLINED;
    }

    ngx_explicit_memzero(tag, sizeof(tag));

    return rc;
}


static u_char *
ngx_svc_phc_write(u_char *p, u_char *bytes, size_t len)
{
    ngx_str_t  src, dst;

    *p++ = '$';

    src.data = bytes;
    src.len = len;
    dst.data = p;

    ngx_encode_base64(&dst, &src);

    while (dst.data[dst.len - 1] == '=') {
        dst.len--;
    }

    return dst.data + dst.len;
}
