/*
 * Idempotency-Key.
 */

#ifndef _NGX_SVC_IDEMPOTENCY_H_INCLUDED_
#define _NGX_SVC_IDEMPOTENCY_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * In the order of a request: adds its statement behind the credential's, if
 * there is a key (NGX_OK, NGX_DECLINED or NGX_ERROR as of prepare);
 * NGX_DECLINED if the route's reply is due, else what it returns; sends an
 * answer that was kept, or was to be.
 */
ngx_int_t ngx_svc_idempotency_claim(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_idempotency_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_idempotency_kept(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_IDEMPOTENCY_H_INCLUDED_ */
