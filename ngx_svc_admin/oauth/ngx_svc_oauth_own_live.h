/*
 * Whether a client's own token lives: the client's row and the list of revoked
 * tokens tell that.  The token says all else about itself.
 */

#ifndef _NGX_SVC_OAUTH_OWN_LIVE_H_INCLUDED_
#define _NGX_SVC_OAUTH_OWN_LIVE_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* What is left of a token today. */

typedef struct {
    ngx_str_t  slug;            /* the tenant's */
    ngx_str_t  scope;           /* with spaces between the scopes */
    int64_t    ends;            /* when it expires: ms since the epoch */
} ngx_svc_oauth_own_today_t;


/*
 * Sets o->statement to the one that looks at o->token, whose own is not NULL,
 * on behalf of o->client, and adds its call.  Call it behind the call that sets
 * the tenant.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_live_call(ngx_svc_oauth_t *o);

/*
 * Reads what is left of the token from that statement's result, which has a
 * row.  today->slug lives as long as the result.  Call it in the reply.
 * Returns NGX_OK; NGX_DECLINED: the token is dead, or of another tenant than
 * o->tenant, if that is known; or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_live(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_own_today_t *today);

/*
 * Returns 1 if o->client may see the token: it is the client's own, or is for
 * the client's resource, or for the issuer.
 */
ngx_uint_t ngx_svc_oauth_own_presented(ngx_svc_oauth_t *o, PGresult *res);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own_opaque;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own_jwt;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own_agent;


#endif /* _NGX_SVC_OAUTH_OWN_LIVE_H_INCLUDED_ */
