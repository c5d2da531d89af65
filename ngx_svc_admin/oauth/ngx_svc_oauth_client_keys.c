/*
 * The public keys of clients that a worker has read.
 */

#include "ngx_svc_oauth_client_keys.h"
#include "ngx_svc_application_keys.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_jwk_rsa.h"


/* Keys of clients that a worker keeps: some 2 kB for each. */
#define NGX_SVC_OAUTH_CLIENT_KEYS      20480


typedef struct {
    EVP_PKEY        *key;               /* NULL: it verifies nothing */
    ngx_uint_t       algs;              /* bits of ngx_svc_jwa_bit() */
    size_t           kid_len;
    u_char           kid[NGX_SVC_APPLICATION_KID];
} ngx_svc_oauth_client_key_t;

/* The keys of one client, allocated until it is evicted or the worker ends. */

typedef struct {
    ngx_str_node_t   sn;                /* by client_id, see below */
    ngx_queue_t      queue;             /* the most recently used is first */
    u_char           digest[NGX_SVC_SHA256_LEN];
    ngx_uint_t       fapi2;
    u_char           client_id[NGX_SVC_APPLICATION_ID];
    ngx_uint_t       n;
    ngx_svc_oauth_client_key_t
                     keys[];
} ngx_svc_oauth_client_keys_t;


static const ngx_svc_oauth_client_key_t *ngx_svc_oauth_client_keys_of(
    const ngx_svc_oauth_client_keys_t *keys, const ngx_svc_jws_t *jws);
static const char *ngx_svc_oauth_client_keys_profile(
    const ngx_svc_oauth_client_keys_t *keys,
    const ngx_svc_oauth_assertion_t *a);
static ngx_svc_oauth_client_keys_t *ngx_svc_oauth_client_keys_find(
    const ngx_str_t *client_id);
static ngx_svc_oauth_client_keys_t *ngx_svc_oauth_client_keys_read(
    ngx_pool_t *pool, const ngx_str_t *jwks);
static ngx_int_t ngx_svc_oauth_client_keys_add(const cJSON *jwk,
    ngx_svc_oauth_client_keys_t *keys);
static void ngx_svc_oauth_client_keys_keep(ngx_svc_oauth_client_keys_t *keys,
    const ngx_str_t *client_id);
static void ngx_svc_oauth_client_keys_evict(ngx_svc_oauth_client_keys_t *keys);
static void ngx_svc_oauth_client_keys_free(ngx_svc_oauth_client_keys_t *keys);


#include "ngx_svc_oauth_client_keys.sql.h"


static ngx_rbtree_t       ngx_svc_oauth_client_keys;
static ngx_rbtree_node_t  ngx_svc_oauth_client_keys_sentinel;
static ngx_queue_t        ngx_svc_oauth_client_keys_used;
static ngx_uint_t         ngx_svc_oauth_client_keys_n;


ngx_int_t
ngx_svc_oauth_client_keys_verify(ngx_svc_oauth_assertion_t *a,
    u_char digest[NGX_SVC_SHA256_LEN])
{
    ngx_int_t                          rc;
    ngx_svc_oauth_client_keys_t       *keys;
    const ngx_svc_oauth_client_key_t  *key;

    keys = ngx_svc_oauth_client_keys_find(&a->client_id);
    key = keys ? ngx_svc_oauth_client_keys_of(keys, &a->jws) : NULL;

    if (key == NULL) {
        a->why = "names none of the client's keys by 'kid'";
        return NGX_AGAIN;
    }

    if (!(key->algs & ngx_svc_jwa_bit(a->jws.alg))) {
        a->why = "has an 'alg' that is not one of its key";
        return NGX_DECLINED;
    }

    a->why = ngx_svc_oauth_client_keys_profile(keys, a);

    if (a->why) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_jws_verify(&a->jws, key->key, a->jws.alg);

    if (rc == NGX_DECLINED) {
        a->why = "has a signature that is not of its key";
    }

    ngx_memcpy(digest, keys->digest, NGX_SVC_SHA256_LEN);

    return rc;
}


/* Returns the key that the assertion names, or the only one; or NULL. */

