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
 * Sets sr->tenant from a result of the credential's statement, and remembers
 * it.  Returns NGX_OK, or NGX_DECLINED when the result has no tenant.
 */
ngx_int_t ngx_svc_turn_learn(ngx_svc_request_t *sr, PGresult *res);


#endif /* _NGX_SVC_TURN_H_INCLUDED_ */
