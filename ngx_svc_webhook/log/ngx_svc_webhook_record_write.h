/*
 * The statement that writes rows of the delivery log.
 */

#ifndef _NGX_SVC_WEBHOOK_RECORD_WRITE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_RECORD_WRITE_H_INCLUDED_


#include "ngx_svc_webhook_batch.h"


/* Adds the statement, with the rows in batch->sent.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_webhook_record_bind(ngx_svc_webhook_batch_t *batch,
    ngx_svc_pg_op_t *op);


#endif /* _NGX_SVC_WEBHOOK_RECORD_WRITE_H_INCLUDED_ */
