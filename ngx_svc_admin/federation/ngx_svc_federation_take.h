/*
 * The flow of a browser that comes back: it is taken, which is good once.
 */

#ifndef _NGX_SVC_FEDERATION_TAKE_H_INCLUDED_
#define _NGX_SVC_FEDERATION_TAKE_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/* Find the tenant of flow->state, and take the flow. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_tenant;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_take;


/* Binds whether the request is a form of another site. */
ngx_int_t ngx_svc_federation_bind_posted(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/*
 * For the prepare of a route with these statements: makes sr->data, calls
 * take(), counts the request, and adds the statements.  An error leads the
 * browser to the page that signs people in.  Returns as a prepare does.
 */
ngx_int_t ngx_svc_federation_take_prepare(ngx_svc_request_t *sr,
    ngx_int_t (*take)(ngx_svc_login_t *login));

/*
 * For such a take(), which has set flow->state: takes the cookie, which is
 * needed unless flow->posted, and the client.  Returns NGX_OK; NGX_DECLINED
 * with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_take_client(ngx_svc_federation_flow_t *flow);

/*
 * For a reply: takes the results of the statements.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_taken(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_TAKE_H_INCLUDED_ */
