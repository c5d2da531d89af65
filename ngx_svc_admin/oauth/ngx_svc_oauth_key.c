/*
 * The keys that tenants sign with.
 */

#include "ngx_svc_oauth_key.h"
#include "ngx_svc_cache.h"
#include "ngx_svc_hex.h"


/* Keys that a worker holds at most, with 3 to 7 kB each. */
#define NGX_SVC_OAUTH_KEYS      12288
#define NGX_SVC_OAUTH_KID       43
#define NGX_SVC_OAUTH_KEY_AAD   "oauth_key"


/*
 * A key that was opened.  It is of ngx_alloc(), until it is evicted or the
 * worker ends.
 */

typedef struct {
    ngx_str_node_t   sn;                /* in the tree, by kid */
    ngx_queue_t      queue;             /* the key used last comes first */
    EVP_PKEY        *key;
    EVP_PKEY_CTX    *signer;            /* NULL: the key is of RSA */
    u_char           kid[NGX_SVC_OAUTH_KID];
} ngx_svc_oauth_key_t;


static ngx_svc_oauth_key_t *ngx_svc_oauth_key_find(const ngx_str_t *kid);
static ngx_int_t ngx_svc_oauth_key_open(ngx_svc_oauth_t *o,
    const ngx_str_t *kid, const ngx_str_t *sealed,
    ngx_svc_oauth_private_t *private);
static void ngx_svc_oauth_key_lost(ngx_svc_oauth_t *o, const ngx_str_t *kid,
    const ngx_str_t *sealed);
static ngx_int_t ngx_svc_oauth_key_unseal(ngx_svc_oauth_t *o,
    const ngx_str_t *kid, const ngx_str_t *sealed,
    u_char der[NGX_SVC_OAUTH_SEALED], size_t *len);
static ngx_svc_oauth_key_t *ngx_svc_oauth_key_keep(const ngx_str_t *kid,
    EVP_PKEY *pkey, EVP_PKEY_CTX *signer);
static void ngx_svc_oauth_key_evict(void);
static size_t ngx_svc_oauth_key_aad(u_char *aad, const ngx_str_t *tenant,
    const u_char *kid);


#include "ngx_svc_oauth_key.sql.h"


static ngx_rbtree_t       ngx_svc_oauth_keys;
static ngx_rbtree_node_t  ngx_svc_oauth_keys_sentinel;
static ngx_queue_t        ngx_svc_oauth_keys_used;
static ngx_uint_t         ngx_svc_oauth_keys_n;


ngx_int_t
ngx_svc_oauth_key_private(ngx_svc_oauth_t *o, const ngx_str_t *kid,
    const ngx_str_t *sealed, ngx_svc_oauth_private_t *private)
{
    ngx_svc_oauth_key_t  *key;

    private->signer = NULL;
    private->rsa = NULL;
    private->der_len = 0;

    key = ngx_svc_oauth_key_find(kid);

    if (key == NULL) {
        return ngx_svc_oauth_key_open(o, kid, sealed, private);
    }

    ngx_queue_insert_head(&ngx_svc_oauth_keys_used, &key->queue);

    private->signer = key->signer;

    if (key->signer == NULL && EVP_PKEY_up_ref(key->key) == 1) {
        private->rsa = key->key;
    }

    return private->signer || private->rsa ? NGX_OK : NGX_ERROR;
}


void
ngx_svc_oauth_key_learn(const ngx_str_t *kid, EVP_PKEY *rsa)
{
    if (!ngx_svc_oauth_key_held(kid) && EVP_PKEY_up_ref(rsa) == 1
        && ngx_svc_oauth_key_keep(kid, rsa, NULL) == NULL)
    {
        EVP_PKEY_free(rsa);
    }
}


ngx_uint_t
ngx_svc_oauth_key_held(const ngx_str_t *kid)
{
    ngx_svc_oauth_key_t  *key;

    key = ngx_svc_oauth_key_find(kid);

    if (key) {
        ngx_queue_insert_head(&ngx_svc_oauth_keys_used, &key->queue);
    }

    return key != NULL;
}


/* Takes the key that it finds out of the queue: the caller puts it first. */

