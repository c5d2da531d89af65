/*
 * Hashes, random ids and tokens, and the sealing of secrets that must be read
 * back.
 */

#ifndef _NGX_SVC_CRYPTO_H_INCLUDED_
#define _NGX_SVC_CRYPTO_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_SHA256_LEN     32
#define NGX_SVC_UUID_LEN       16
#define NGX_SVC_UUID_TEXT_LEN  36
#define NGX_SVC_KEY_LEN        32
#define NGX_SVC_KEY_ID_LEN     32       /* bytes, at most */
#define NGX_SVC_KEYS           8        /* in one file, at most */
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


/* Hashes data.  Returns NGX_OK, or NGX_ERROR when OpenSSL fails. */
NGX_SVC_API ngx_int_t ngx_svc_sha256(const u_char *data, size_t len,
    u_char out[NGX_SVC_SHA256_LEN]);

/* Writes random bytes.  Returns NGX_OK, or NGX_ERROR when OpenSSL fails. */
NGX_SVC_API ngx_int_t ngx_svc_random(u_char *out, size_t len);

/*
 * Frees what OpenSSL keeps for a thread, at the end of a task that used OpenSSL
 * in it.  nginx does not wait until its threads have ended, and a thread that
 * ends after the process's exit handlers cannot free it any more.
 */
NGX_SVC_API void ngx_svc_crypto_thread_end(void);

/* Frees what ngx_svc_sha256() keeps for the life of the process. */
void ngx_svc_crypto_exit(void);

/*
 * Returns 1 if the bytes are equal.  The time does not depend on where they
 * differ.
 */
NGX_SVC_API ngx_uint_t ngx_svc_equal(const u_char *a, const u_char *b,
    size_t len);

/*
 * Makes a new UUID of version 7 (RFC 9562), with nginx's time of this iteration
 * of the event loop.  Returns NGX_OK, or NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_uuid_new(u_char out[NGX_SVC_UUID_LEN]);

/*
 * Parses the form 8-4-4-4-12, in upper or lower case.  Returns NGX_OK or
 * NGX_DECLINED.
 */
NGX_SVC_API ngx_int_t ngx_svc_uuid_parse(const u_char *text, size_t len,
    u_char out[NGX_SVC_UUID_LEN]);

/* Writes NGX_SVC_UUID_TEXT_LEN bytes, and returns what follows them. */
NGX_SVC_API u_char *ngx_svc_uuid_text(u_char *p,
    const u_char uuid[NGX_SVC_UUID_LEN]);

/*
 * Reads the text of a key file.  A line is "<id>:<64 hex digits>"; an id has 1
 * to 32 characters A-Za-z0-9_-.  The first key seals, and all keys unseal.
 * Empty lines and lines that start with # are skipped.
 *
 * Returns NGX_OK, or NGX_DECLINED with what is wrong in *why, with the line's
 * number and without a byte of the key.  why has room for NGX_MAX_ERROR_STR / 8
 * bytes, and is NUL-terminated.
 */
NGX_SVC_API ngx_int_t ngx_svc_keys_parse(ngx_svc_keys_t *keys,
    const u_char *text, size_t len, char *why);

/*
 * Seals a text by AES-256-GCM.  aad identifies the row that holds the secret.
 * The format is: length of key id, key id, 12 bytes of nonce, ciphertext, 16
 * bytes of tag.  out has room for len + NGX_SVC_SEAL_OVERHEAD bytes; *out_len
 * is set.  Returns NGX_OK, or NGX_ERROR when there is no key, or OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_seal(const ngx_svc_keys_t *keys,
    const u_char *text, size_t len, const u_char *aad, size_t aad_len,
    u_char *out, size_t *out_len);

/*
 * Unseals such a text; out has room for len bytes, and *out_len is set.
 * Returns NGX_OK; NGX_DECLINED when the text is not authentic, or its key is
 * not in the file; or NGX_ERROR when OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_unseal(const ngx_svc_keys_t *keys,
    const u_char *text, size_t len, const u_char *aad, size_t aad_len,
    u_char *out, size_t *out_len);

/*
 * Tells why a text cannot be unsealed.  Returns 1 if it names a key that is not
 * among keys; *id is the key's id, a part of the text.  Returns 0 if the text
 * is damaged, or is that of another row.
 */
NGX_SVC_API ngx_uint_t ngx_svc_key_missing(const ngx_svc_keys_t *keys,
    const u_char *text, size_t len, ngx_str_t *id);

/* Returns 1 if a key with that id is among keys. */
NGX_SVC_API ngx_uint_t ngx_svc_key_known(const ngx_svc_keys_t *keys,
    const ngx_str_t *id);

/*
 * Arranges that a secret is overwritten when the pool ends, so that it is not
 * found in memory later.  Returns NGX_OK, or NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_wipe_later(ngx_pool_t *pool, u_char *data,
    size_t len);


#endif /* _NGX_SVC_CRYPTO_H_INCLUDED_ */
