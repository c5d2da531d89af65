/*
 * Mails in Redis, for the helper.
 */

#include "ngx_svc_mail_queue.h"
#include "ngx_svc_mail_entry.h"
#include "ngx_svc_mail_script.h"
#include "ngx_svc_webhook.h"

#include "ngx_svc_redis_pubsub.h"


#define NGX_SVC_MAIL_BEAT      1000     /* ms between heartbeats */
#define NGX_SVC_MAIL_REGISTER  50       /* ms, while not registered */
#define NGX_SVC_MAIL_TTL       "10000"  /* ms without a heartbeat: dead */
#define NGX_SVC_MAIL_DOUBT     5000     /* ms without an answer: in doubt */
#define NGX_SVC_MAIL_BATCH     128      /* mails taken by a call */
#define NGX_SVC_MAIL_AGAIN     500      /* ms until an end is sent again */


typedef struct {
    ngx_log_t      *log;
    ngx_event_t     timer;
    ngx_svc_helper_owner_t  owner;      /* the key has the mails in flight */
    ngx_uint_t      max;                /* mails asked for by the last call */
    void          (*done)(void);
    const ngx_svc_mail_queue_handlers_t  *handlers;
    unsigned        registered:1;
    unsigned        taking:1;           /* a call is under way */
    unsigned        again:1;
    unsigned        recover:1;          /* ask for mails in flight, too */
    unsigned        stopped:1;
} ngx_svc_mail_queue_t;


static void ngx_svc_mail_queue_timer(ngx_event_t *ev);
static void ngx_svc_mail_queue_wake(ngx_str_t *payload);
static void ngx_svc_mail_queue_taken(redisReply *reply, void *data);
static void ngx_svc_mail_queue_entries(redisReply *reply);
static void ngx_svc_mail_queue_ended(redisReply *reply, void *data);
static void ngx_svc_mail_queue_again(ngx_event_t *ev);
static void ngx_svc_mail_queue_left(redisReply *reply, void *data);


static ngx_svc_mail_queue_t  ngx_svc_mail_queue;


ngx_int_t
ngx_svc_mail_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before, const ngx_svc_mail_queue_handlers_t *handlers)
{
    ngx_svc_mail_queue_t  *queue;

    queue = &ngx_svc_mail_queue;

    queue->log = cycle->log;
    queue->handlers = handlers;

    ngx_svc_helper_owner(&queue->owner, NGX_SVC_MAIL_INFLIGHT, id, before);

    queue->timer.handler = ngx_svc_mail_queue_timer;
    queue->timer.data = queue;
    queue->timer.log = cycle->log;
    ngx_add_timer(&queue->timer, 1);

    return ngx_svc_redis_subscribe(NGX_SVC_MAIL_WAKE, ngx_svc_mail_queue_wake);
}


static void
ngx_svc_mail_queue_timer(ngx_event_t *ev)
{
    ngx_svc_mail_queue_t  *queue;

    queue = &ngx_svc_mail_queue;

    ngx_svc_mail_queue_take();

    ngx_add_timer(ev, queue->registered ? NGX_SVC_MAIL_BEAT
                                        : NGX_SVC_MAIL_REGISTER);
}


static void
ngx_svc_mail_queue_wake(ngx_str_t *payload)
{
    ngx_svc_mail_queue_take();
}


void
ngx_svc_mail_queue_stop(void)
{
    ngx_svc_mail_queue.stopped = 1;
}


ngx_uint_t
ngx_svc_mail_queue_sure(void)
{
    ngx_svc_mail_queue_t  *queue;

    queue = &ngx_svc_mail_queue;

    return queue->registered
           && ngx_svc_helper_owner_age(&queue->owner) <= NGX_SVC_MAIL_DOUBT;
}


/* Takes mails, and is a heartbeat, even if none may be taken. */

void
ngx_svc_mail_queue_take(void)
{
    u_char                 max[NGX_INT64_LEN];
    ngx_str_t              args[8];
    ngx_svc_mail_queue_t  *queue;

    queue = &ngx_svc_mail_queue;

    if (queue->taking || queue->done) {
        queue->again = 1;
        return;
    }

    queue->max = queue->stopped ? 0 : ngx_min(queue->handlers->room(),
                                              NGX_SVC_MAIL_BATCH);

    ngx_str_set(&args[0], NGX_SVC_MAIL_HELPERS);
    ngx_str_set(&args[1], NGX_SVC_MAIL_QUEUE);
    args[2] = queue->owner.key;
    args[3] = queue->owner.name;
    ngx_str_set(&args[4], NGX_SVC_MAIL_TTL);
    args[5].data = max;
    args[5].len = ngx_sprintf(max, "%ui", queue->max) - max;
    args[6] = queue->owner.before;
    ngx_str_set(&args[7], "0");

    if (queue->recover && !queue->stopped) {
        ngx_str_set(&args[7], "1");
    }

    queue->owner.asked = ngx_current_msec;

    if (ngx_svc_redis_call(&ngx_svc_mail_take_script, args, 8, 3,
                           ngx_svc_mail_queue_taken, NULL)
        == NGX_OK)
    {
        queue->taking = 1;
        queue->again = 0;
        queue->recover = 0;
    }
}