static const ngx_svc_oauth_client_key_t *
ngx_svc_oauth_client_keys_of(const ngx_svc_oauth_client_keys_t *keys,
    const ngx_svc_jws_t *jws)
{
    ngx_uint_t                         i;
    const ngx_svc_oauth_client_key_t  *key;

    if (jws->kid.data == NULL) {
        return keys->n == 1 && keys->keys[0].key ? &keys->keys[0] : NULL;
    }

    for (i = 0; i < keys->n; i++) {
        key = &keys->keys[i];

        if (key->key && key->kid_len == jws->kid.len
            && ngx_memcmp(key->kid, jws->kid.data, key->kid_len) == 0)
        {
            return key;
        }
    }

    return NULL;
}


/*
 * Returns what is wrong for the client's profile, or NULL: the assertion must
 * be for the issuer, as one string, and not be signed by PKCS #1 v1.5 (FAPI
 * 2.0 Security Profile, 5.3.2.1 and 5.4.1).
 */

static const char *
ngx_svc_oauth_client_keys_profile(const ngx_svc_oauth_client_keys_t *keys,
    const ngx_svc_oauth_assertion_t *a)
{
    if (!keys->fapi2) {
        return NULL;
    }

    if (!a->for_issuer || a->listed) {
        return "has an 'aud' that is not the issuer as a string, as its"
               " security profile wants it";
    }

    return a->jws.alg == NGX_SVC_JWA_RS256
           ? "has the 'alg' RS256, which its security profile does not have"
           : NULL;
}


static ngx_svc_oauth_client_keys_t *
ngx_svc_oauth_client_keys_find(const ngx_str_t *client_id)
{
    ngx_str_t                     text;
    ngx_svc_oauth_client_keys_t  *keys;

    if (ngx_svc_oauth_client_keys.root == NULL) {
        ngx_rbtree_init(&ngx_svc_oauth_client_keys,
                        &ngx_svc_oauth_client_keys_sentinel,
                        ngx_str_rbtree_insert_value);
        ngx_queue_init(&ngx_svc_oauth_client_keys_used);
    }

    text = *client_id;

    keys = (ngx_svc_oauth_client_keys_t *)
           ngx_str_rbtree_lookup(&ngx_svc_oauth_client_keys, &text,
                                 ngx_crc32_short(text.data, text.len));
    if (keys) {
        ngx_queue_remove(&keys->queue);
        ngx_queue_insert_head(&ngx_svc_oauth_client_keys_used, &keys->queue);
    }

    return keys;
}


ngx_int_t
ngx_svc_oauth_client_keys_learn(ngx_pool_t *pool, const ngx_str_t *client_id,
    PGresult *res)
{
    size_t                            len;
    u_char                            digest[NGX_SVC_SHA256_LEN];
    ngx_svc_oauth_client_keys_t      *keys, *old;
    ngx_svc_row_oauth_client_keys_t   row;

    ngx_svc_row_oauth_client_keys(&row, res, 0);
    old = ngx_svc_oauth_client_keys_find(client_id);

    if (row.jwks.data == NULL) {
        ngx_svc_oauth_client_keys_evict(old);
        return NGX_AGAIN;
    }

    len = sizeof(digest);

    if (ngx_svc_hex_bytea(&row.sha256, digest, &len) != NGX_OK
        || len != sizeof(digest))
    {
        return NGX_ERROR;
    }

    if (old && ngx_memcmp(old->digest, digest, sizeof(digest)) == 0) {
        return NGX_OK;
    }

    ngx_svc_oauth_client_keys_evict(old);

    keys = ngx_svc_oauth_client_keys_read(pool, &row.jwks);

    if (keys == NULL) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                      "svc: the keys of the client \"%V\" cannot be read",
                      client_id);
        return NGX_ERROR;
    }

    keys->fapi2 = row.security_profile.data != NULL;
    ngx_memcpy(keys->digest, digest, sizeof(digest));

    ngx_svc_oauth_client_keys_keep(keys, client_id);

    return NGX_OK;
}


/* Reads the keys from a copy of their text in the pool; or returns NULL. */

