/*
 * What became of deliveries, in the helper: for the delivery log of an
 * endpoint, the audit log and the error log.
 */

#ifndef _NGX_SVC_WEBHOOK_RECORD_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_RECORD_H_INCLUDED_


#include "ngx_svc_webhook_failure.h"


/* At the helper's start and end; what has not been written by then is lost. */
ngx_int_t ngx_svc_webhook_record_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_record_exit(void);

/*
 * An attempt to deliver d, the d->attempts-th, has ended.  Copies what it
 * needs, and writes it soon; while PostgreSQL is away some thousands are kept.
 * Of what is dropped only that which gets a line in the error log is written:
 * it would push real attempts out of the delivery log.
 */
void ngx_svc_webhook_record(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_result_t *result, ngx_svc_webhook_record_e outcome);

/*
 * Writes at once what there is, and calls done, never from within this call,
 * when there is no more; while PostgreSQL is away that is never.
 */
void ngx_svc_webhook_record_flush(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_RECORD_H_INCLUDED_ */
