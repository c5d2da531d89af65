/*
 * Idempotency-Key.
 */

#ifndef _NGX_SVC_IDEMPOTENCY_H_INCLUDED_
#define _NGX_SVC_IDEMPOTENCY_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Adds the statement that claims the key to sr->op, if the request has a key.
 * Call it before the route's prepare.  Returns what a prepare returns.
 */
ngx_int_t ngx_svc_idempotency_claim(ngx_svc_request_t *sr);

/*
 * Looks at the result of that statement.  Returns NGX_DECLINED when the key is
 * this request's, and the route's reply is due; otherwise it has answered, and
 * returns what a reply returns.
 */
ngx_int_t ngx_svc_idempotency_reply(ngx_svc_request_t *sr);

/*
 * Sends the answer that has waited to be kept, whether that went well or not.
 * Returns what a reply returns.
 */
ngx_int_t ngx_svc_idempotency_kept(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_IDEMPOTENCY_H_INCLUDED_ */
