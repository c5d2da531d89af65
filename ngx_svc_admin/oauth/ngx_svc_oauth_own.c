/*
 * Access tokens of clients that act for themselves.
 *
 * An opaque token is base64url of: a byte that tells its kind, the tenant, the
 * client's id in bytes, the jti; and, sealed and bound to these, the seconds
 * that it lives, whether it is bound to a DPoP key, that key's thumbprint, the
 * length of the scopes, the scopes, and the audience.  The key that seals it is
 * derived from the key of svc_key_file and from the jti: AES-GCM with random
 * nonces is good for no more than 2^32 texts under one key.
 */

#include "ngx_svc_oauth_own.h"
#include "ngx_svc_application.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_mac.h"
#include "ngx_svc_oauth_bearer.h"
#include "ngx_svc_http.h"


#define NGX_SVC_OAUTH_OWN_SEALED  1         /* the first byte: the kind */
#define NGX_SVC_OAUTH_OWN_CLIENT  (1 + NGX_SVC_APPLICATION_RANDOM)
#define NGX_SVC_OAUTH_OWN_JTI                                                 \
    (1 + NGX_SVC_UUID_LEN + NGX_SVC_OAUTH_OWN_CLIENT)
#define NGX_SVC_OAUTH_OWN_CLEAR  (NGX_SVC_OAUTH_OWN_JTI + NGX_SVC_UUID_LEN)
#define NGX_SVC_OAUTH_OWN_FIXED  (4 + 1 + 2)
#define NGX_SVC_OAUTH_OWN_LABEL  "svc oauth token"

/* As many bytes as base64url writes into NGX_SVC_OAUTH_SEALED_MAX at most. */
#define NGX_SVC_OAUTH_OWN_BYTES  ((NGX_SVC_OAUTH_SEALED_MAX - 4) * 3 / 4)


static size_t ngx_svc_oauth_own_write(const ngx_svc_oauth_own_t *own,
    u_char *text, size_t size);
static ngx_int_t ngx_svc_oauth_own_clear(const ngx_svc_oauth_own_t *own,
    u_char *p);
static ngx_int_t ngx_svc_oauth_own_key(const ngx_svc_mac_key_t *mac,
    const u_char *jti, ngx_svc_keys_t *keys);
static ngx_int_t ngx_svc_oauth_own_read(ngx_svc_request_t *sr,
    const u_char *clear, u_char *text, size_t len, ngx_svc_oauth_own_t *own);
static ngx_int_t ngx_svc_oauth_own_client(ngx_svc_request_t *sr,
    const u_char *p, ngx_svc_oauth_own_t *own);
static ngx_int_t ngx_svc_oauth_own_audience(ngx_svc_request_t *sr,
    ngx_svc_oauth_own_t *own);
static void ngx_svc_oauth_own_ms(ngx_svc_oauth_own_t *own);
static ngx_int_t ngx_svc_oauth_own_texts(const cJSON *claims,
    ngx_svc_oauth_own_t *own, ngx_str_t *iss);
static ngx_int_t ngx_svc_oauth_own_numbers(const cJSON *claims,
    ngx_svc_oauth_own_t *own);
static ngx_int_t ngx_svc_oauth_own_cnf(ngx_svc_request_t *sr,
    const cJSON *claims, ngx_svc_oauth_own_t *own);


static ngx_svc_macs_t  ngx_svc_oauth_own_macs;


ngx_int_t
ngx_svc_oauth_own_init_worker(const ngx_svc_keys_t *keys)
{
    return ngx_svc_mac_init(&ngx_svc_oauth_own_macs, keys,
                            NGX_SVC_OAUTH_OWN_LABEL);
}


void
ngx_svc_oauth_own_exit_worker(void)
{
    ngx_svc_mac_free(&ngx_svc_oauth_own_macs);
}


ngx_int_t
ngx_svc_oauth_own_jti(ngx_svc_oauth_own_t *own, const ngx_str_t *digits)
{
    ngx_uint_t  i;

    for (i = 0; i < 6; i++) {
        own->jti[i] = (u_char) (own->ms >> (40 - 8 * i));
    }

    return ngx_svc_hex(digits->data, digits->len / 2, own->jti + 6);
}


