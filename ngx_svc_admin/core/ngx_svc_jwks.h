/*
 * Key sets that other servers publish (RFC 7517, 5), and what is kept of one.
 */

#ifndef _NGX_SVC_JWKS_H_INCLUDED_
#define _NGX_SVC_JWKS_H_INCLUDED_


#include "ngx_svc_json.h"


typedef struct {
    const char *const         *members; /* of a key, and NULL behind them */

    /* NGX_OK for a key that is kept, NGX_DECLINED, or NGX_ERROR */
    ngx_int_t                (*usable)(const cJSON *jwk, void *data);
    void                      *data;
} ngx_svc_jwks_kept_t;


/*
 * Reads a key set: its keys are of the pool.  Returns NGX_OK; NGX_DECLINED when
 * the text is none; or NGX_ERROR.
 */
ngx_int_t ngx_svc_jwks_read(ngx_pool_t *pool, const ngx_str_t *text,
    const cJSON **keys);

/*
 * Writes a key set of those that are kept, with those of their members that
 * are strings.  *n: how many there are.  Returns NGX_OK with *text, which is of
 * the pool, or NGX_ERROR.
 */
ngx_int_t ngx_svc_jwks_write(ngx_pool_t *pool, const cJSON *keys,
    const ngx_svc_jwks_kept_t *kept, ngx_uint_t *n, ngx_str_t *text);


#endif /* _NGX_SVC_JWKS_H_INCLUDED_ */
