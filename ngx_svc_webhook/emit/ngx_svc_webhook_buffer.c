/*
 * The buffer of events on their way to the queue, the oldest first.
 *
 * One call to Redis at a time takes as many of them as it may hold.  Each event
 * has a number, by which Redis knows those that it has taken from this worker:
 * when a connection breaks with a call under way, the same events are sent once
 * more, and none is queued twice.
 */

#include "ngx_svc_webhook_drop.h"
#include "ngx_svc_webhook_buffer.h"
#include "ngx_svc_webhook_script.h"

#include "ngx_svc_metrics.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_CALL        256     /* deliveries in a call */
#define NGX_SVC_WEBHOOK_CALL_SIZE   (256 * 1024)    /* bytes, likewise */
#define NGX_SVC_WEBHOOK_RESEND      100     /* ms between attempts to send */
#define NGX_SVC_WEBHOOK_MARK        60000   /* ms that Redis knows numbers for
                                               beyond svc_webhook_keep_time */

#define NGX_SVC_WEBHOOK_PUSHED_LEN  (sizeof(NGX_SVC_WEBHOOK_PUSHED) - 1)
#define NGX_SVC_WEBHOOK_HEAD_ARGS   7       /* of a call, before the events */
#define NGX_SVC_WEBHOOK_HEAD_NUMS   4       /* of them are numbers */


typedef struct {
    ngx_queue_t    events;
    ngx_uint_t     n;                   /* of them */
    ngx_uint_t     deliveries;
    size_t         size;
    uint64_t       first;               /* number of the first one */
    ngx_uint_t     sent;                /* events of the call under way */
    ngx_event_t    timer;               /* while there are some; a worker that
                                           quits waits for it */
    ngx_msec_t     deadline;            /* when the worker quits */
    unsigned       quitting:1;
    u_char         mark[NGX_SVC_WEBHOOK_PUSHED_LEN + NGX_SVC_WEBHOOK_ID];
} ngx_svc_webhook_buffer_t;


static ngx_int_t ngx_svc_webhook_buffer_room(ngx_svc_webhook_event_t *event);
static void ngx_svc_webhook_buffer_send(void);
static ngx_uint_t ngx_svc_webhook_buffer_batch(ngx_uint_t *nargs);
static void ngx_svc_webhook_buffer_head(ngx_str_t *args, u_char *numbers);
static void ngx_svc_webhook_buffer_args(ngx_str_t *args, ngx_uint_t n);
static void ngx_svc_webhook_buffer_answered(redisReply *reply, void *data);
static void ngx_svc_webhook_buffer_taken(u_char *codes);
static void ngx_svc_webhook_buffer_tick(ngx_event_t *ev);
static void ngx_svc_webhook_buffer_expire(void);
static ngx_uint_t ngx_svc_webhook_buffer_late(void);
static void ngx_svc_webhook_buffer_drop(ngx_svc_webhook_drop_e why,
    ngx_uint_t n);
static void ngx_svc_webhook_buffer_free(ngx_svc_webhook_event_t *event);


static ngx_svc_webhook_buffer_t  ngx_svc_webhook_buffer;


ngx_int_t
ngx_svc_webhook_buffer_init(ngx_cycle_t *cycle)
{
    u_char                    *p;
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    ngx_queue_init(&buffer->events);
    ngx_svc_webhook_share_init();
    buffer->first = 1;

    p = ngx_cpymem(buffer->mark, NGX_SVC_WEBHOOK_PUSHED,
                   NGX_SVC_WEBHOOK_PUSHED_LEN);

    if (ngx_svc_webhook_id(p) != NGX_OK) {
        return NGX_ERROR;
    }

    buffer->timer.handler = ngx_svc_webhook_buffer_tick;
    buffer->timer.data = buffer;
    buffer->timer.log = cycle->log;

    ngx_svc_redis_on_up(ngx_svc_webhook_buffer_send);

    return NGX_OK;
}


