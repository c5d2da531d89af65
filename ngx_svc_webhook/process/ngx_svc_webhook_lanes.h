/*
 * The helper's lanes: they begin with the process, and as that is to end they
 * end what is under way, and leave.
 */

#ifndef _NGX_SVC_WEBHOOK_LANES_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_LANES_H_INCLUDED_


#include "ngx_svc_webhook.h"


/*
 * At the helper's start, behind that of PostgreSQL and Redis, and at its end,
 * between theirs; worker: where it hears of the helper's ids.  id, before: as
 * of ngx_svc_webhook_queue_start().
 */
ngx_int_t ngx_svc_webhook_lanes_init(ngx_cycle_t *cycle, ngx_socket_t worker,
    const u_char *id, const ngx_str_t *before);
void ngx_svc_webhook_lanes_exit(void);

/*
 * All end what is under way, for svc_webhook_shutdown_timeout at most, and
 * leave; they leave at once.  Both may be called more than once.
 */
void ngx_svc_webhook_lanes_drain(void);
void ngx_svc_webhook_lanes_leave(void);

/* 1: all have left, or take too long: the process can exit. */
ngx_uint_t ngx_svc_webhook_lanes_ended(void);


#endif /* _NGX_SVC_WEBHOOK_LANES_H_INCLUDED_ */
