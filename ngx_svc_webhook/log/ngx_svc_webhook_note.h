/*
 * Notes in PostgreSQL which deliveries have ended, so that no outbox queues
 * them again.
 */

#ifndef _NGX_SVC_WEBHOOK_NOTE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_NOTE_H_INCLUDED_


#include "ngx_svc_helper_op.h"
#include "ngx_svc_pg_task.h"


/* Called at the helper's start. */
void ngx_svc_webhook_notes_init(ngx_cycle_t *cycle);

/* Called at the helper's end; deliveries not noted by then may come twice. */
void ngx_svc_webhook_notes_exit(void);

/*
 * Notes that the outcome of d is final; d is copied.  While PostgreSQL is
 * down, some thousands are kept, and Redis, which all helpers ask, does not
 * forget them.
 */
void ngx_svc_webhook_note(const ngx_svc_webhook_delivery_t *d);

/*
 * Writes all at once, and calls done() when everything is written, maybe from
 * within this call; never while PostgreSQL is down.
 */
void ngx_svc_webhook_notes_flush(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_NOTE_H_INCLUDED_ */
