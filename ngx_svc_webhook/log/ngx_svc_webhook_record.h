/*
 * In the helper: the outcomes of deliveries, for the delivery log of an
 * endpoint, the audit log and the error log.
 */

#ifndef _NGX_SVC_WEBHOOK_RECORD_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_RECORD_H_INCLUDED_


#include "ngx_svc_webhook_failure.h"


/* Called at the helper's start. */
ngx_int_t ngx_svc_webhook_record_init(ngx_cycle_t *cycle);

/* Called at the helper's end; what is not written by then is lost. */
void ngx_svc_webhook_record_exit(void);

/*
 * Records that attempt d->attempts of d has ended; what is needed is copied,
 * and written soon.  While PostgreSQL is down, some thousands are kept.  A
 * delivery that was dropped is written only if it has a line in the error log:
 * otherwise they would displace real attempts in the delivery log.
 */
void ngx_svc_webhook_record(ngx_svc_webhook_delivery_t *d,
    ngx_svc_outbound_result_t *result, ngx_svc_webhook_record_e outcome);

/*
 * Writes all at once, and calls done(), never from within this call, when
 * everything is written; never while PostgreSQL is down.
 */
void ngx_svc_webhook_record_flush(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_RECORD_H_INCLUDED_ */
