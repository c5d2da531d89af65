/*
 * The rows that decide whether a token lives.
 */

#ifndef _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_
#define _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_oauth_lives.h"


/*
 * Reads from the rows of a token what the decision needs.  Texts live as long
 * as the result; arrays are of the pool.  issuer: up to the tenant's slug.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_lives_read(ngx_pool_t *pool, PGresult *res,
    const ngx_svc_oauth_bearer_t *token, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives);

/*
 * Begins with n clients at most, which ngx_svc_oauth_lives_add() adds; the rest
 * is as if no token had been found.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_lives_begin(ngx_pool_t *pool, ngx_uint_t n,
    ngx_svc_oauth_lives_t *lives);

/* Adds a client; a row without one adds none.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_lives_add(ngx_pool_t *pool,
    const ngx_svc_row_lives_client_t *row, ngx_svc_oauth_lives_t *lives);

/*
 * Sets the issuer, once there are clients: all are of one tenant.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_lives_issuer(ngx_pool_t *pool,
    const ngx_str_t *issuer, ngx_svc_oauth_lives_t *lives);


#endif /* _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_ */
