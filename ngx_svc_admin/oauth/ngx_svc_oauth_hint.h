/*
 * The ID token of an authorization request that says which user is meant
 * (OpenID Connect Core, 3.1.2.1, id_token_hint).
 */

#ifndef _NGX_SVC_OAUTH_HINT_H_INCLUDED_
#define _NGX_SVC_OAUTH_HINT_H_INCLUDED_


#include "ngx_svc_oauth_request.h"


/*
 * For a prepare: takes it apart.  NGX_OK: there is none, or it is not one of
 * ours, see ar->hint; NGX_AGAIN: a round trip has to find the key that has
 * signed it, ngx_svc_sql_oauth_key_public; NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_hint_parse(ngx_svc_oauth_request_t *ar);

/*
 * For a reply: sets ar->hint, by a result of that statement.  That it has
 * expired does no harm.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_hint_verify(ngx_svc_oauth_request_t *ar,
    PGresult *res);


#endif /* _NGX_SVC_OAUTH_HINT_H_INCLUDED_ */
