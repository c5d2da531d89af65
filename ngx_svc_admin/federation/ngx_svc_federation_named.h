/*
 * Connections that a path names: /v1/tenants/{slug}/federation/{connection}/...
 */

#ifndef _NGX_SVC_FEDERATION_NAMED_H_INCLUDED_
#define _NGX_SVC_FEDERATION_NAMED_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/* The tenant of the path, and who acts: the system.  Then its connection. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_named_tenant;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_named;


/*
 * Takes tenant and connection from the path, and the client.  Returns NGX_OK;
 * NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_named_take(ngx_svc_federation_flow_t *flow);

/*
 * For a reply: takes the tenant, which may be suspended, and the connection, if
 * people can sign in by it.  Returns as that does.
 */
ngx_int_t ngx_svc_federation_named(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_NAMED_H_INCLUDED_ */
