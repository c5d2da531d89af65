/*
 * The claims that a client has asked for by their names, as svc.oauth_grant
 * keeps them: an array of "<scope> <place> <claim>".
 */

#ifndef _NGX_SVC_OAUTH_CLAIMS_KEPT_H_INCLUDED_
#define _NGX_SVC_OAUTH_CLAIMS_KEPT_H_INCLUDED_


#include "ngx_svc_oauth_claim.h"
#include "ngx_svc_pg_array.h"


#define NGX_SVC_OAUTH_IN_ID_TOKEN  "id_token"
#define NGX_SVC_OAUTH_IN_USERINFO  "userinfo"


/* Of bits; no data: there are none to be kept.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_claims_keep(ngx_pool_t *pool, ngx_uint_t id_token,
    ngx_uint_t userinfo, ngx_str_t *text);

/* Of one element that is of this place its bit, and its scope; or 0. */
ngx_uint_t ngx_svc_oauth_claims_kept(const ngx_str_t *element,
    const char *place, ngx_str_t *scope);


#endif /* _NGX_SVC_OAUTH_CLAIMS_KEPT_H_INCLUDED_ */