ngx_int_t
ngx_svc_oauth_own_seal(ngx_svc_request_t *sr, ngx_svc_oauth_own_t *own,
    ngx_str_t *text)
{
    u_char          *p, claims[NGX_SVC_OAUTH_OWN_BYTES];
    u_char           bytes[NGX_SVC_OAUTH_OWN_BYTES];
    size_t           len, n;
    ngx_int_t        rc;
    ngx_svc_keys_t   keys;

    n = ngx_svc_oauth_own_write(own, claims, sizeof(claims));

    if (n == 0 || NGX_SVC_OAUTH_OWN_CLEAR + n + NGX_SVC_SEAL_OVERHEAD
                  > sizeof(bytes))
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_oauth_own_clear(own, bytes) != NGX_OK
        || ngx_svc_oauth_own_key(&ngx_svc_oauth_own_macs.keys[0], own->jti,
                                 &keys)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_seal(&keys, claims, n, bytes, NGX_SVC_OAUTH_OWN_CLEAR,
                      bytes + NGX_SVC_OAUTH_OWN_CLEAR, &len);

    ngx_explicit_memzero(&keys, sizeof(ngx_svc_keys_t));

    if (rc != NGX_OK) {
        return rc;
    }

    len += NGX_SVC_OAUTH_OWN_CLEAR;

    p = ngx_pnalloc(sr->request->pool,
                    sizeof(NGX_SVC_OAUTH_OPAQUE) - 1
                    + ngx_svc_base64url_len(len) + NGX_SVC_SHA256_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;

    p = ngx_cpymem(p, NGX_SVC_OAUTH_OPAQUE, sizeof(NGX_SVC_OAUTH_OPAQUE) - 1);
    p = ngx_svc_base64url(p, bytes, len);

    text->len = p - text->data;

    own->secret_hash.data = p;
    own->secret_hash.len = NGX_SVC_SHA256_LEN;

    return ngx_svc_sha256(text->data, text->len, p);
}


/* Writes what is to be sealed.  Returns its length; 0: it is too long. */

static size_t
ngx_svc_oauth_own_write(const ngx_svc_oauth_own_t *own, u_char *text,
    size_t size)
{
    u_char  *p;

    if (NGX_SVC_OAUTH_OWN_FIXED + own->jkt.len + own->scope.len
        + own->audience.len > size)
    {
        return 0;
    }

    p = text;

    *p++ = (u_char) (own->ttl >> 24);
    *p++ = (u_char) (own->ttl >> 16);
    *p++ = (u_char) (own->ttl >> 8);
    *p++ = (u_char) own->ttl;

    *p++ = (own->jkt.len != 0);

    if (own->jkt.len) {
        p = ngx_cpymem(p, own->jkt.data, own->jkt.len);
    }

    *p++ = (u_char) (own->scope.len >> 8);
    *p++ = (u_char) own->scope.len;
    p = ngx_cpymem(p, own->scope.data, own->scope.len);

    if (own->audience.len) {
        p = ngx_cpymem(p, own->audience.data, own->audience.len);
    }

    return p - text;
}


/* Writes what stands in the clear, in front of that. */

static ngx_int_t
ngx_svc_oauth_own_clear(const ngx_svc_oauth_own_t *own, u_char *p)
{
    *p++ = NGX_SVC_OAUTH_OWN_SEALED;

    p = ngx_cpymem(p, own->tenant.data, NGX_SVC_UUID_LEN);

    /* this tells "app_" from "agt_" */

    *p++ = own->client_id.data[1];

    ngx_memcpy(p + NGX_SVC_APPLICATION_RANDOM, own->jti, NGX_SVC_UUID_LEN);

    return ngx_svc_hex(own->client_id.data + NGX_SVC_APPLICATION_PREFIX,
                       NGX_SVC_APPLICATION_RANDOM, p);
}


/* Derives the key of one token, in two halves.  The caller wipes it. */

static ngx_int_t
ngx_svc_oauth_own_key(const ngx_svc_mac_key_t *mac, const u_char *jti,
    ngx_svc_keys_t *keys)
{
    u_char          text[1 + NGX_SVC_UUID_LEN];
    ngx_uint_t      half;
    ngx_svc_key_t  *key;

    keys->n = 1;
    key = &keys->keys[0];

    key->id_len = mac->id_len;
    ngx_memcpy(key->id, mac->id, mac->id_len);
    ngx_memcpy(text + 1, jti, NGX_SVC_UUID_LEN);

    for (half = 0; half < NGX_SVC_KEY_LEN / NGX_SVC_MAC_LEN; half++) {
        text[0] = (u_char) half;

        if (ngx_svc_mac(mac, text, sizeof(text),
                        key->key + half * NGX_SVC_MAC_LEN)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_own_open(ngx_svc_request_t *sr, u_char *bytes, size_t len,
    ngx_svc_oauth_own_t **own)
{
    u_char                   *text;
    size_t                    n;
    ngx_int_t                 rc;
    ngx_svc_keys_t            keys;
    const u_char             *sealed;
    const ngx_svc_mac_key_t  *mac;

    sealed = bytes + NGX_SVC_OAUTH_OWN_CLEAR;

    if (len <= NGX_SVC_OAUTH_OWN_CLEAR + NGX_SVC_KEY_ID_LEN
        || bytes[0] != NGX_SVC_OAUTH_OWN_SEALED
        || *sealed > NGX_SVC_KEY_ID_LEN)
    {
        return NGX_DECLINED;
    }

    mac = ngx_svc_mac_find(&ngx_svc_oauth_own_macs, sealed + 1, *sealed);
    if (mac == NULL) {
        return NGX_DECLINED;
    }

    text = ngx_pnalloc(sr->request->pool, len);
    *own = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_oauth_own_t));

    if (text == NULL || *own == NULL
        || ngx_svc_oauth_own_key(mac, bytes + NGX_SVC_OAUTH_OWN_JTI, &keys)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_unseal(&keys, sealed, len - NGX_SVC_OAUTH_OWN_CLEAR, bytes,
                        NGX_SVC_OAUTH_OWN_CLEAR, text, &n);

    ngx_explicit_memzero(&keys, sizeof(ngx_svc_keys_t));

    return rc == NGX_OK ? ngx_svc_oauth_own_read(sr, bytes, text, n, *own)
                        : rc;
}


/*
 * Reads what was sealed.  The text is authentic: only a later version of this
 * module could have written something else.
 */

static ngx_int_t
ngx_svc_oauth_own_read(ngx_svc_request_t *sr, const u_char *clear,
    u_char *text, size_t len, ngx_svc_oauth_own_t *own)
{
    u_char  *p, *end;

    p = text;
    end = text + len;

    if (len < NGX_SVC_OAUTH_OWN_FIXED) {
        return NGX_DECLINED;
    }

    ngx_memcpy(own->jti, clear + NGX_SVC_OAUTH_OWN_JTI, NGX_SVC_UUID_LEN);

    own->ttl = (ngx_int_t) p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
    p += 4;

    if (*p++) {

        if (end - p < NGX_SVC_SHA256_LEN + 2) {
            return NGX_DECLINED;
        }

        own->jkt.data = p;
        own->jkt.len = NGX_SVC_SHA256_LEN;
        p += NGX_SVC_SHA256_LEN;
    }

    own->scope.len = p[0] << 8 | p[1];
    own->scope.data = p + 2;
    p += 2;

    if ((size_t) (end - p) < own->scope.len) {
        return NGX_DECLINED;
    }

    p += own->scope.len;

    if (p < end) {
        own->audience.data = p;
        own->audience.len = end - p;
    }

    own->tenant.data = (u_char *) clear + 1;
    own->tenant.len = NGX_SVC_UUID_LEN;

    ngx_svc_oauth_own_ms(own);

    return ngx_svc_oauth_own_client(sr, clear + 1 + NGX_SVC_UUID_LEN, own);
}


static ngx_int_t
ngx_svc_oauth_own_client(ngx_svc_request_t *sr, const u_char *p,
    ngx_svc_oauth_own_t *own)
{
    u_char  *last;

    own->client_id.len = NGX_SVC_APPLICATION_ID;
    own->client_id.data = ngx_pnalloc(sr->request->pool,
                                      NGX_SVC_APPLICATION_ID);
    if (own->client_id.data == NULL) {
        return NGX_ERROR;
    }

    last = ngx_cpymem(own->client_id.data, *p == 'g' ? "agt_" : "app_",
                      NGX_SVC_APPLICATION_PREFIX);

    ngx_hex_dump(last, (u_char *) p + 1, NGX_SVC_APPLICATION_RANDOM);

    return ngx_svc_oauth_own_audience(sr, own);
}


/* Sets the key of the audience, which depends on the audience's text alone. */

static ngx_int_t
ngx_svc_oauth_own_audience(ngx_svc_request_t *sr, ngx_svc_oauth_own_t *own)
{
    if (own->audience.data == NULL) {
        return NGX_OK;
    }

    own->audience_key.data = ngx_pnalloc(sr->request->pool,
                                         own->audience.len + 1);
    if (own->audience_key.data == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_application_resource(&own->audience, &own->audience_key);
}


static void
ngx_svc_oauth_own_ms(ngx_svc_oauth_own_t *own)
{
    ngx_uint_t  i;

    own->ms = 0;

    for (i = 0; i < 6; i++) {
        own->ms = own->ms << 8 | own->jti[i];
    }
}


ngx_int_t
ngx_svc_oauth_own_claims(ngx_svc_request_t *sr, const ngx_svc_jws_t *jws,
    ngx_svc_oauth_own_t **own)
{
    ngx_int_t             rc;
    ngx_str_t             iss;
    ngx_svc_oauth_own_t  *t;

    t = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_oauth_own_t));
    if (t == NULL) {
        return NGX_ERROR;
    }

    *own = t;
    ngx_str_null(&iss);

    if (ngx_svc_oauth_own_texts(jws->payload, t, &iss) != NGX_OK
        || ngx_svc_oauth_own_numbers(jws->payload, t) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    t->kid = jws->kid;

    if (t->audience.len == iss.len
        && ngx_memcmp(t->audience.data, iss.data, iss.len) == 0)
    {
        ngx_str_null(&t->audience);
    }

    rc = ngx_svc_oauth_own_cnf(sr, jws->payload, t);

    return rc == NGX_OK ? ngx_svc_oauth_own_audience(sr, t) : rc;
}


/*
 * Takes the claims that are texts.  A user's token has the user as its subject,
 * and a token of a client that acts for another one has "act": they are
 * refused.
 */

static ngx_int_t
ngx_svc_oauth_own_texts(const cJSON *claims, ngx_svc_oauth_own_t *own,
    ngx_str_t *iss)
{
    ngx_uint_t  i;
    ngx_str_t   sub;

    const struct {
        const char  *claim;
        ngx_str_t   *value;
    } texts[] = {
        { "iss", iss },
        { "sub", &sub },
        { "client_id", &own->client_id },
        { "aud", &own->audience },
        { "scope", &own->scope }
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ngx_svc_jws_text(claims, texts[i].claim, texts[i].value) != NGX_OK
            || texts[i].value->data == NULL)
        {
            return NGX_DECLINED;
        }
    }

    return ngx_svc_application_id(&own->client_id)
           && sub.len == own->client_id.len
           && ngx_memcmp(sub.data, own->client_id.data, sub.len) == 0
           && !cJSON_GetObjectItemCaseSensitive(claims, "act")
           ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_oauth_own_numbers(const cJSON *claims, ngx_svc_oauth_own_t *own)
{
    int64_t    iat, exp;
    ngx_str_t  jti;

    if (ngx_svc_jws_date(claims, "iat", &iat) != NGX_OK
        || ngx_svc_jws_date(claims, "exp", &exp) != NGX_OK
        || exp <= iat || exp - iat > NGX_MAX_INT32_VALUE
        || ngx_svc_jws_text(claims, "jti", &jti) != NGX_OK
        || jti.data == NULL
        || ngx_svc_uuid_parse(jti.data, jti.len, own->jti) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_svc_oauth_own_ms(own);
    own->ttl = exp - iat;

    return own->ms / 1000 == iat ? NGX_OK : NGX_DECLINED;
}


/*
 * Takes the thumbprint of the key that the token is bound to (RFC 9449, 6.1).
 */

static ngx_int_t
ngx_svc_oauth_own_cnf(ngx_svc_request_t *sr, const cJSON *claims,
    ngx_svc_oauth_own_t *own)
{
    size_t        len;
    ngx_str_t     text;
    const cJSON  *cnf;

    cnf = cJSON_GetObjectItemCaseSensitive(claims, "cnf");

    if (cnf == NULL) {
        return NGX_OK;
    }

    if (ngx_svc_jws_text(cnf, "jkt", &text) != NGX_OK
        || text.len != ngx_svc_base64url_len(NGX_SVC_SHA256_LEN))
    {
        return NGX_DECLINED;
    }

    own->jkt.data = ngx_pnalloc(sr->request->pool, NGX_SVC_SHA256_LEN + 3);
    if (own->jkt.data == NULL) {
        return NGX_ERROR;
    }

    own->jkt.len = NGX_SVC_SHA256_LEN;

    return ngx_svc_base64url_decode(text.data, text.len, own->jkt.data, &len);
}