void
ngx_svc_webhook_buffer_exit(void)
{
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    ngx_svc_redis_on_up(NULL);

    if (buffer->n) {
        ngx_svc_webhook_buffer_drop(NGX_SVC_WEBHOOK_DROP_EXIT, buffer->n);
    }
}


ngx_int_t
ngx_svc_webhook_buffer_add(ngx_svc_webhook_event_t *event)
{
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    if (ngx_svc_webhook_buffer_room(event) != NGX_OK) {
        ngx_free(event);
        return NGX_DECLINED;
    }

    event->since = ngx_current_msec;
    ngx_svc_webhook_share_add(event->share, event->size);

    ngx_queue_insert_tail(&buffer->events, &event->queue);
    buffer->n++;
    buffer->size += event->size;
    buffer->deliveries += event->n;
    ngx_svc_gauge_set(NGX_SVC_G_KEPT, buffer->deliveries);

    if (!buffer->timer.timer_set) {
        ngx_add_timer(&buffer->timer, NGX_SVC_WEBHOOK_RESEND);
    }

    ngx_svc_webhook_buffer_send();

    return NGX_OK;
}


/*
 * One event always has room: it may be larger than all may be together.  A
 * tenant that has some may have as many as there are places left: half of them
 * when it is the only one, and the next one finds some.
 */

static ngx_int_t
ngx_svc_webhook_buffer_room(ngx_svc_webhook_event_t *event)
{
    ngx_svc_webhook_conf_t    *wcf;
    ngx_svc_webhook_drop_e     why;
    ngx_svc_webhook_buffer_t  *buffer;
    ngx_svc_webhook_share_t   *share;

    buffer = &ngx_svc_webhook_buffer;
    wcf = ngx_svc_webhook_conf();

    share = ngx_svc_webhook_share(&event->tenant);

    if (share == NULL) {
        why = NGX_SVC_WEBHOOK_DROP_MEMORY;

    } else if (buffer->n >= wcf->keep) {
        why = NGX_SVC_WEBHOOK_DROP_NUMBER;

    } else if (buffer->n && buffer->size + event->size > wcf->keep_size) {
        why = NGX_SVC_WEBHOOK_DROP_SIZE;

    } else if (share->n && (buffer->n + share->n >= wcf->keep
                            || buffer->size + share->size + event->size
                               > wcf->keep_size))
    {
        why = NGX_SVC_WEBHOOK_DROP_SHARE;

    } else {
        event->share = share;
        return NGX_OK;
    }

    if (share) {
        ngx_svc_webhook_share_unused(share);
    }

    ngx_svc_webhook_drop(why, event->n, &event->tenant);

    return NGX_DECLINED;
}


static void
ngx_svc_webhook_buffer_send(void)
{
    u_char                    *numbers;
    ngx_int_t                  rc;
    ngx_str_t                 *args;
    ngx_uint_t                 n, nargs;
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    if (buffer->sent || buffer->n == 0
        || ngx_svc_redis_state() != NGX_SVC_REDIS_UP)
    {
        return;
    }

    n = ngx_svc_webhook_buffer_batch(&nargs);

    args = ngx_alloc(nargs * sizeof(ngx_str_t)
                     + NGX_SVC_WEBHOOK_HEAD_NUMS * NGX_INT64_LEN,
                     ngx_cycle->log);
    if (args == NULL) {
        return;
    }

    numbers = (u_char *) (args + nargs);

    ngx_svc_webhook_buffer_head(args, numbers);
    ngx_svc_webhook_buffer_args(args + NGX_SVC_WEBHOOK_HEAD_ARGS, n);

    rc = ngx_svc_redis_call(&ngx_svc_webhook_push_script, args, nargs, 3,
                            ngx_svc_webhook_buffer_answered, NULL);

    ngx_free(args);

    if (rc == NGX_OK) {
        buffer->sent = n;
    }
}


/* How many events go with the next call, and its arguments. */

