/*
 * Attempts of an endpoint that are more than are retained.
 */

#ifndef _NGX_SVC_WEBHOOK_TRIM_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_TRIM_H_INCLUDED_


#include "ngx_svc_webhook_batch.h"


/*
 * Sends an op that deletes what is too much of the endpoints in batch->sent.
 * The handler destroys its pool.  NULL when memory runs out or no place is
 * free.
 */
ngx_svc_pg_op_t *ngx_svc_webhook_trim(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_handler_pt handler);


#endif /* _NGX_SVC_WEBHOOK_TRIM_H_INCLUDED_ */
