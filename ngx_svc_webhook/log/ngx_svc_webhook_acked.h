/*
 * Rows of acknowledged attempts that are to be written.
 */

#ifndef _NGX_SVC_WEBHOOK_ACKED_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ACKED_H_INCLUDED_


#include "ngx_svc_webhook_batch.h"


/*
 * Adds a row.  Returns the oldest row of its endpoint if that need not be
 * written any more, or NULL.
 */
ngx_svc_webhook_row_t *ngx_svc_webhook_acked_add(ngx_svc_webhook_row_t *row);

/* Removes a row; does nothing if the row was not added. */
void ngx_svc_webhook_acked_remove(ngx_svc_webhook_row_t *row);


#endif /* _NGX_SVC_WEBHOOK_ACKED_H_INCLUDED_ */