static ngx_uint_t
ngx_svc_webhook_buffer_batch(ngx_uint_t *nargs)
{
    size_t                    size;
    ngx_uint_t                n, deliveries;
    ngx_queue_t              *q;
    ngx_svc_webhook_event_t  *event;

    size = 0;
    deliveries = 0;
    *nargs = NGX_SVC_WEBHOOK_HEAD_ARGS;

    for (n = 0, q = ngx_queue_head(&ngx_svc_webhook_buffer.events);
         q != ngx_queue_sentinel(&ngx_svc_webhook_buffer.events);
         n++, q = ngx_queue_next(q))
    {
        event = ngx_queue_data(q, ngx_svc_webhook_event_t, queue);

        size += event->size;
        deliveries += event->n;

        if (n && (deliveries > NGX_SVC_WEBHOOK_CALL
                  || size > NGX_SVC_WEBHOOK_CALL_SIZE))
        {
            break;
        }

        *nargs += 2 + event->n;
    }

    return n;
}


/* numbers: a place for NGX_SVC_WEBHOOK_HEAD_NUMS of them. */

static void
ngx_svc_webhook_buffer_head(ngx_str_t *args, u_char *numbers)
{
    u_char                    *p;
    uint64_t                   values[NGX_SVC_WEBHOOK_HEAD_NUMS];
    ngx_uint_t                 i;
    ngx_svc_webhook_conf_t    *wcf;
    ngx_svc_webhook_buffer_t  *buffer;

    wcf = ngx_svc_webhook_conf();
    buffer = &ngx_svc_webhook_buffer;

    ngx_str_set(&args[0], NGX_SVC_WEBHOOK_QUEUE);
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);
    args[2].data = buffer->mark;
    args[2].len = sizeof(buffer->mark);

    values[0] = wcf->capacity;
    values[1] = wcf->tenant_capacity;
    values[2] = wcf->keep_time + NGX_SVC_WEBHOOK_MARK;
    values[3] = buffer->first;

    p = numbers;

    for (i = 0; i < NGX_SVC_WEBHOOK_HEAD_NUMS; i++) {
        args[3 + i].data = p;
        p = ngx_sprintf(p, "%uL", values[i]);
        args[3 + i].len = p - args[3 + i].data;
    }
}


static void
ngx_svc_webhook_buffer_args(ngx_str_t *args, ngx_uint_t n)
{
    ngx_queue_t              *q;
    ngx_svc_webhook_event_t  *event;

    for (q = ngx_queue_head(&ngx_svc_webhook_buffer.events);
         n;
         n--, q = ngx_queue_next(q))
    {
        event = ngx_queue_data(q, ngx_svc_webhook_event_t, queue);

        *args++ = event->tenant;
        *args++ = event->number;

        ngx_memcpy(args, event->entries, event->n * sizeof(ngx_str_t));
        args += event->n;
    }
}


/*
 * Without an answer, or with an error of Redis' state, they stay: the timer or
 * Redis coming back sends them once more.
 */

static void
ngx_svc_webhook_buffer_answered(redisReply *reply, void *data)
{
    ngx_uint_t                 n;
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    n = buffer->sent;
    buffer->sent = 0;

    if (reply == NULL || ngx_svc_redis_transient(reply)) {
        return;
    }

    if (reply->type == REDIS_REPLY_STRING && (ngx_uint_t) reply->len == n) {
        ngx_svc_webhook_buffer_taken((u_char *) reply->str);

    } else {
        ngx_svc_webhook_buffer_drop(NGX_SVC_WEBHOOK_DROP_REFUSED, n);
    }

    ngx_svc_webhook_buffer_send();
}


/* codes: a digit for each event, and a NUL. */

static void
ngx_svc_webhook_buffer_taken(u_char *codes)
{
    ngx_queue_t              *q;
    ngx_svc_webhook_event_t  *event;

    for ( /* void */ ; *codes; codes++) {
        q = ngx_queue_head(&ngx_svc_webhook_buffer.events);
        event = ngx_queue_data(q, ngx_svc_webhook_event_t, queue);

        switch (*codes) {

        case '0':
            ngx_svc_metric_add(NGX_SVC_M_QUEUED, event->n);
            break;

        case '1':
            ngx_svc_webhook_drop(NGX_SVC_WEBHOOK_DROP_FULL, event->n,
                                 &event->tenant);
            break;

        case '3':
            break;

        default: /* '2' */
            ngx_svc_webhook_drop(NGX_SVC_WEBHOOK_DROP_TENANT, event->n,
                                 &event->tenant);
        }

        ngx_svc_webhook_buffer_free(event);
    }
}


