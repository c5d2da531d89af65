/*
 * What /oauth/userinfo answers: claims about a user (OpenID Connect Core 1.0,
 * 5.1 and 5.4).
 */

#ifndef _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_


#include "ngx_svc_oauth.h"
#include "ngx_svc_pg_array.h"


/*
 * For a reply, which returns what this does: the claims that these scopes ask
 * for, of a row in which each is a column, and who acts for the user.
 */
ngx_int_t ngx_svc_oauth_claims_send(ngx_svc_request_t *sr, PGresult *res,
    const ngx_svc_pg_array_t *chain, const ngx_svc_pg_array_t *scopes);


#endif /* _NGX_SVC_OAUTH_CLAIMS_H_INCLUDED_ */
