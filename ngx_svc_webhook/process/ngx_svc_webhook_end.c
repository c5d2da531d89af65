/*
 * The end of the helper process: its lanes end what is under way, and leave.
 */

#include "ngx_svc_webhook_end.h"
#include "ngx_svc_mail_lane.h"
#include "ngx_svc_logout_lane.h"
#include "ngx_svc_push_lane.h"
#include "ngx_svc_webhook_deliver.h"
#include "ngx_svc_webhook_outbox.h"
#include "ngx_svc_webhook_queue.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_LATE  1200      /* ms, for what is to be recorded */
#define NGX_SVC_WEBHOOK_LAST  500       /* ms, for the last words to Redis */
#define NGX_SVC_WEBHOOK_HASTE 200       /* likewise, when there is no time */


typedef struct {
    ngx_event_t          limit;         /* of what takes long */
    ngx_uint_t           nlanes;        /* that are to say that they have
                                           drained, or left */
    unsigned             draining:1;
    unsigned             leaving:1;
    unsigned             ended:1;
} ngx_svc_webhook_end_t;


static void ngx_svc_webhook_end_count(void);
static void ngx_svc_webhook_end_drained(void);
static void ngx_svc_webhook_end_lanes(ngx_msec_t limit);
static void ngx_svc_webhook_end_left(void);
static void ngx_svc_webhook_end_late(ngx_event_t *ev);


static ngx_svc_webhook_end_t  ngx_svc_webhook_end_ctx;


void
ngx_svc_webhook_end_init(ngx_cycle_t *cycle)
{
    ngx_svc_webhook_end_t  *end;

    end = &ngx_svc_webhook_end_ctx;

    end->limit.handler = ngx_svc_webhook_end_late;
    end->limit.data = end;
    end->limit.log = cycle->log;
}


void
ngx_svc_webhook_end_drain(void)
{
    ngx_svc_webhook_end_t  *end;

    end = &ngx_svc_webhook_end_ctx;

    if (end->draining) {
        return;
    }

    end->draining = 1;

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "webhook helper process is shutting down");
    ngx_setproctitle("webhook helper process is shutting down");

    ngx_add_timer(&end->limit, ngx_svc_webhook_conf()->shutdown_timeout
                               + NGX_SVC_WEBHOOK_LATE);

    ngx_svc_webhook_end_count();

    if (ngx_svc_webhook_conf()->on) {
        ngx_svc_webhook_queue_stop();
        ngx_svc_webhook_outbox_stop();
        ngx_svc_webhook_deliver_drain(ngx_svc_webhook_end_drained);
    }

    if (ngx_svc_webhook_conf()->mail.url.len) {
        ngx_svc_mail_lane_drain(ngx_svc_webhook_end_drained);
    }

    if (ngx_svc_webhook_conf()->push.on) {
        ngx_svc_push_lane_drain(ngx_svc_webhook_end_drained);
    }

    if (ngx_svc_webhook_conf()->logout) {
        ngx_svc_logout_lane_drain(ngx_svc_webhook_end_drained);
    }
}


static void
ngx_svc_webhook_end_count(void)
{
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();

    ngx_svc_webhook_end_ctx.nlanes = (wcf->on ? 1 : 0)
                                     + (wcf->mail.url.len ? 1 : 0)
                                     + (wcf->push.on ? 1 : 0)
                                     + (wcf->logout ? 1 : 0);
}


static void
ngx_svc_webhook_end_drained(void)
{
    ngx_svc_webhook_end_t  *end;

    end = &ngx_svc_webhook_end_ctx;

    if (!end->leaving && --end->nlanes == 0) {
        ngx_svc_webhook_end_lanes(NGX_SVC_WEBHOOK_LAST);
    }
}


void
ngx_svc_webhook_end_leave(void)
{
    ngx_svc_webhook_end_lanes(NGX_SVC_WEBHOOK_HASTE);
}


ngx_uint_t
ngx_svc_webhook_ended(void)
{
    return ngx_svc_webhook_end_ctx.ended;
}


/* Deliveries without an attempt under way are others' once Redis knows. */

static void
ngx_svc_webhook_end_lanes(ngx_msec_t limit)
{
    ngx_svc_webhook_end_t  *end;

    end = &ngx_svc_webhook_end_ctx;

    ngx_add_timer(&end->limit, limit);

    if (end->leaving) {
        return;
    }

    end->draining = 1;
    end->leaving = 1;

    ngx_svc_webhook_end_count();

    if (ngx_svc_webhook_conf()->on) {
        ngx_svc_webhook_deliver_pause(1);
        ngx_svc_webhook_queue_unregister(ngx_svc_webhook_end_left);
    }

    if (ngx_svc_webhook_conf()->mail.url.len) {
        ngx_svc_mail_lane_leave(ngx_svc_webhook_end_left);
    }

    if (ngx_svc_webhook_conf()->push.on) {
        ngx_svc_push_lane_leave(ngx_svc_webhook_end_left);
    }

    if (ngx_svc_webhook_conf()->logout) {
        ngx_svc_logout_lane_leave(ngx_svc_webhook_end_left);
    }
}


static void
ngx_svc_webhook_end_left(void)
{
    if (--ngx_svc_webhook_end_ctx.nlanes == 0) {
        ngx_svc_webhook_end_ctx.ended = 1;
    }
}


/* The drain has not come to an end, or Redis does not answer. */

static void
ngx_svc_webhook_end_late(ngx_event_t *ev)
{
    if (ngx_svc_webhook_end_ctx.leaving) {
        ngx_svc_webhook_end_ctx.ended = 1;

    } else {
        ngx_svc_webhook_end_lanes(NGX_SVC_WEBHOOK_LAST);
    }
}
