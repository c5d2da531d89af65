/*
 * The helper's lanes: they begin with the process; before it ends they drain,
 * then leave the rest to other helpers.
 */

#include "ngx_svc_helper_lanes.h"
#include "ngx_svc_fetch_lane.h"
#include "ngx_svc_logout_lane.h"
#include "ngx_svc_mail_lane.h"
#include "ngx_svc_push_lane.h"
#include "ngx_svc_webhook_deliver.h"
#include "ngx_svc_webhook_outbox.h"
#include "ngx_svc_webhook_queue.h"

#include <ngx_event.h>


#define NGX_SVC_HELPER_LATE  1200       /* ms to record outcomes */
#define NGX_SVC_HELPER_LAST  500        /* ms for the last calls to Redis */
#define NGX_SVC_HELPER_HASTE 200        /* ms for them, if there is no time */

#define ngx_svc_helper_nlanes                                                 \
    (sizeof(ngx_svc_helper_lanes) / sizeof(ngx_svc_helper_lanes[0]))


typedef struct {
    ngx_event_t          limit;         /* fires if draining or leaving takes
                                           too long */
    ngx_socket_t         worker;
    ngx_uint_t           n;             /* lanes that are on */
    ngx_uint_t           nbusy;         /* lanes that have not drained, or not
                                           left */
    unsigned             draining:1;
    unsigned             leaving:1;
    unsigned             ended:1;
} ngx_svc_helper_lanes_t;


static ngx_int_t ngx_svc_webhook_lane_init(const ngx_svc_lane_t *lane,
    ngx_cycle_t *cycle, const u_char *id, const ngx_str_t *before);
static void ngx_svc_webhook_lane_renamed(const u_char *id);
static void ngx_svc_webhook_lane_drain(const ngx_svc_lane_t *lane,
    void (*done)(void));
static void ngx_svc_webhook_lane_leave(const ngx_svc_lane_t *lane,
    void (*done)(void));
static void ngx_svc_webhook_lane_exit(const ngx_svc_lane_t *lane);
static void ngx_svc_helper_lanes_drained(void);
static void ngx_svc_helper_lanes_end(ngx_msec_t limit);
static void ngx_svc_helper_lanes_left(void);
static void ngx_svc_helper_lanes_late(ngx_event_t *ev);


static const ngx_svc_webhook_queue_handlers_t  ngx_svc_webhook_handlers = {
    .deliver = ngx_svc_webhook_deliver,
    .confirmed = ngx_svc_webhook_deliver_confirmed,
    .pause = ngx_svc_webhook_deliver_pause,
    .forget = ngx_svc_webhook_deliver_forget,
    .renamed = ngx_svc_webhook_lane_renamed
};

static const ngx_svc_lane_t  ngx_svc_webhook_lane = {
    .init = ngx_svc_webhook_lane_init,
    .drain = ngx_svc_webhook_lane_drain,
    .leave = ngx_svc_webhook_lane_leave,
    .exit = ngx_svc_webhook_lane_exit
};

/* People wait for the first one. */

static const ngx_svc_lane_t *const  ngx_svc_helper_lanes[] = {
    &ngx_svc_fetch_lane,
    &ngx_svc_webhook_lane,
    &ngx_svc_mail_lane,
    &ngx_svc_logout_lane,
    &ngx_svc_push_lane
};

static const ngx_svc_lane_t  *ngx_svc_helper_lanes_on[ngx_svc_helper_nlanes];

static ngx_svc_helper_lanes_t  ngx_svc_helper_lanes_ctx;


/* --- webhooks ---------------------------------------------------------- */

