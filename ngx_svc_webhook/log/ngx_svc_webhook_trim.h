/*
 * Deletes attempts of an endpoint beyond those that are kept.
 */

#ifndef _NGX_SVC_WEBHOOK_TRIM_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_TRIM_H_INCLUDED_


#include "ngx_svc_webhook_batch.h"


/*
 * Sends an op that deletes the surplus of the endpoints in batch->sent.  The
 * handler destroys the op's pool.  NULL: no memory, or no place in the pool of
 * connections.
 */
ngx_svc_pg_op_t *ngx_svc_webhook_trim(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_handler_pt handler);


#endif /* _NGX_SVC_WEBHOOK_TRIM_H_INCLUDED_ */
