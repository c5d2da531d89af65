/*
 * Hashes, random ids and tokens, and sealing of secrets that must be read back.
 */

#ifndef _NGX_SVC_CRYPTO_H_INCLUDED_
#define _NGX_SVC_CRYPTO_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_SHA256_LEN     32
#define NGX_SVC_UUID_LEN       16
#define NGX_SVC_UUID_TEXT_LEN  36
#define NGX_SVC_KEY_LEN        32
#define NGX_SVC_KEY_ID_LEN     32       /* at most */
#define NGX_SVC_KEYS           8        /* at most, in one file */
#define NGX_SVC_SEAL_OVERHEAD  (1 + NGX_SVC_KEY_ID_LEN + 12 + 16)


typedef struct {
    u_char                id[NGX_SVC_KEY_ID_LEN];
    size_t                id_len;
    u_char                key[NGX_SVC_KEY_LEN];
} ngx_svc_key_t;

typedef struct {
    ngx_uint_t            n;
    ngx_svc_key_t         keys[NGX_SVC_KEYS];   /* the first one seals */
} ngx_svc_keys_t;


/* NGX_OK, or NGX_ERROR when OpenSSL fails. */
NGX_SVC_API ngx_int_t ngx_svc_sha256(const u_char *data, size_t len,
    u_char out[NGX_SVC_SHA256_LEN]);
NGX_SVC_API ngx_int_t ngx_svc_random(u_char *out, size_t len);

/*
 * At the end of a task that used OpenSSL in a thread: frees what OpenSSL keeps
 * for the thread.  nginx does not wait until its threads have ended, and one
 * that ends behind the process' exit handlers cannot free it any more.
 */
NGX_SVC_API void ngx_svc_crypto_thread_end(void);

/* Frees what ngx_svc_sha256() keeps for the life of the process. */
void ngx_svc_crypto_exit(void);

/* Constant in time for equal lengths; 1 when equal. */
NGX_SVC_API ngx_uint_t ngx_svc_equal(const u_char *a, const u_char *b,
    size_t len);

/*
 * A new UUID version 7 (RFC 9562), of nginx's time of this turn of the event
 * loop.  NGX_OK, or NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_uuid_new(u_char out[NGX_SVC_UUID_LEN]);

/* The 8-4-4-4-12 form in any case; NGX_OK, or NGX_DECLINED. */
NGX_SVC_API ngx_int_t ngx_svc_uuid_parse(const u_char *text, size_t len,
    u_char out[NGX_SVC_UUID_LEN]);

/* Writes NGX_SVC_UUID_TEXT_LEN bytes, returns what follows them. */
NGX_SVC_API u_char *ngx_svc_uuid_text(u_char *p,
    const u_char uuid[NGX_SVC_UUID_LEN]);

/*
 * Reads a key file's text: lines "<id>:<64 hex digits>", id of 1 to 32
 * characters A-Za-z0-9_-, the first key seals, all open; empty lines and
 * lines that start with # are skipped.
 *
 * NGX_OK, or NGX_DECLINED with *why: what is wrong, with the line's number and
 * without a byte of the key.  why has room for NGX_MAX_ERROR_STR / 8 bytes
 * and is NUL-terminated.
 */
NGX_SVC_API ngx_int_t ngx_svc_keys_parse(ngx_svc_keys_t *keys,
    const u_char *text, size_t len, char *why);

/*
 * AES-256-GCM.  aad is the identity of the row that holds the secret.
 * Format: length of key id, key id, 12 bytes nonce, ciphertext, 16 bytes tag.
 * out has room for len + NGX_SVC_SEAL_OVERHEAD bytes (seal), or len (open).
 * *out_len is set.  NGX_OK; NGX_DECLINED when the text is not authentic or its
 * key is not in the file; NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_seal(const ngx_svc_keys_t *keys,
    const u_char *text, size_t len, const u_char *aad, size_t aad_len,
    u_char *out, size_t *out_len);
NGX_SVC_API ngx_int_t ngx_svc_unseal(const ngx_svc_keys_t *keys,
    const u_char *text, size_t len, const u_char *aad, size_t aad_len,
    u_char *out, size_t *out_len);

/*
 * Of what cannot be unsealed: 1 when it names a key that is not among keys, and
 * *id is its id, a part of text; 0: it is damaged, or another row's.
 */
NGX_SVC_API ngx_uint_t ngx_svc_key_missing(const ngx_svc_keys_t *keys,
    const u_char *text, size_t len, ngx_str_t *id);

/* 1: a key of this id is among them. */
NGX_SVC_API ngx_uint_t ngx_svc_key_known(const ngx_svc_keys_t *keys,
    const ngx_str_t *id);

/*
 * Has these bytes overwritten when the pool ends, for what nobody may find in
 * memory later.  NGX_OK, or NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_wipe_later(ngx_pool_t *pool, u_char *data,
    size_t len);


#endif /* _NGX_SVC_CRYPTO_H_INCLUDED_ */