static void
ngx_svc_webhook_buffer_tick(ngx_event_t *ev)
{
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    if (ngx_svc_webhook_buffer_late()) {
        if (buffer->sent == 0) {
            ngx_svc_webhook_buffer_drop(NGX_SVC_WEBHOOK_DROP_EXIT, buffer->n);
        }

    } else {
        ngx_svc_webhook_buffer_expire();
        ngx_svc_webhook_buffer_send();
    }

    if (buffer->n) {
        ngx_add_timer(ev, NGX_SVC_WEBHOOK_RESEND);
    }
}


/* What is on its way will be answered, or its connection breaks, soon. */

static void
ngx_svc_webhook_buffer_expire(void)
{
    ngx_uint_t                 n;
    ngx_queue_t               *q;
    ngx_svc_webhook_event_t   *event;
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    if (buffer->sent) {
        return;
    }

    for (n = 0, q = ngx_queue_head(&buffer->events);
         q != ngx_queue_sentinel(&buffer->events);
         n++, q = ngx_queue_next(q))
    {
        event = ngx_queue_data(q, ngx_svc_webhook_event_t, queue);

        if (ngx_current_msec - event->since
            < ngx_svc_webhook_conf()->keep_time)
        {
            break;
        }
    }

    if (n) {
        ngx_svc_webhook_buffer_drop(NGX_SVC_WEBHOOK_DROP_AGE, n);
    }
}


/* 1: the worker has been quitting for as long as it may. */

static ngx_uint_t
ngx_svc_webhook_buffer_late(void)
{
    ngx_msec_t                 bound;
    ngx_core_conf_t           *ccf;
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    if (!ngx_exiting) {
        return 0;
    }

    if (!buffer->quitting) {
        bound = ngx_svc_webhook_conf()->shutdown_timeout;

        ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                               ngx_core_module);
        if (ccf->shutdown_timeout) {
            bound = ngx_min(bound, ccf->shutdown_timeout);
        }

        buffer->quitting = 1;
        buffer->deadline = ngx_current_msec + bound;
    }

    return (ngx_msec_int_t) (ngx_current_msec - buffer->deadline) >= 0;
}


/* The first n events; one line for all of them. */

static void
ngx_svc_webhook_buffer_drop(ngx_svc_webhook_drop_e why, ngx_uint_t n)
{
    u_char                    text[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t                 tenant;
    ngx_uint_t                deliveries;
    ngx_queue_t              *q;
    ngx_svc_webhook_event_t  *event;

    tenant.data = text;
    tenant.len = 0;
    deliveries = 0;

    while (n--) {
        q = ngx_queue_head(&ngx_svc_webhook_buffer.events);
        event = ngx_queue_data(q, ngx_svc_webhook_event_t, queue);

        deliveries += event->n;
        tenant.len = ngx_min(event->tenant.len, sizeof(text));
        ngx_memcpy(text, event->tenant.data, tenant.len);

        ngx_svc_webhook_buffer_free(event);
    }

    ngx_svc_webhook_drop(why, deliveries, &tenant);
}


/* The first one. */

static void
ngx_svc_webhook_buffer_free(ngx_svc_webhook_event_t *event)
{
    ngx_svc_webhook_buffer_t  *buffer;

    buffer = &ngx_svc_webhook_buffer;

    ngx_queue_remove(&event->queue);
    ngx_svc_webhook_share_remove(event->share, event->size);
    buffer->n--;
    buffer->first++;
    buffer->size -= event->size;
    buffer->deliveries -= event->n;
    ngx_svc_gauge_set(NGX_SVC_G_KEPT, buffer->deliveries);

    ngx_free(event);

    if (buffer->n == 0 && buffer->timer.timer_set) {
        ngx_del_timer(&buffer->timer);
    }
}
