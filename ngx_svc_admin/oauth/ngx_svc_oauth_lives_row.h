/*
 * The rows that decide whether a token lives.
 */

#ifndef _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_
#define _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_oauth_lives.h"


/*
 * The columns of those statements, in their order.  A statement for opaque
 * tokens alone has none from _KID on.
 */

typedef enum {
    NGX_SVC_OAUTH_LIVES_JTI = 0,
    NGX_SVC_OAUTH_LIVES_USER_ID,
    NGX_SVC_OAUTH_LIVES_CLIENT_ID,
    NGX_SVC_OAUTH_LIVES_CHAIN,
    NGX_SVC_OAUTH_LIVES_PRINCIPALS,
    NGX_SVC_OAUTH_LIVES_SCOPES,
    NGX_SVC_OAUTH_LIVES_AUDIENCE,
    NGX_SVC_OAUTH_LIVES_AUDIENCE_KEY,
    NGX_SVC_OAUTH_LIVES_JKT,
    NGX_SVC_OAUTH_LIVES_TTL,
    NGX_SVC_OAUTH_LIVES_REVOKED,
    NGX_SVC_OAUTH_LIVES_USER_STATUS,
    NGX_SVC_OAUTH_LIVES_USER_STALE,
    NGX_SVC_OAUTH_LIVES_GRANT,
    NGX_SVC_OAUTH_LIVES_NOW,
    NGX_SVC_OAUTH_LIVES_A_ID,
    NGX_SVC_OAUTH_LIVES_A_METHOD,
    NGX_SVC_OAUTH_LIVES_A_SLUG,
    NGX_SVC_OAUTH_LIVES_A_SUSPENDED,
    NGX_SVC_OAUTH_LIVES_A_ENABLED,
    NGX_SVC_OAUTH_LIVES_A_EXPIRED,
    NGX_SVC_OAUTH_LIVES_A_STALE,
    NGX_SVC_OAUTH_LIVES_A_ORPHAN,
    NGX_SVC_OAUTH_LIVES_A_RESOURCE,
    NGX_SVC_OAUTH_LIVES_A_TTL,
    NGX_SVC_OAUTH_LIVES_A_MAX_TTL,
    NGX_SVC_OAUTH_LIVES_A_SCOPES,
    NGX_SVC_OAUTH_LIVES_A_ALLOWED_SCOPES,
    NGX_SVC_OAUTH_LIVES_A_ALLOWED_KEYS,
    NGX_SVC_OAUTH_LIVES_A_LETS,
    NGX_SVC_OAUTH_LIVES_KID,
    NGX_SVC_OAUTH_LIVES_PUBLIC,
    NGX_SVC_OAUTH_LIVES_MORE            /* the first of a statement's own */
} ngx_svc_oauth_lives_column_e;


/*
 * Rows, one for each client.  They lack the first shift columns, which are the
 * token's.
 */

typedef struct {
    PGresult  *res;
    int        shift;
} ngx_svc_oauth_lives_rows_t;


/*
 * Reads from the rows of a token what the decision needs.  Texts live as long
 * as the result; arrays are of the pool.  issuer: up to the tenant's slug.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_lives_read(ngx_pool_t *pool, PGresult *res,
    const ngx_svc_oauth_bearer_t *token, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives);

/*
 * Reads the clients alone; the rest is as if no token had been found.  Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_lives_clients(ngx_pool_t *pool,
    const ngx_svc_oauth_lives_rows_t *rows, const ngx_str_t *issuer,
    ngx_svc_oauth_lives_t *lives);


#endif /* _NGX_SVC_OAUTH_LIVES_ROW_H_INCLUDED_ */
