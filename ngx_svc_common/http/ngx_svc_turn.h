/*
 * The tenant whose turn a request takes: that of its token.
 */

#ifndef _NGX_SVC_TURN_H_INCLUDED_
#define _NGX_SVC_TURN_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Sets sr->tenant to the tenant that this worker remembers for the token.
 * Returns NGX_OK, or NGX_DECLINED when it remembers none.
 */
ngx_int_t ngx_svc_turn_find(ngx_svc_request_t *sr);

/*
 * Sets sr->tenant to the tenant that the credential's statement says, and
 * remembers it.  Returns NGX_OK, or NGX_DECLINED when there is no tenant.
 */
ngx_int_t ngx_svc_turn_learn(ngx_svc_request_t *sr, const ngx_str_t *id);


#endif /* _NGX_SVC_TURN_H_INCLUDED_ */
