/*
 * In the helper: takes deliveries from Redis as long as Redis knows that the
 * helper lives.
 */

#include "ngx_svc_webhook_queue.h"
#include "ngx_svc_webhook_ack.h"
#include "ngx_svc_webhook_inflight.h"
#include "ngx_svc_redis_pubsub.h"

#include "ngx_svc_metrics.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_HEARTBEAT  1000     /* ms between heartbeats */
#define NGX_SVC_WEBHOOK_REGISTER   50       /* ms between registrations */
#define NGX_SVC_WEBHOOK_TTL        "10000"  /* ms without a heartbeat: dead */
#define NGX_SVC_WEBHOOK_DOUBT      5000     /* ms without an answer: in doubt */
#define NGX_SVC_WEBHOOK_REST       10000    /* ms between takes without a
                                               wake */

#define NGX_SVC_WEBHOOK_FIRST      2        /* index of the first entry in an
                                               answer */


typedef struct {
    ngx_log_t      *log;
    ngx_event_t     timer;
    ngx_svc_helper_owner_t  owner;      /* the key is the in-flight set */
    ngx_msec_t      took;               /* when the last take was sent */
    u_char          cursor[NGX_INT64_LEN + 1];
    size_t          cursor_len;
    void          (*done)(void);        /* set when unregistering */
    const ngx_svc_webhook_queue_handlers_t  *handlers;
    unsigned        registered:1;
    unsigned        beating:1;          /* a registration or a heartbeat is
                                           under way */
    unsigned        taking:1;           /* a take is under way */
    unsigned        again:1;            /* another take is due */
    unsigned        unsure:1;           /* Redis may have more in flight for us
                                           than we have here */
    unsigned        paused:1;
    unsigned        stopped:1;
    unsigned        unregistering:1;
} ngx_svc_webhook_queue_t;


static void ngx_svc_webhook_queue_timer(ngx_event_t *ev);
static void ngx_svc_webhook_queue_wake(ngx_str_t *payload);
static void ngx_svc_webhook_queue_register(void);
static void ngx_svc_webhook_queue_registered(redisReply *reply, void *data);
static void ngx_svc_webhook_queue_heartbeat(void);
static void ngx_svc_webhook_queue_heartbeat_answered(redisReply *reply,
    void *data);
static void ngx_svc_webhook_queue_alive(void);
static void ngx_svc_webhook_queue_check(ngx_uint_t n);
static void ngx_svc_webhook_queue_lapsed(void);
static void ngx_svc_webhook_queue_pause(ngx_uint_t pause);
static void ngx_svc_webhook_queue_take(void);
static void ngx_svc_webhook_queue_taken(redisReply *reply, void *data);
static void ngx_svc_webhook_queue_recover(void);
static void ngx_svc_webhook_queue_recovered(redisReply *reply, void *data);
static void ngx_svc_webhook_queue_add(redisReply *reply);
static void ngx_svc_webhook_queue_confirmed(void);
static void ngx_svc_webhook_queue_unconfirmed(void);
static void ngx_svc_webhook_queue_unregistered(redisReply *reply, void *data);


static ngx_svc_webhook_queue_t  ngx_svc_webhook_queue;


ngx_int_t
ngx_svc_webhook_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before,
    const ngx_svc_webhook_queue_handlers_t *handlers)
{
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    queue->log = cycle->log;
    queue->handlers = handlers;
    queue->owner.confirmed = ngx_current_msec;

    ngx_svc_helper_owner(&queue->owner, NGX_SVC_WEBHOOK_INFLIGHT, id, before);

    ngx_svc_webhook_inflight_init(cycle->log, &queue->owner.key, handlers);
    ngx_svc_webhook_ack_confirmed = ngx_svc_webhook_queue_confirmed;
    ngx_svc_webhook_ack_failed = ngx_svc_webhook_queue_unconfirmed;

    queue->timer.handler = ngx_svc_webhook_queue_timer;
    queue->timer.data = queue;
    queue->timer.log = cycle->log;
    ngx_add_timer(&queue->timer, 1);

    return ngx_svc_redis_subscribe(NGX_SVC_WEBHOOK_WAKE,
                                   ngx_svc_webhook_queue_wake);
}


void
ngx_svc_webhook_queue_stop(void)
{
    ngx_svc_webhook_queue.stopped = 1;
}


static void
ngx_svc_webhook_queue_timer(ngx_event_t *ev)
{
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    if (queue->registered) {
        ngx_svc_webhook_queue_heartbeat();
        ngx_svc_webhook_ack_flush();

        if (queue->unsure
            || ngx_current_msec - queue->took >= NGX_SVC_WEBHOOK_REST)
        {
            ngx_svc_webhook_queue_take();
        }

    } else {
        ngx_svc_webhook_queue_register();
    }

    if (ngx_svc_helper_owner_age(&queue->owner) > NGX_SVC_WEBHOOK_DOUBT) {
        ngx_svc_webhook_queue_pause(1);
    }

    ngx_add_timer(ev, queue->registered ? NGX_SVC_WEBHOOK_HEARTBEAT
                                        : NGX_SVC_WEBHOOK_REGISTER);
}


