/*
 * The time that the scheduler may take to end.
 */

#include "ngx_svc_webhook_drain.h"
#include "ngx_svc_lane.h"
#include "ngx_svc_webhook_note.h"
#include "ngx_svc_webhook_record.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_FLUSH  1000     /* ms to record what has happened */


typedef struct {
    ngx_event_t      timer;             /* fires if it takes too long */
    void           (*done)(void);       /* NULL: done() was called */
} ngx_svc_webhook_drain_t;


static void ngx_svc_webhook_drain_recorded(void);
static void ngx_svc_webhook_drain_done(void);
static void ngx_svc_webhook_drain_timeout(ngx_event_t *ev);


static ngx_svc_webhook_drain_t  ngx_svc_webhook_drain_ctx;


void
ngx_svc_webhook_drain_init(ngx_cycle_t *cycle)
{
    ngx_svc_webhook_drain_t  *drain;

    drain = &ngx_svc_webhook_drain_ctx;

    ngx_memzero(drain, sizeof(ngx_svc_webhook_drain_t));

    drain->timer.handler = ngx_svc_webhook_drain_timeout;
    drain->timer.data = drain;
    drain->timer.log = cycle->log;
}


void
ngx_svc_webhook_drain_exit(void)
{
    ngx_svc_webhook_drain_t  *drain;

    drain = &ngx_svc_webhook_drain_ctx;

    if (drain->timer.timer_set) {
        ngx_del_timer(&drain->timer);
    }
}


void
ngx_svc_webhook_drain(void (*done)(void))
{
    ngx_svc_webhook_drain_t  *drain;

    drain = &ngx_svc_webhook_drain_ctx;

    drain->done = done;

    ngx_add_timer(&drain->timer, ngx_svc_webhook_conf()->shutdown_timeout);
}


void
ngx_svc_webhook_drain_idle(void)
{
    ngx_svc_webhook_drain_t  *drain;

    drain = &ngx_svc_webhook_drain_ctx;

    if (drain->done == NULL) {
        return;
    }

    if (drain->timer.timer_set) {
        ngx_del_timer(&drain->timer);
    }

    ngx_add_timer(&drain->timer, NGX_SVC_WEBHOOK_FLUSH);

    ngx_svc_webhook_record_flush(ngx_svc_webhook_drain_recorded);
}


static void
ngx_svc_webhook_drain_recorded(void)
{
    ngx_svc_webhook_notes_flush(ngx_svc_webhook_drain_done);
}


static void
ngx_svc_webhook_drain_done(void)
{
    ngx_svc_webhook_drain_t  *drain;

    drain = &ngx_svc_webhook_drain_ctx;

    if (drain->timer.timer_set) {
        ngx_del_timer(&drain->timer);
    }

    ngx_svc_lane_done(&drain->done);
}


static void
ngx_svc_webhook_drain_timeout(ngx_event_t *ev)
{
    ngx_svc_webhook_drain_done();
}
