/*
 * The helper's statements in PostgreSQL: each op is one tenant's.
 */

#ifndef _NGX_SVC_WEBHOOK_OP_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OP_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_webhook.h"


/*
 * An op in a pool of its own, which the handler destroys, with a first
 * statement that chooses the tenant; the text of that must live as long.  lazy:
 * its commit need not wait for the disk.  NULL when memory runs out.
 */
ngx_svc_pg_op_t *ngx_svc_webhook_op_create(ngx_svc_pg_pool_e kind,
    ngx_str_t *tenant, ngx_uint_t lazy, ngx_svc_pg_handler_pt handler,
    void *data);


#endif /* _NGX_SVC_WEBHOOK_OP_H_INCLUDED_ */
