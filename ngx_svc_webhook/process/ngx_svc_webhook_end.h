/*
 * The end of the helper process: its lanes end what is under way, and leave.
 */

#ifndef _NGX_SVC_WEBHOOK_END_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_END_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* At the helper's start. */
void ngx_svc_webhook_end_init(ngx_cycle_t *cycle);

/*
 * All end what is under way, for svc_webhook_shutdown_timeout at most, and
 * leave; they leave at once.  Both may be called more than once.
 */
void ngx_svc_webhook_end_drain(void);
void ngx_svc_webhook_end_leave(void);

/* 1: all have left, or take too long: the process can exit. */
ngx_uint_t ngx_svc_webhook_ended(void);


#endif /* _NGX_SVC_WEBHOOK_END_H_INCLUDED_ */
