/*
 * The helper's statements in PostgreSQL: each op is one tenant's, or nobody's.
 */

#ifndef _NGX_SVC_WEBHOOK_OP_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OP_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_webhook.h"


/*
 * An op in a pool of its own, which the handler destroys, with a first
 * statement that chooses the tenant; the text of that must live as long.  lazy:
 * its commit need not wait for the disk.  Without a tenant there is neither.
 * NULL when memory runs out.
 */
ngx_svc_pg_op_t *ngx_svc_webhook_op_create(ngx_svc_pg_pool_e kind,
    ngx_str_t *tenant, ngx_uint_t lazy, ngx_svc_pg_handler_pt handler,
    void *data);

/*
 * It is *place, for as long as it is under way; rc: of what has made its
 * statements.  NGX_OK; NGX_ERROR: it is gone.
 */
ngx_int_t ngx_svc_webhook_op_submit(ngx_svc_pg_op_t *op, ngx_int_t rc,
    ngx_svc_pg_op_t **place);


#endif /* _NGX_SVC_WEBHOOK_OP_H_INCLUDED_ */
