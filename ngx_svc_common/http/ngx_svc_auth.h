/*
 * The credential of a request.
 */

#ifndef _NGX_SVC_AUTH_H_INCLUDED_
#define _NGX_SVC_AUTH_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * In the order of a request: takes the credential from the headers; adds what
 * finds it to sr->op; takes the verdict from its result.  NGX_OK; NGX_DECLINED
 * with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_auth_take(ngx_svc_request_t *sr);
NGX_SVC_API ngx_int_t ngx_svc_auth_call(ngx_svc_request_t *sr);
NGX_SVC_API ngx_int_t ngx_svc_auth_check(ngx_svc_request_t *sr);

/*
 * For a reply to an op with a credential: the result of the statement that
 * finds it, whose first column is the tenant.
 */
#define ngx_svc_auth_result(sr)  ngx_svc_pg_result_first((sr)->op->results)

/*
 * An op of the pool that may outlive the request, with what finds the
 * credential; NULL when memory runs out.
 */
NGX_SVC_API ngx_svc_pg_op_t *ngx_svc_auth_op(ngx_svc_request_t *sr,
    ngx_pool_t *pool, ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler);


#endif /* _NGX_SVC_AUTH_H_INCLUDED_ */
