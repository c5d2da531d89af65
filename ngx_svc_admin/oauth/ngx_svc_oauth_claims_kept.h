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


/*
 * Writes the array of the claims of these bits, in the pool; no data: there is
 * nothing to keep.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_claims_keep(ngx_pool_t *pool, ngx_uint_t id_token,
    ngx_uint_t userinfo, ngx_str_t *text);

/*
 * Returns the bit of an element's claim, and its scope, if the element is of
 * this place; else 0.
 */
ngx_uint_t ngx_svc_oauth_claims_kept(const ngx_str_t *element,
    const char *place, ngx_str_t *scope);


#endif /* _NGX_SVC_OAUTH_CLAIMS_KEPT_H_INCLUDED_ */
