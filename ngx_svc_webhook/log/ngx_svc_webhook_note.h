/*
 * Deliveries that have ended, noted in PostgreSQL: nobody queues their events
 * once more.
 */

#ifndef _NGX_SVC_WEBHOOK_NOTE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_NOTE_H_INCLUDED_


#include "ngx_svc_webhook_op.h"
#include "ngx_svc_pg_task.h"


/* At the helper's start and end; what has not been noted may come twice. */
void ngx_svc_webhook_notes_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_notes_exit(void);

/*
 * The outcome of d is final.  Copies what it needs; while PostgreSQL is away
 * some thousands are kept, and Redis, which all helpers ask, does not forget
 * them.
 */
void ngx_svc_webhook_note(const ngx_svc_webhook_delivery_t *d);

/*
 * Writes at once what there is, and calls done when there is no more, which may
 * be from within this call; while PostgreSQL is away that is never.
 */
void ngx_svc_webhook_notes_flush(void (*done)(void));


#endif /* _NGX_SVC_WEBHOOK_NOTE_H_INCLUDED_ */
