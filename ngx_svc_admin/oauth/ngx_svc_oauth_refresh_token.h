/*
 * Refresh tokens: "srt_" and 32 bytes in base64url, whose digest is stored.
 *
 * A successor is derived from the token before it.  So a client that presents a
 * token again, because an answer was lost, gets the same successor, and no
 * second chain begins.
 */

#ifndef _NGX_SVC_OAUTH_REFRESH_TOKEN_H_INCLUDED_
#define _NGX_SVC_OAUTH_REFRESH_TOKEN_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* Some tokens: their bytes, and the digest of each. */

typedef struct {
    ngx_uint_t  n;
    u_char      secrets[NGX_SVC_KEYS][NGX_SVC_OAUTH_SECRET];
    u_char      digests[NGX_SVC_KEYS][NGX_SVC_SHA256_LEN];
} ngx_svc_oauth_refresh_tokens_t;


/* Makes one random token.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_refresh_token_new(ngx_svc_oauth_refresh_tokens_t *t);

/*
 * Derives the successors of the token with that text, one by each key of
 * svc_key_file; the first is by the key that seals.  Sets digest to the token's
 * own, of NGX_SVC_SHA256_LEN bytes.  A text that cannot be a token gets a
 * digest, which no token has, and successors, too.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_refresh_token_successors(const ngx_svc_keys_t *keys,
    const ngx_str_t *text, u_char *digest, ngx_svc_oauth_refresh_tokens_t *t);

/*
 * Writes the digests as the text of an array, of the pool.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_refresh_token_digests(ngx_pool_t *pool,
    const ngx_svc_oauth_refresh_tokens_t *t, ngx_str_t *array);

/* Writes the i-th token as the member "refresh_token". */
void ngx_svc_oauth_refresh_token_write(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_refresh_tokens_t *t, ngx_uint_t i);

/* Call this at the end of a worker. */
void ngx_svc_oauth_refresh_token_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_REFRESH_TOKEN_H_INCLUDED_ */