/* If an answer was lost, its mails are in flight already, and are asked for. */

static void
ngx_svc_mail_queue_taken(redisReply *reply, void *data)
{
    ngx_svc_mail_queue_t  *queue;

    queue = &ngx_svc_mail_queue;

    queue->taking = 0;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY
        || reply->elements < NGX_SVC_MAIL_FIRST)
    {
        queue->recover = 1;
        return;
    }

    if (queue->registered && reply->element[0]->integer == 0) {
        ngx_log_error(NGX_LOG_WARN, queue->log, 0,
                      "webhook helper process was taken for dead, or Redis "
                      "has lost its data: its mails are left to others");
        queue->handlers->forget();
        queue->recover = 1;
    }

    queue->registered = 1;
    queue->owner.before.len = 0;
    queue->owner.confirmed = queue->owner.asked;

    ngx_svc_mail_queue_entries(reply);

    queue->handlers->wake();

    if (queue->again || queue->recover
        || (queue->max && reply->elements - NGX_SVC_MAIL_FIRST >= queue->max))
    {
        ngx_svc_mail_queue_take();
    }
}


static void
ngx_svc_mail_queue_entries(redisReply *reply)
{
    size_t      i;
    ngx_str_t   entry;
    redisReply *element;

    for (i = NGX_SVC_MAIL_FIRST; i < reply->elements; i++) {
        element = reply->element[i];

        if (element->type != REDIS_REPLY_STRING) {
            continue;
        }

        entry.data = (u_char *) element->str;
        entry.len = element->len;

        if (ngx_svc_mail_queue.handlers->take(&entry) != NGX_OK) {
            ngx_svc_mail_queue.recover = 1;
        }
    }
}


void
ngx_svc_mail_queue_end(ngx_svc_mail_end_t *end)
{
    ngx_str_t  args[6];

    args[0] = ngx_svc_mail_queue.owner.key;
    ngx_str_set(&args[1], NGX_SVC_MAIL_PENDING);
    ngx_str_set(&args[2], NGX_SVC_MAIL_FAILED);
    args[3] = end->id;
    args[4] = end->tenant;
    ngx_str_set(&args[5], "0");

    if (end->failed.len) {
        args[2] = end->failed;
        ngx_str_set(&args[5], "1");
    }

    if (ngx_svc_redis_call(&ngx_svc_mail_done_script, args, 6, 3,
                           ngx_svc_mail_queue_ended, end)
        != NGX_OK)
    {
        ngx_svc_mail_queue_ended(NULL, end);
    }
}


static void
ngx_svc_mail_queue_ended(redisReply *reply, void *data)
{
    ngx_svc_mail_end_t *end = data;

    if (reply && reply->type == REDIS_REPLY_INTEGER) {
        end->handler(end->data, reply->integer == 1);
        return;
    }

    end->timer.handler = ngx_svc_mail_queue_again;
    end->timer.data = end;
    end->timer.log = ngx_svc_mail_queue.log;

    ngx_add_timer(&end->timer, NGX_SVC_MAIL_AGAIN);
}


static void
ngx_svc_mail_queue_again(ngx_event_t *ev)
{
    ngx_svc_mail_queue_end(ev->data);
}


void
ngx_svc_mail_queue_leave(void (*done)(void))
{
    ngx_str_t              args[3];
    ngx_svc_mail_queue_t  *queue;

    queue = &ngx_svc_mail_queue;

    queue->stopped = 1;
    queue->done = done;

    ngx_str_set(&args[0], NGX_SVC_MAIL_HELPERS);
    args[1] = queue->owner.key;
    args[2] = queue->owner.name;

    if (ngx_svc_redis_call(&ngx_svc_mail_leave_script, args, 3, 2,
                           ngx_svc_mail_queue_left, NULL)
        != NGX_OK)
    {
        done();
    }
}


static void
ngx_svc_mail_queue_left(redisReply *reply, void *data)
{
    ngx_svc_mail_queue.done();
}