static ngx_svc_oauth_key_t *
ngx_svc_oauth_key_find(const ngx_str_t *kid)
{
    ngx_str_t             text;
    ngx_svc_oauth_key_t  *key;

    if (ngx_svc_oauth_keys.root == NULL) {
        ngx_rbtree_init(&ngx_svc_oauth_keys, &ngx_svc_oauth_keys_sentinel,
                        ngx_str_rbtree_insert_value);
        ngx_queue_init(&ngx_svc_oauth_keys_used);
    }

    text = *kid;

    key = (ngx_svc_oauth_key_t *)
          ngx_str_rbtree_lookup(&ngx_svc_oauth_keys, &text,
                                ngx_crc32_short(kid->data, kid->len));
    if (key) {
        ngx_queue_remove(&key->queue);
    }

    return key;
}


/* A key that is longer than one of P-256 is of RSA, and a thread opens it. */

static ngx_int_t
ngx_svc_oauth_key_open(ngx_svc_oauth_t *o, const ngx_str_t *kid,
    const ngx_str_t *sealed, ngx_svc_oauth_private_t *private)
{
    size_t         len;
    u_char         der[NGX_SVC_OAUTH_SEALED];
    EVP_PKEY      *pkey;
    EVP_PKEY_CTX  *signer;

    pkey = NULL;
    signer = NULL;

    if (ngx_svc_oauth_key_unseal(o, kid, sealed, der, &len) != NGX_OK) {
        ngx_svc_oauth_key_lost(o, kid, sealed);
        return NGX_ERROR;
    }

    if (len > NGX_SVC_JWK_DER && len <= NGX_SVC_JWK_DER_MAX) {
        ngx_memcpy(private->der, der, len);
        private->der_len = len;

    } else {
        pkey = ngx_svc_jwk_private(der, len);
        signer = pkey ? ngx_svc_jws_signer(pkey) : NULL;
        private->signer = signer;
    }

    ngx_explicit_memzero(der, sizeof(der));

    if (private->der_len
        || (signer && ngx_svc_oauth_key_keep(kid, pkey, signer)))
    {
        return NGX_OK;
    }

    EVP_PKEY_CTX_free(signer);
    EVP_PKEY_free(pkey);

    ngx_svc_oauth_key_lost(o, kid, sealed);

    return NGX_ERROR;
}


/*
 * Logs that a key cannot be opened, and which key of svc_key_file is missing,
 * if the sealed text names one.
 */

static void
ngx_svc_oauth_key_lost(ngx_svc_oauth_t *o, const ngx_str_t *kid,
    const ngx_str_t *sealed)
{
    size_t                len;
    u_char                text[NGX_SVC_UUID_TEXT_LEN];
    u_char                bytes[NGX_SVC_OAUTH_SEALED];
    ngx_str_t             id, key;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(o->sr->request,
                                         ngx_http_svc_common_module);
    id = ngx_svc_request_id(o->sr->request);
    len = sizeof(bytes);

    if (ngx_svc_hex_bytea(sealed, bytes, &len) != NGX_OK
        || !ngx_svc_key_missing(&smcf->keys, bytes, len, &key))
    {
        ngx_str_set(&key, "-");
    }

    ngx_log_error(NGX_LOG_ALERT, o->sr->request->connection->log, 0,
                  "svc: the signing key \"%V\" cannot be opened: is the key "
                  "that has sealed it still in \"svc_key_file\"?  Missing: "
                  "\"%V\".  Tenant: %*s, request id: %V", kid, &key,
                  (size_t) (ngx_svc_uuid_text(text, o->tenant.data) - text),
                  text, &id);
}


