/*
 * Acknowledgements to Redis of the outcomes of deliveries in flight.
 */

#include "ngx_svc_webhook_ack.h"
#include "ngx_svc_webhook_entry.h"
#include "ngx_svc_webhook_script.h"

#include "ngx_svc_metrics.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_ACK_SOME   16       /* outcomes that are sent at once */
#define NGX_SVC_WEBHOOK_ACK_DELAY  5        /* ms that fewer outcomes wait */


/* The state of a delivery's outcome. */

enum {
    NGX_SVC_WEBHOOK_ACK_NONE = 0,
    NGX_SVC_WEBHOOK_ACK_WAITING,        /* in outcomes */
    NGX_SVC_WEBHOOK_ACK_SENT            /* in a batch */
};


/* One call to Redis. */

typedef struct {
    ngx_queue_t          queue;         /* in acks.batches */
    ngx_queue_t          outcomes;      /* deliveries; empty after a forget */
} ngx_svc_webhook_ack_batch_t;


typedef struct {
    ngx_log_t           *log;
    ngx_str_t           *hash;
    ngx_queue_t          outcomes;      /* deliveries whose outcomes wait */
    ngx_uint_t           nwaiting;      /* number of outcomes */
    ngx_queue_t          batches;
    ngx_event_t          event;         /* posted, or a timer */
    void               (*release)(ngx_svc_webhook_delivery_t *d);
} ngx_svc_webhook_acks_t;


