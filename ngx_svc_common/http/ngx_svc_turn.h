/*
 * Whose turn a request takes: the tenant of its token.
 */

#ifndef _NGX_SVC_TURN_H_INCLUDED_
#define _NGX_SVC_TURN_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Takes the token's tenant from what is remembered, or from a result of the
 * credential statement: NGX_OK, or NGX_DECLINED when it is not there.
 */
ngx_int_t ngx_svc_turn_find(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_turn_learn(ngx_svc_request_t *sr, PGresult *res);


#endif /* _NGX_SVC_TURN_H_INCLUDED_ */