static ngx_int_t
ngx_svc_oauth_key_unseal(ngx_svc_oauth_t *o, const ngx_str_t *kid,
    const ngx_str_t *sealed, u_char der[NGX_SVC_OAUTH_SEALED], size_t *len)
{
    size_t                n;
    u_char                bytes[NGX_SVC_OAUTH_SEALED];
    u_char                aad[sizeof(NGX_SVC_OAUTH_KEY_AAD) + NGX_SVC_UUID_LEN
                              + NGX_SVC_OAUTH_KID];
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(o->sr->request,
                                         ngx_http_svc_common_module);
    n = sizeof(bytes);

    if (kid->len != NGX_SVC_OAUTH_KID
        || ngx_svc_hex_bytea(sealed, bytes, &n) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_unseal(&smcf->keys, bytes, n, aad,
                          ngx_svc_oauth_key_aad(aad, &o->tenant, kid->data),
                          der, len);
}


/*
 * Keeps an open key.  pkey and signer belong to the worker from then on, unless
 * this returns NULL.
 */

static ngx_svc_oauth_key_t *
ngx_svc_oauth_key_keep(const ngx_str_t *kid, EVP_PKEY *pkey,
    EVP_PKEY_CTX *signer)
{
    ngx_svc_oauth_key_t  *key;

    if (ngx_svc_oauth_keys_n == NGX_SVC_OAUTH_KEYS) {
        ngx_svc_oauth_key_evict();
    }

    key = ngx_alloc(sizeof(ngx_svc_oauth_key_t), ngx_cycle->log);
    if (key == NULL) {
        return NULL;
    }

    ngx_memcpy(key->kid, kid->data, NGX_SVC_OAUTH_KID);

    key->key = pkey;
    key->signer = signer;
    key->sn.str.data = key->kid;
    key->sn.str.len = NGX_SVC_OAUTH_KID;
    key->sn.node.key = ngx_crc32_short(key->kid, NGX_SVC_OAUTH_KID);

    ngx_rbtree_insert(&ngx_svc_oauth_keys, &key->sn.node);
    ngx_queue_insert_head(&ngx_svc_oauth_keys_used, &key->queue);
    ngx_svc_oauth_keys_n++;

    return key;
}


static void
ngx_svc_oauth_key_evict(void)
{
    ngx_queue_t          *q;
    ngx_svc_oauth_key_t  *key;

    q = ngx_queue_last(&ngx_svc_oauth_keys_used);
    key = ngx_queue_data(q, ngx_svc_oauth_key_t, queue);

    ngx_queue_remove(q);
    ngx_rbtree_delete(&ngx_svc_oauth_keys, &key->sn.node);
    ngx_svc_oauth_keys_n--;

    EVP_PKEY_CTX_free(key->signer);
    EVP_PKEY_free(key->key);
    ngx_free(key);
}


void
ngx_svc_oauth_key_exit_worker(void)
{
    while (ngx_svc_oauth_keys_n) {
        ngx_svc_oauth_key_evict();
    }
}


/* Binds a sealed key to its row: it cannot be opened in another one. */

static size_t
ngx_svc_oauth_key_aad(u_char *aad, const ngx_str_t *tenant, const u_char *kid)
{
    u_char  *p;

    p = ngx_cpymem(aad, NGX_SVC_OAUTH_KEY_AAD, sizeof(NGX_SVC_OAUTH_KEY_AAD));
    p = ngx_cpymem(p, tenant->data, NGX_SVC_UUID_LEN);
    p = ngx_cpymem(p, kid, NGX_SVC_OAUTH_KID);

    return p - aad;
}


ngx_int_t
ngx_svc_oauth_key_new(ngx_svc_oauth_t *o)
{
    ngx_int_t          rc;
    ngx_svc_jwk_new_t  new;

    rc = ngx_svc_jwk_generate(&new);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_key_take(o, &new);
    }

    ngx_explicit_memzero(&new, sizeof(new));

    return rc;
}


ngx_int_t
ngx_svc_oauth_key_take(ngx_svc_oauth_t *o, const ngx_svc_jwk_new_t *new)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(o->sr->request,
                                         ngx_http_svc_common_module);

    o->sealed.data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_OAUTH_SEALED);

    if (o->sealed.data == NULL
        || ngx_svc_oauth_bytes(o->sr, &o->kid, new->kid, NGX_SVC_OAUTH_KID)
           != NGX_OK
        || ngx_svc_oauth_bytes(o->sr, &o->jwk, new->jwk, new->jwk_len)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_key_seal(&smcf->keys, &o->tenant, new, o->sealed.data,
                                  &o->sealed.len);
}


ngx_int_t
ngx_svc_oauth_key_seal(const ngx_svc_keys_t *keys, const ngx_str_t *tenant,
    const ngx_svc_jwk_new_t *new, u_char *sealed, size_t *len)
{
    u_char  aad[sizeof(NGX_SVC_OAUTH_KEY_AAD) + NGX_SVC_UUID_LEN
                + NGX_SVC_OAUTH_KID];

    return ngx_svc_seal(keys, new->der, new->der_len, aad,
                        ngx_svc_oauth_key_aad(aad, tenant, new->kid), sealed,
                        len);
}


void
ngx_svc_oauth_key_changed(const ngx_str_t *tenant)
{
    u_char     text[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t  id;

    id.data = text;
    id.len = ngx_svc_uuid_text(text, tenant->data) - text;

    ngx_svc_cache_change(&id);
}