static void ngx_svc_webhook_ack_outcome(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_ack_wait(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_ack_event(ngx_event_t *ev);
static ngx_int_t ngx_svc_webhook_ack_send(void);
static ngx_uint_t ngx_svc_webhook_ack_args(ngx_str_t *args,
    ngx_svc_webhook_number_t *numbers);
static ngx_int_t ngx_svc_webhook_ack_text(ngx_svc_webhook_delivery_t *d,
    ngx_str_t *text);
static void ngx_svc_webhook_ack_unsigned(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_ack_sent(ngx_svc_webhook_ack_batch_t *batch,
    ngx_uint_t n);
static void ngx_svc_webhook_ack_answered(redisReply *reply, void *data);
static void ngx_svc_webhook_ack_drop(ngx_queue_t *outcomes);


static ngx_svc_webhook_acks_t  ngx_svc_webhook_acks;

void  (*ngx_svc_webhook_ack_confirmed)(void);
void  (*ngx_svc_webhook_ack_failed)(void);


void
ngx_svc_webhook_ack_init(ngx_log_t *log, ngx_str_t *hash,
    void (*release)(ngx_svc_webhook_delivery_t *d))
{
    ngx_svc_webhook_acks_t  *acks;

    acks = &ngx_svc_webhook_acks;

    acks->log = log;
    acks->hash = hash;
    acks->release = release;

    ngx_queue_init(&acks->outcomes);
    ngx_queue_init(&acks->batches);

    acks->event.handler = ngx_svc_webhook_ack_event;
    acks->event.data = acks;
    acks->event.log = log;
}


void
ngx_svc_webhook_ack_final(ngx_svc_webhook_delivery_t *d)
{
    d->final = 1;
    ngx_svc_webhook_ack_outcome(d);
}


void
ngx_svc_webhook_ack_retry(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_ack_outcome(d);
}


void
ngx_svc_webhook_ack_requeue(ngx_svc_webhook_delivery_t *d)
{
    d->final = 1;
    d->requeued = 1;
    ngx_svc_webhook_ack_outcome(d);
}


/*
 * A call to Redis for each outcome would slow requests down, so they are
 * batched.
 */

static void
ngx_svc_webhook_ack_outcome(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_acks_t  *acks;

    d->ended = d->started;

    if (d->ack == NGX_SVC_WEBHOOK_ACK_SENT) {
        d->changed = 1;
        return;
    }

    if (d->ack == NGX_SVC_WEBHOOK_ACK_NONE) {
        ngx_svc_webhook_ack_wait(d);
    }

    acks = &ngx_svc_webhook_acks;

    if (acks->nwaiting >= NGX_SVC_WEBHOOK_ACK_SOME) {
        ngx_post_event(&acks->event, &ngx_posted_events);

    } else if (!acks->event.timer_set) {
        ngx_add_timer(&acks->event, NGX_SVC_WEBHOOK_ACK_DELAY);
    }
}


static void
ngx_svc_webhook_ack_wait(ngx_svc_webhook_delivery_t *d)
{
    d->ack = NGX_SVC_WEBHOOK_ACK_WAITING;
    d->changed = 0;
    ngx_queue_insert_tail(&ngx_svc_webhook_acks.outcomes, &d->outcome);
    ngx_svc_webhook_acks.nwaiting++;
}


static void
ngx_svc_webhook_ack_event(ngx_event_t *ev)
{
    ngx_svc_webhook_ack_flush();
}


void
ngx_svc_webhook_ack_flush(void)
{
    while (!ngx_queue_empty(&ngx_svc_webhook_acks.outcomes)) {
        if (ngx_svc_webhook_ack_send() != NGX_OK) {
            ngx_svc_webhook_ack_failed();
            return;
        }
    }
}


static ngx_int_t
ngx_svc_webhook_ack_send(void)
{
    ngx_str_t                     args[3 + 3 * NGX_SVC_WEBHOOK_BATCH];
    ngx_uint_t                    n;
    ngx_svc_webhook_ack_batch_t  *batch;
    ngx_svc_webhook_number_t      numbers[NGX_SVC_WEBHOOK_BATCH];
    ngx_svc_webhook_acks_t       *acks;

    acks = &ngx_svc_webhook_acks;

    batch = ngx_alloc(sizeof(ngx_svc_webhook_ack_batch_t), acks->log);
    if (batch == NULL) {
        return NGX_ERROR;
    }

    args[0] = *acks->hash;
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);
    ngx_str_set(&args[2], NGX_SVC_WEBHOOK_QUEUE);

    n = ngx_svc_webhook_ack_args(&args[3], numbers);

    if (n == 0) {
        ngx_free(batch);

        if (ngx_svc_webhook_ack_confirmed) {
            ngx_svc_webhook_ack_confirmed();
        }

        return NGX_OK;
    }

    if (ngx_svc_redis_call(&ngx_svc_webhook_ack_script, args, 3 + 3 * n, 3,
                           ngx_svc_webhook_ack_answered, batch)
        != NGX_OK)
    {
        ngx_free(batch);
        return NGX_ERROR;
    }

    ngx_svc_webhook_ack_sent(batch, n);

    return NGX_OK;
}


/*
 * Writes the arguments for the first outcomes that wait, three each; returns
 * the number of outcomes.  An outcome that cannot be signed does not wait any
 * more.
 */

static ngx_uint_t
ngx_svc_webhook_ack_args(ngx_str_t *args,
    ngx_svc_webhook_number_t *numbers)
{
    ngx_uint_t                   n;
    ngx_queue_t                 *q, *next;
    ngx_svc_webhook_acks_t      *acks;
    ngx_svc_webhook_delivery_t  *d;

    acks = &ngx_svc_webhook_acks;

    for (n = 0, q = ngx_queue_head(&acks->outcomes);
         n < NGX_SVC_WEBHOOK_BATCH && q != ngx_queue_sentinel(&acks->outcomes);
         q = next)
    {
        next = ngx_queue_next(q);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        if (ngx_svc_webhook_ack_text(d, &args[1]) != NGX_OK) {
            ngx_svc_webhook_ack_unsigned(d);
            continue;
        }

        args[0] = d->id;
        args[2].data = numbers[n++];
        args[2].len = ngx_sprintf(args[2].data, "%uL", d->ended)
                      - args[2].data;
        args += 3;
    }

    return n;
}


static ngx_int_t
ngx_svc_webhook_ack_text(ngx_svc_webhook_delivery_t *d, ngx_str_t *text)
{
    static u_char  final[] = "-";

    if (d->final && !d->requeued) {
        text->data = final;
        text->len = 1;
        return NGX_OK;
    }

    if (ngx_svc_webhook_entry_sign(d) != NGX_OK) {
        return NGX_ERROR;
    }

    text->data = d->head.data - 1;
    text->data[0] = d->requeued ? '<' : '=';
    text->len = 1 + d->head.len;

    return NGX_OK;
}


/*
 * Redis keeps what is authentic: the old entry in the in-flight set, and the
 * number of the started attempt, by which a successor counts it.
 */

static void
ngx_svc_webhook_ack_unsigned(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_acks_t  *acks;

    acks = &ngx_svc_webhook_acks;

    ngx_log_error(NGX_LOG_ALERT, acks->log, 0,
                  "an outcome of webhook delivery %V could not be signed, and "
                  "is not acknowledged to Redis", &d->id);
    ngx_svc_metric_add(NGX_SVC_M_UNSIGNED, 1);

    ngx_queue_remove(&d->outcome);
    acks->nwaiting--;
    d->ack = NGX_SVC_WEBHOOK_ACK_NONE;

    if (d->final) {
        ngx_svc_webhook_acks.release(d);
    }
}


static void
ngx_svc_webhook_ack_sent(ngx_svc_webhook_ack_batch_t *batch, ngx_uint_t n)
{
    ngx_queue_t                 *q;
    ngx_svc_webhook_acks_t      *acks;
    ngx_svc_webhook_delivery_t  *d;

    acks = &ngx_svc_webhook_acks;

    ngx_queue_init(&batch->outcomes);
    ngx_queue_insert_tail(&acks->batches, &batch->queue);
    acks->nwaiting -= n;

    while (n--) {
        q = ngx_queue_head(&acks->outcomes);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        ngx_queue_remove(q);
        ngx_queue_insert_tail(&batch->outcomes, q);
        d->ack = NGX_SVC_WEBHOOK_ACK_SENT;
    }
}


static void
ngx_svc_webhook_ack_answered(redisReply *reply, void *data)
{
    ngx_svc_webhook_ack_batch_t *batch = data;

    ngx_queue_t                 *q, *next;
    ngx_svc_webhook_delivery_t  *d;

    for (q = ngx_queue_head(&batch->outcomes);
         q != ngx_queue_sentinel(&batch->outcomes);
         q = next)
    {
        next = ngx_queue_next(q);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        if (reply == NULL || d->changed) {
            ngx_svc_webhook_ack_wait(d);

        } else if (d->final) {
            ngx_svc_webhook_acks.release(d);

        } else {
            d->ack = NGX_SVC_WEBHOOK_ACK_NONE;
        }
    }

    ngx_queue_remove(&batch->queue);
    ngx_free(batch);

    if (reply) {
        ngx_svc_webhook_ack_flush();

    } else {
        ngx_svc_webhook_ack_failed();
    }

    if (ngx_svc_webhook_ack_confirmed) {
        ngx_svc_webhook_ack_confirmed();
    }
}


ngx_uint_t
ngx_svc_webhook_ack_pending(void)
{
    ngx_svc_webhook_acks_t  *acks;

    acks = &ngx_svc_webhook_acks;

    return !ngx_queue_empty(&acks->outcomes)
           || !ngx_queue_empty(&acks->batches);
}


void
ngx_svc_webhook_ack_forget(void)
{
    ngx_queue_t                  *q;
    ngx_svc_webhook_ack_batch_t  *batch;
    ngx_svc_webhook_acks_t       *acks;

    acks = &ngx_svc_webhook_acks;

    for (q = ngx_queue_head(&acks->batches);
         q != ngx_queue_sentinel(&acks->batches);
         q = ngx_queue_next(q))
    {
        batch = ngx_queue_data(q, ngx_svc_webhook_ack_batch_t, queue);
        ngx_svc_webhook_ack_drop(&batch->outcomes);
    }

    ngx_svc_webhook_ack_drop(&acks->outcomes);
    acks->nwaiting = 0;
}


static void
ngx_svc_webhook_ack_drop(ngx_queue_t *outcomes)
{
    ngx_queue_t                 *q, *next;
    ngx_svc_webhook_delivery_t  *d;

    for (q = ngx_queue_head(outcomes);
         q != ngx_queue_sentinel(outcomes);
         q = next)
    {
        next = ngx_queue_next(q);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        d->ack = NGX_SVC_WEBHOOK_ACK_NONE;

        if (d->final) {
            ngx_svc_webhook_acks.release(d);
        }
    }

    ngx_queue_init(outcomes);
}