static void
ngx_svc_webhook_queue_wake(ngx_str_t *payload)
{
    ngx_svc_webhook_queue_take();
}


static void
ngx_svc_webhook_queue_register(void)
{
    ngx_str_t                 args[4];
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    if (queue->beating || queue->stopped) {
        return;
    }

    ngx_str_set(&args[0], NGX_SVC_WEBHOOK_HELPERS);
    args[1] = queue->owner.name;
    ngx_str_set(&args[2], NGX_SVC_WEBHOOK_TTL);
    args[3] = queue->owner.before;

    queue->owner.asked = ngx_current_msec;

    if (ngx_svc_redis_call(&ngx_svc_webhook_register_script, args, 4, 1,
                           ngx_svc_webhook_queue_registered, NULL)
        == NGX_OK)
    {
        queue->beating = 1;
    }
}


static void
ngx_svc_webhook_queue_registered(redisReply *reply, void *data)
{
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    queue->beating = 0;

    if (reply == NULL) {
        return;
    }

    queue->registered = 1;

    ngx_svc_webhook_queue_alive();
    ngx_svc_webhook_queue_take();
}


static void
ngx_svc_webhook_queue_heartbeat(void)
{
    ngx_str_t                 args[5];
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    if (queue->beating) {
        return;
    }

    ngx_str_set(&args[0], NGX_SVC_WEBHOOK_HELPERS);
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_QUEUE);
    args[2] = queue->owner.key;
    args[3] = queue->owner.name;
    ngx_str_set(&args[4], NGX_SVC_WEBHOOK_TTL);

    queue->owner.asked = ngx_current_msec;

    if (ngx_svc_redis_call(&ngx_svc_webhook_heartbeat_script, args, 5, 3,
                           ngx_svc_webhook_queue_heartbeat_answered, NULL)
        == NGX_OK)
    {
        queue->beating = 1;
    }
}


static void
ngx_svc_webhook_queue_heartbeat_answered(redisReply *reply, void *data)
{
    ngx_svc_webhook_queue.beating = 0;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY
        || reply->elements != 4)
    {
        return;
    }

    ngx_svc_gauge_set(NGX_SVC_G_QUEUE, reply->element[1]->integer);

    if (reply->element[0]->integer) {
        ngx_svc_webhook_queue_alive();
        ngx_svc_webhook_queue_check(reply->element[2]->integer);

        /* a message may have been lost, or a helper may have died */

        if (reply->element[1]->integer || reply->element[3]->integer) {
            ngx_svc_webhook_queue_take();
        }

    } else if (!ngx_svc_webhook_queue.unregistering) {
        ngx_svc_webhook_queue_lapsed();
    }
}


static void
ngx_svc_webhook_queue_alive(void)
{
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    queue->owner.confirmed = queue->owner.asked;

    if (ngx_svc_helper_owner_age(&queue->owner) <= NGX_SVC_WEBHOOK_DOUBT) {
        ngx_svc_webhook_queue_pause(0);
    }
}


/*
 * Compares the number in flight.  Answers come in the order of the calls, so
 * Redis had as many as we have, unless a connection broke and its last calls
 * arrived after the recovery.
 */

static void
ngx_svc_webhook_queue_check(ngx_uint_t n)
{
    if (n > ngx_svc_webhook_inflight_count()) {
        ngx_svc_webhook_queue.unsure = 1;
    }
}


/* Goes on as a new helper; the old one's deliveries are anybody's. */

static void
ngx_svc_webhook_queue_lapsed(void)
{
    u_char                    id[NGX_SVC_ID_DIGITS];
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    if (ngx_svc_random_id(id) != NGX_OK) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, queue->log, 0,
                  "webhook helper process was taken for dead, or Redis has "
                  "lost its data: its deliveries are left to others");

    ngx_svc_webhook_queue_pause(1);

    ngx_svc_webhook_inflight_forget();
    queue->handlers->forget();

    queue->registered = 0;
    queue->unsure = 0;

    ngx_memcpy(queue->owner.last, queue->owner.name.data, NGX_SVC_ID_DIGITS);
    queue->owner.before.len = NGX_SVC_ID_DIGITS;
    ngx_memcpy(queue->owner.name.data, id, NGX_SVC_ID_DIGITS);

    queue->handlers->renamed(id);

    ngx_svc_webhook_queue_register();
}


static void
ngx_svc_webhook_queue_pause(ngx_uint_t pause)
{
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    if (queue->paused != pause) {
        queue->paused = pause;
        queue->handlers->pause(pause);
    }
}


