/*
 * The helper's ops in PostgreSQL: each is of one tenant, or of none.
 */

#ifndef _NGX_SVC_HELPER_OP_H_INCLUDED_
#define _NGX_SVC_HELPER_OP_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_webhook.h"


/*
 * Makes an op in a pool of its own, which the handler destroys.  Its first
 * statement chooses the tenant, whose text must live as long as the op.  lazy:
 * the commit need not wait for the disk.  Without a tenant there is no such
 * statement, and lazy is ignored.  NULL: no memory.
 */
ngx_svc_pg_op_t *ngx_svc_helper_op_create(ngx_svc_pg_pool_e kind,
    ngx_str_t *tenant, ngx_uint_t lazy, ngx_svc_pg_handler_pt handler,
    void *data);

/*
 * Submits an op; *place is the op while it is under way.  rc: of binding the
 * op's statements.  NGX_OK; NGX_ERROR: it was destroyed.
 */
ngx_int_t ngx_svc_helper_op_submit(ngx_svc_pg_op_t *op, ngx_int_t rc,
    ngx_svc_pg_op_t **place);


#endif /* _NGX_SVC_HELPER_OP_H_INCLUDED_ */