static ngx_int_t
ngx_svc_webhook_lane_init(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle,
    const u_char *id, const ngx_str_t *before)
{
    if (!ngx_svc_webhook_conf()->on) {
        return NGX_DECLINED;
    }

    ngx_svc_webhook_outbox_init(cycle);

    if (ngx_svc_webhook_deliver_init(cycle) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_webhook_queue_start(cycle, id, before,
                                       &ngx_svc_webhook_handlers);
}


static void
ngx_svc_webhook_lane_renamed(const u_char *id)
{
    (void) send(ngx_svc_helper_lanes_ctx.worker, id, NGX_SVC_ID_DIGITS,
                MSG_NOSIGNAL);
}


static void
ngx_svc_webhook_lane_drain(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_webhook_queue_stop();
    ngx_svc_webhook_outbox_stop();
    ngx_svc_webhook_deliver_drain(done);
}


/* Other helpers take deliveries without an attempt when Redis knows of this. */

static void
ngx_svc_webhook_lane_leave(const ngx_svc_lane_t *lane, void (*done)(void))
{
    ngx_svc_webhook_deliver_pause(1);
    ngx_svc_webhook_queue_unregister(done);
}


static void
ngx_svc_webhook_lane_exit(const ngx_svc_lane_t *lane)
{
    ngx_svc_webhook_outbox_exit();
    ngx_svc_webhook_deliver_exit();
}


/* --- all lanes --------------------------------------------------------- */

ngx_int_t
ngx_svc_helper_lanes_init(ngx_cycle_t *cycle, ngx_socket_t worker,
    const u_char *id, const ngx_str_t *before)
{
    ngx_int_t                rc;
    ngx_uint_t               i;
    const ngx_svc_lane_t    *lane;
    ngx_svc_helper_lanes_t  *lanes;

    lanes = &ngx_svc_helper_lanes_ctx;

    lanes->worker = worker;
    lanes->limit.handler = ngx_svc_helper_lanes_late;
    lanes->limit.data = lanes;
    lanes->limit.log = cycle->log;

    for (i = 0; i < ngx_svc_helper_nlanes; i++) {
        lane = ngx_svc_helper_lanes[i];
        rc = lane->init(lane, cycle, id, before);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (rc == NGX_OK) {
            ngx_svc_helper_lanes_on[lanes->n++] = lane;
        }
    }

    return NGX_OK;
}


void
ngx_svc_helper_lanes_exit(void)
{
    ngx_uint_t             i;
    const ngx_svc_lane_t  *lane;

    for (i = 0; i < ngx_svc_helper_lanes_ctx.n; i++) {
        lane = ngx_svc_helper_lanes_on[i];

        if (lane->exit) {
            lane->exit(lane);
        }
    }
}


/* --- the end ----------------------------------------------------------- */

void
ngx_svc_helper_lanes_drain(void)
{
    ngx_uint_t               i;
    const ngx_svc_lane_t    *lane;
    ngx_svc_helper_lanes_t  *lanes;

    lanes = &ngx_svc_helper_lanes_ctx;

    if (lanes->draining) {
        return;
    }

    lanes->draining = 1;

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "webhook helper process is shutting down");
    ngx_setproctitle("webhook helper process is shutting down");

    ngx_add_timer(&lanes->limit, ngx_svc_webhook_conf()->shutdown_timeout
                                 + NGX_SVC_HELPER_LATE);

    /* one more, since lanes may have drained within these calls */

    lanes->nbusy = lanes->n + 1;

    for (i = 0; i < lanes->n; i++) {
        lane = ngx_svc_helper_lanes_on[i];
        lane->drain(lane, ngx_svc_helper_lanes_drained);
    }

    ngx_svc_helper_lanes_drained();
}


static void
ngx_svc_helper_lanes_drained(void)
{
    ngx_svc_helper_lanes_t  *lanes;

    lanes = &ngx_svc_helper_lanes_ctx;

    if (!lanes->leaving && --lanes->nbusy == 0) {
        ngx_svc_helper_lanes_end(NGX_SVC_HELPER_LAST);
    }
}


void
ngx_svc_helper_lanes_leave(void)
{
    ngx_svc_helper_lanes_end(NGX_SVC_HELPER_HASTE);
}


static void
ngx_svc_helper_lanes_end(ngx_msec_t limit)
{
    ngx_uint_t               i;
    const ngx_svc_lane_t    *lane;
    ngx_svc_helper_lanes_t  *lanes;

    lanes = &ngx_svc_helper_lanes_ctx;

    ngx_add_timer(&lanes->limit, limit);

    if (lanes->leaving) {
        return;
    }

    lanes->draining = 1;
    lanes->leaving = 1;
    lanes->nbusy = lanes->n + 1;

    for (i = 0; i < lanes->n; i++) {
        lane = ngx_svc_helper_lanes_on[i];
        lane->leave(lane, ngx_svc_helper_lanes_left);
    }

    ngx_svc_helper_lanes_left();
}


static void
ngx_svc_helper_lanes_left(void)
{
    if (--ngx_svc_helper_lanes_ctx.nbusy == 0) {
        ngx_svc_helper_lanes_ctx.ended = 1;
    }
}


ngx_uint_t
ngx_svc_helper_lanes_ended(void)
{
    return ngx_svc_helper_lanes_ctx.ended;
}


/* Draining has taken too long, or Redis does not answer. */

static void
ngx_svc_helper_lanes_late(ngx_event_t *ev)
{
    if (ngx_svc_helper_lanes_ctx.leaving) {
        ngx_svc_helper_lanes_ctx.ended = 1;

    } else {
        ngx_svc_helper_lanes_end(NGX_SVC_HELPER_LAST);
    }
}