static void
ngx_svc_webhook_queue_take(void)
{
    ngx_str_t                 args[6];
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    if (queue->taking) {
        queue->again = 1;
        return;
    }

    if (!queue->registered || queue->stopped) {
        return;
    }

    if (queue->unsure) {
        queue->cursor[0] = '0';
        queue->cursor_len = 1;
        ngx_svc_webhook_queue_recover();
        queue->unsure = !queue->taking;
        return;
    }

    ngx_str_set(&args[0], NGX_SVC_WEBHOOK_HELPERS);
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_QUEUE);
    ngx_str_set(&args[2], NGX_SVC_WEBHOOK_PENDING);
    args[3] = queue->owner.key;
    args[4] = queue->owner.name;
    ngx_str_set(&args[5], ngx_value(NGX_SVC_WEBHOOK_BATCH));

    if (ngx_svc_redis_call(&ngx_svc_webhook_take_script, args, 6, 4,
                           ngx_svc_webhook_queue_taken, NULL)
        == NGX_OK)
    {
        queue->taking = 1;
        queue->again = 0;
        queue->took = ngx_current_msec;
    }
}


static void
ngx_svc_webhook_queue_taken(redisReply *reply, void *data)
{
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    queue->taking = 0;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY
        || reply->elements < NGX_SVC_WEBHOOK_FIRST)
    {
        queue->unsure = 1;
        return;
    }

    ngx_svc_metric_add(NGX_SVC_M_TAKEN_OVER, reply->element[0]->integer);

    ngx_svc_webhook_queue_add(reply);

    if (queue->again
        || reply->elements - NGX_SVC_WEBHOOK_FIRST >= NGX_SVC_WEBHOOK_BATCH)
    {
        ngx_svc_webhook_queue_take();
    }
}


/* An answer was lost: its entries are read from the in-flight set. */

static void
ngx_svc_webhook_queue_recover(void)
{
    ngx_str_t                 args[4];
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    args[0] = queue->owner.key;
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);
    args[2].data = queue->cursor;
    args[2].len = queue->cursor_len;
    ngx_str_set(&args[3], ngx_value(NGX_SVC_WEBHOOK_BATCH));

    if (ngx_svc_redis_call(&ngx_svc_webhook_recover_script, args, 4, 2,
                           ngx_svc_webhook_queue_recovered, NULL)
        == NGX_OK)
    {
        queue->taking = 1;
    }
}


static void
ngx_svc_webhook_queue_recovered(redisReply *reply, void *data)
{
    redisReply               *cursor;
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    queue->taking = 0;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY
        || reply->elements < NGX_SVC_WEBHOOK_FIRST || !queue->registered)
    {
        queue->unsure = 1;
        return;
    }

    ngx_svc_webhook_queue_add(reply);

    cursor = reply->element[0];

    if (cursor->type != REDIS_REPLY_STRING || ngx_strcmp(cursor->str, "0") == 0
        || cursor->len > NGX_INT64_LEN)
    {
        if (!queue->unsure) {
            ngx_svc_webhook_queue_take();
        }

        return;
    }

    queue->cursor_len = cursor->len;
    ngx_memcpy(queue->cursor, cursor->str, cursor->len);

    ngx_svc_webhook_queue_recover();

    if (!queue->taking) {
        queue->unsure = 1;
    }
}


/* Adds entries; those that lack memory stay in flight, and are recovered. */

static void
ngx_svc_webhook_queue_add(redisReply *reply)
{
    size_t       i;
    ngx_uint_t   started;
    redisReply  *digits;

    digits = reply->element[1];

    for (i = NGX_SVC_WEBHOOK_FIRST; i < reply->elements; i++) {
        started = 0;

        if (digits->type == REDIS_REPLY_STRING
            && i - NGX_SVC_WEBHOOK_FIRST < digits->len)
        {
            started = digits->str[i - NGX_SVC_WEBHOOK_FIRST] - '0';
        }

        if (ngx_svc_webhook_inflight_add(reply->element[i], started)
            != NGX_OK)
        {
            ngx_svc_webhook_queue.unsure = 1;
        }
    }
}


void
ngx_svc_webhook_queue_unregister(void (*done)(void))
{
    ngx_svc_webhook_queue.stopped = 1;
    ngx_svc_webhook_queue.done = done;

    ngx_svc_webhook_ack_flush();
    ngx_svc_webhook_queue_confirmed();
}


/* Pauses until the next heartbeat that is answered. */

static void
ngx_svc_webhook_queue_unconfirmed(void)
{
    ngx_svc_webhook_queue_pause(1);
}


static void
ngx_svc_webhook_queue_confirmed(void)
{
    ngx_str_t                 args[3];
    ngx_svc_webhook_queue_t  *queue;

    queue = &ngx_svc_webhook_queue;

    if (queue->done == NULL || queue->unregistering) {
        return;
    }

    if (ngx_svc_webhook_ack_pending()
        && ngx_svc_redis_state() == NGX_SVC_REDIS_UP)
    {
        return;
    }

    queue->unregistering = 1;

    ngx_str_set(&args[0], NGX_SVC_WEBHOOK_HELPERS);
    args[1] = queue->owner.key;
    args[2] = queue->owner.name;

    if (ngx_svc_redis_call(&ngx_svc_webhook_unregister_script, args, 3, 2,
                           ngx_svc_webhook_queue_unregistered, NULL)
        != NGX_OK)
    {
        queue->done();
    }
}


static void
ngx_svc_webhook_queue_unregistered(redisReply *reply, void *data)
{
    ngx_svc_webhook_queue.done();
}
