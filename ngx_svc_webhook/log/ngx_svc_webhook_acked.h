/*
 * Acknowledged attempts that wait to be written.
 */

#ifndef _NGX_SVC_WEBHOOK_ACKED_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ACKED_H_INCLUDED_


#include "ngx_svc_webhook_batch.h"


/*
 * A row that was acknowledged and waits; returns the oldest one of its endpoint
 * when that need not be written any more, or NULL.
 */
ngx_svc_webhook_row_t *ngx_svc_webhook_acked_add(ngx_svc_webhook_row_t *row);

/* A row waits no more; nothing happens to one that was not added. */
void ngx_svc_webhook_acked_remove(ngx_svc_webhook_row_t *row);


#endif /* _NGX_SVC_WEBHOOK_ACKED_H_INCLUDED_ */
