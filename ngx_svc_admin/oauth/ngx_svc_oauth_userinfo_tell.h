/*
 * What /oauth/userinfo tells about a user.
 */

#ifndef _NGX_SVC_OAUTH_USERINFO_TELL_H_INCLUDED_
#define _NGX_SVC_OAUTH_USERINFO_TELL_H_INCLUDED_


#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_lives.h"


/* Sets the tenant that the token names. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_userinfo_tenant;

/*
 * Answers with the claims of a token that lives.  res: the result with its
 * rows.  A reply returns what this returns.
 */
ngx_int_t ngx_svc_oauth_userinfo_tell(ngx_svc_oauth_t *o, PGresult *res,
    const ngx_svc_oauth_lives_t *lives,
    const ngx_svc_oauth_lives_today_t *today);


#endif /* _NGX_SVC_OAUTH_USERINFO_TELL_H_INCLUDED_ */
