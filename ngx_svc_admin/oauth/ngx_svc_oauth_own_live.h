/*
 * Whether a client's own token lives, which is asked of the client's row and of
 * what was revoked.  It says of itself all else.
 */

#ifndef _NGX_SVC_OAUTH_OWN_LIVE_H_INCLUDED_
#define _NGX_SVC_OAUTH_OWN_LIVE_H_INCLUDED_


#include "ngx_svc_oauth.h"


/* What is left of a token today. */

typedef struct {
    ngx_str_t  slug;            /* of its tenant */
    ngx_str_t  scope;           /* with spaces between them */
    int64_t    ends;            /* ms */
} ngx_svc_oauth_own_today_t;


/*
 * Adds what looks for o->token, of which own is not NULL, on behalf of
 * o->client, behind what sets the tenant: o->statement.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_live_call(ngx_svc_oauth_t *o);

/*
 * For a reply: of that result, which has a row, what is left of the token; it
 * lives as long as the result.  NGX_OK; NGX_DECLINED: it is dead, or of another
 * tenant than o->tenant, if that is known; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_own_live(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_own_today_t *today);

/* 1: it is for the issuer, or the resource of who asks, or its own. */
ngx_uint_t ngx_svc_oauth_own_shown(ngx_svc_oauth_t *o, PGresult *res);

extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own_opaque;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own_jwt;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_own_agent;


#endif /* _NGX_SVC_OAUTH_OWN_LIVE_H_INCLUDED_ */
