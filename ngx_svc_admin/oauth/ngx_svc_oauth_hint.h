/*
 * The ID token of an authorization request that says which user is meant
 * (OpenID Connect Core, 3.1.2.1, id_token_hint).
 */

#ifndef _NGX_SVC_OAUTH_HINT_H_INCLUDED_
#define _NGX_SVC_OAUTH_HINT_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/*
 * For a prepare: takes the hint apart.  Returns NGX_OK: there is none, or it
 * is not one of ours, see ar->hint; NGX_AGAIN: ngx_svc_sql_oauth_key_public
 * has to read the key that has signed it; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_hint_parse(ngx_svc_oauth_request_t *ar);

/*
 * For a reply: verifies the hint by a result of that statement, and sets
 * ar->hint.  The hint may have expired.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_hint_verify(ngx_svc_oauth_request_t *ar,
    PGresult *res);


#endif /* _NGX_SVC_OAUTH_HINT_H_INCLUDED_ */
