/*
 * Refresh tokens: "srt_" and 32 bytes in base64url, of which the digest is
 * stored.
 *
 * A successor is derived from the one before it, so that whoever shows that one
 * again, because an answer was lost, gets the same: no second chain begins.
 */

#ifndef _NGX_SVC_OAUTH_REFRESH_TOKEN_H_INCLUDED_
#define _NGX_SVC_OAUTH_REFRESH_TOKEN_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* Bytes of tokens, the digest of each, and how many there are. */

typedef struct {
    ngx_uint_t  n;
    u_char      secrets[NGX_SVC_KEYS][NGX_SVC_OAUTH_SECRET];
    u_char      digests[NGX_SVC_KEYS][NGX_SVC_SHA256_LEN];
} ngx_svc_oauth_refresh_tokens_t;


/* A random one.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_refresh_token_new(ngx_svc_oauth_refresh_tokens_t *t);

/*
 * The successors of the token with that text, one for each key of the
 * configuration's file, the first of the key that seals.  digest: of the token
 * itself, NGX_SVC_SHA256_LEN bytes; what is not written as one has a digest,
 * too, which is no token's, and the successors of that.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_refresh_token_successors(const ngx_svc_keys_t *keys,
    const ngx_str_t *text, u_char *digest, ngx_svc_oauth_refresh_tokens_t *t);

/* The digests as the text of an array, of the pool.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_refresh_token_digests(ngx_pool_t *pool,
    const ngx_svc_oauth_refresh_tokens_t *t, ngx_str_t *array);

/* Writes the member "refresh_token", the i-th one. */
void ngx_svc_oauth_refresh_token_write(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_refresh_tokens_t *t, ngx_uint_t i);

/* At the end of a worker. */
void ngx_svc_oauth_refresh_token_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_REFRESH_TOKEN_H_INCLUDED_ */
