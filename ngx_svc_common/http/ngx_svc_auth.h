/*
 * The credential of a request.
 */

#ifndef _NGX_SVC_AUTH_H_INCLUDED_
#define _NGX_SVC_AUTH_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * The three steps of a request.  Each returns NGX_OK, NGX_DECLINED with
 * sr->error set, or NGX_ERROR.
 */

/* Takes the credential from the headers. */
NGX_SVC_API ngx_int_t ngx_svc_auth_take(ngx_svc_request_t *sr);

/* Adds the statements that find the credential to sr->op. */
NGX_SVC_API ngx_int_t ngx_svc_auth_call(ngx_svc_request_t *sr);

/* Reads from their result whether the credential is good. */
NGX_SVC_API ngx_int_t ngx_svc_auth_check(ngx_svc_request_t *sr);

/*
 * The result of the statement that finds the credential of sr->op, for a reply.
 * Its first column is the tenant.
 */
#define ngx_svc_auth_result(sr)  ngx_svc_pg_result_first((sr)->op->results)

/*
 * Returns the tenant, from the results of an op whose first statement says it;
 * NULL: there is no such result, or the credential was refused.
 */
NGX_SVC_API ngx_str_t ngx_svc_auth_tenant(const ngx_svc_pg_results_t *results);

/*
 * Creates an op with the statements that find the credential.  The op is of the
 * pool, and may outlive the request.  Returns NULL when memory runs out.
 */
NGX_SVC_API ngx_svc_pg_op_t *ngx_svc_auth_op(ngx_svc_request_t *sr,
    ngx_pool_t *pool, ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler);


#endif /* _NGX_SVC_AUTH_H_INCLUDED_ */