static ngx_svc_oauth_client_keys_t *
ngx_svc_oauth_client_keys_read(ngx_pool_t *pool, const ngx_str_t *jwks)
{
    cJSON                        *json;
    ngx_str_t                     text;
    const cJSON                  *array, *jwk;
    ngx_svc_error_t               err;
    ngx_svc_oauth_client_keys_t  *keys;

    text.len = jwks->len;
    text.data = ngx_pnalloc(pool, jwks->len + 1);

    if (text.data == NULL) {
        return NULL;
    }

    ngx_memcpy(text.data, jwks->data, jwks->len);

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &text, &json, &err) != NGX_OK) {
        return NULL;
    }

    array = cJSON_GetObjectItemCaseSensitive(json, "keys");

    keys = ngx_calloc(sizeof(ngx_svc_oauth_client_keys_t)
                      + cJSON_GetArraySize(array)
                        * sizeof(ngx_svc_oauth_client_key_t),
                      ngx_cycle->log);
    if (keys == NULL) {
        return NULL;
    }

    cJSON_ArrayForEach(jwk, array) {
        if (ngx_svc_oauth_client_keys_add(jwk, keys) != NGX_OK) {
            ngx_svc_oauth_client_keys_free(keys);
            return NULL;
        }
    }

    return keys;
}


static ngx_int_t
ngx_svc_oauth_client_keys_add(const cJSON *jwk,
    ngx_svc_oauth_client_keys_t *keys)
{
    const char                  *kid;
    ngx_svc_oauth_client_key_t  *key;

    key = &keys->keys[keys->n];
    kid = ngx_svc_jwk_string(jwk, "kid");

    if (kid == NULL || ngx_strlen(kid) > NGX_SVC_APPLICATION_KID
        || ngx_svc_jwk_client(jwk, &key->key, &key->algs) == NGX_ERROR)
    {
        return NGX_ERROR;
    }

    key->kid_len = ngx_strlen(kid);
    ngx_memcpy(key->kid, kid, key->kid_len);

    keys->n++;

    return NGX_OK;
}


static void
ngx_svc_oauth_client_keys_keep(ngx_svc_oauth_client_keys_t *keys,
    const ngx_str_t *client_id)
{
    ngx_queue_t  *q;

    while (ngx_svc_oauth_client_keys_n + keys->n > NGX_SVC_OAUTH_CLIENT_KEYS) {
        q = ngx_queue_last(&ngx_svc_oauth_client_keys_used);
        ngx_svc_oauth_client_keys_evict(
            ngx_queue_data(q, ngx_svc_oauth_client_keys_t, queue));
    }

    ngx_memcpy(keys->client_id, client_id->data, NGX_SVC_APPLICATION_ID);

    keys->sn.str.data = keys->client_id;
    keys->sn.str.len = NGX_SVC_APPLICATION_ID;
    keys->sn.node.key = ngx_crc32_short(keys->client_id,
                                        NGX_SVC_APPLICATION_ID);

    ngx_rbtree_insert(&ngx_svc_oauth_client_keys, &keys->sn.node);
    ngx_queue_insert_head(&ngx_svc_oauth_client_keys_used, &keys->queue);
    ngx_svc_oauth_client_keys_n += keys->n;
}


/* NULL is allowed. */

static void
ngx_svc_oauth_client_keys_evict(ngx_svc_oauth_client_keys_t *keys)
{
    if (keys == NULL) {
        return;
    }

    ngx_queue_remove(&keys->queue);
    ngx_rbtree_delete(&ngx_svc_oauth_client_keys, &keys->sn.node);
    ngx_svc_oauth_client_keys_n -= keys->n;

    ngx_svc_oauth_client_keys_free(keys);
}


static void
ngx_svc_oauth_client_keys_free(ngx_svc_oauth_client_keys_t *keys)
{
    ngx_uint_t  i;

    for (i = 0; i < keys->n; i++) {
        EVP_PKEY_free(keys->keys[i].key);
    }

    ngx_free(keys);
}


void
ngx_svc_oauth_client_keys_exit_worker(void)
{
    ngx_queue_t  *q;

    while (ngx_svc_oauth_client_keys_n) {
        q = ngx_queue_last(&ngx_svc_oauth_client_keys_used);
        ngx_svc_oauth_client_keys_evict(
            ngx_queue_data(q, ngx_svc_oauth_client_keys_t, queue));
    }
}
