/*
 * What Redis is told of the deliveries in the hands of this helper.
 */

#include "ngx_svc_webhook_own.h"
#include "ngx_svc_webhook_queue.h"

#include "ngx_svc_metrics.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_SOME     16         /* outcomes to tell at once */
#define NGX_SVC_WEBHOOK_SOON     5          /* ms that fewer wait */


/* Of a delivery: its outcome so far, to Redis. */

enum {
    NGX_SVC_WEBHOOK_TOLD = 0,
    NGX_SVC_WEBHOOK_UNCONFIRMED,        /* in outcomes */
    NGX_SVC_WEBHOOK_TELLING             /* in a batch */
};


/* Outcomes on their way. */

typedef struct {
    ngx_queue_t          queue;         /* of batches */
    ngx_queue_t          outcomes;      /* deliveries; those of a forgotten
                                           batch are gone */
} ngx_svc_webhook_tell_t;


typedef struct {
    ngx_log_t           *log;
    ngx_str_t           *hash;
    ngx_queue_t          outcomes;      /* deliveries */
    ngx_uint_t           nwaiting;      /* of them */
    ngx_queue_t          batches;
    ngx_event_t          event;         /* posted, or a timer */
    void               (*release)(ngx_svc_webhook_delivery_t *d);
} ngx_svc_webhook_telling_t;


static void ngx_svc_webhook_own_outcome(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_own_wait(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_own_tell_event(ngx_event_t *ev);
static ngx_int_t ngx_svc_webhook_own_send(void);
static ngx_uint_t ngx_svc_webhook_own_outcomes(ngx_str_t *args,
    ngx_svc_webhook_number_t *numbers);
static ngx_int_t ngx_svc_webhook_own_text(ngx_svc_webhook_delivery_t *d,
    ngx_str_t *text);
static void ngx_svc_webhook_own_unsigned(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_own_sent(ngx_svc_webhook_tell_t *batch,
    ngx_uint_t n);
static void ngx_svc_webhook_own_answered(redisReply *reply, void *data);
static void ngx_svc_webhook_own_drop(ngx_queue_t *outcomes);


static ngx_svc_webhook_telling_t  ngx_svc_webhook_telling;

void  (*ngx_svc_webhook_own_told)(void);
void  (*ngx_svc_webhook_own_stuck)(void);


void
ngx_svc_webhook_own_tell_init(ngx_log_t *log, ngx_str_t *hash,
    void (*release)(ngx_svc_webhook_delivery_t *d))
{
    ngx_svc_webhook_telling_t  *tell;

    tell = &ngx_svc_webhook_telling;

    tell->log = log;
    tell->hash = hash;
    tell->release = release;

    ngx_queue_init(&tell->outcomes);
    ngx_queue_init(&tell->batches);

    tell->event.handler = ngx_svc_webhook_own_tell_event;
    tell->event.data = tell;
    tell->event.log = log;
}


void
ngx_svc_webhook_queue_done(ngx_svc_webhook_delivery_t *d)
{
    d->final = 1;
    ngx_svc_webhook_own_outcome(d);
}


void
ngx_svc_webhook_queue_retry(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_own_outcome(d);
}


void
ngx_svc_webhook_queue_return(ngx_svc_webhook_delivery_t *d)
{
    d->final = 1;
    d->returned = 1;
    ngx_svc_webhook_own_outcome(d);
}


/* Requests feel a call to Redis for each: a few go together. */

static void
ngx_svc_webhook_own_outcome(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_telling_t  *tell;

    d->ended = d->begun;

    if (d->telling == NGX_SVC_WEBHOOK_TELLING) {
        d->changed = 1;
        return;
    }

    if (d->telling == NGX_SVC_WEBHOOK_TOLD) {
        ngx_svc_webhook_own_wait(d);
    }

    tell = &ngx_svc_webhook_telling;

    if (tell->nwaiting >= NGX_SVC_WEBHOOK_SOME) {
        ngx_post_event(&tell->event, &ngx_posted_events);

    } else if (!tell->event.timer_set) {
        ngx_add_timer(&tell->event, NGX_SVC_WEBHOOK_SOON);
    }
}


static void
ngx_svc_webhook_own_wait(ngx_svc_webhook_delivery_t *d)
{
    d->telling = NGX_SVC_WEBHOOK_UNCONFIRMED;
    d->changed = 0;
    ngx_queue_insert_tail(&ngx_svc_webhook_telling.outcomes, &d->outcome);
    ngx_svc_webhook_telling.nwaiting++;
}


static void
ngx_svc_webhook_own_tell_event(ngx_event_t *ev)
{
    ngx_svc_webhook_own_tell();
}


void
ngx_svc_webhook_own_tell(void)
{
    while (!ngx_queue_empty(&ngx_svc_webhook_telling.outcomes)) {
        if (ngx_svc_webhook_own_send() != NGX_OK) {
            ngx_svc_webhook_own_stuck();
            return;
        }
    }
}


static ngx_int_t
ngx_svc_webhook_own_send(void)
{
    ngx_str_t                   args[3 + 3 * NGX_SVC_WEBHOOK_BATCH];
    ngx_uint_t                  n;
    ngx_svc_webhook_tell_t     *batch;
    ngx_svc_webhook_number_t    numbers[NGX_SVC_WEBHOOK_BATCH];
    ngx_svc_webhook_telling_t  *tell;

    tell = &ngx_svc_webhook_telling;

    batch = ngx_alloc(sizeof(ngx_svc_webhook_tell_t), tell->log);
    if (batch == NULL) {
        return NGX_ERROR;
    }

    args[0] = *tell->hash;
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);
    ngx_str_set(&args[2], NGX_SVC_WEBHOOK_QUEUE);

    n = ngx_svc_webhook_own_outcomes(&args[3], numbers);

    if (n == 0) {
        ngx_free(batch);

        if (ngx_svc_webhook_own_told) {
            ngx_svc_webhook_own_told();
        }

        return NGX_OK;
    }

    if (ngx_svc_redis_call(&ngx_svc_webhook_tell_script, args, 3 + 3 * n, 3,
                           ngx_svc_webhook_own_answered, batch)
        != NGX_OK)
    {
        ngx_free(batch);
        return NGX_ERROR;
    }

    ngx_svc_webhook_own_sent(batch, n);

    return NGX_OK;
}


/*
 * The first outcomes that wait, three arguments each; returns how many.  Those
 * that cannot be signed wait no more.
 */

static ngx_uint_t
ngx_svc_webhook_own_outcomes(ngx_str_t *args,
    ngx_svc_webhook_number_t *numbers)
{
    ngx_uint_t                   n;
    ngx_queue_t                 *q, *next;
    ngx_svc_webhook_telling_t   *tell;
    ngx_svc_webhook_delivery_t  *d;

    tell = &ngx_svc_webhook_telling;

    for (n = 0, q = ngx_queue_head(&tell->outcomes);
         n < NGX_SVC_WEBHOOK_BATCH && q != ngx_queue_sentinel(&tell->outcomes);
         q = next)
    {
        next = ngx_queue_next(q);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        if (ngx_svc_webhook_own_text(d, &args[1]) != NGX_OK) {
            ngx_svc_webhook_own_unsigned(d);
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
ngx_svc_webhook_own_text(ngx_svc_webhook_delivery_t *d, ngx_str_t *text)
{
    static u_char  final[] = "-";

    if (d->final && !d->returned) {
        text->data = final;
        text->len = 1;
        return NGX_OK;
    }

    if (ngx_svc_webhook_entry_sign(d) != NGX_OK) {
        return NGX_ERROR;
    }

    text->data = d->head.data - 1;
    text->data[0] = d->returned ? '<' : '=';
    text->len = 1 + d->head.len;

    return NGX_OK;
}


/*
 * Redis keeps what is authentic: the entry as it was, in our hash, and the
 * number of the attempt, which it counts by that.
 */

static void
ngx_svc_webhook_own_unsigned(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_telling_t  *tell;

    tell = &ngx_svc_webhook_telling;

    ngx_log_error(NGX_LOG_ALERT, tell->log, 0, "an outcome of webhook delivery "
                  "%V could not be signed, and is not told to Redis", &d->id);
    ngx_svc_metric_add(NGX_SVC_M_UNSIGNED, 1);

    ngx_queue_remove(&d->outcome);
    tell->nwaiting--;
    d->telling = NGX_SVC_WEBHOOK_TOLD;

    if (d->final) {
        ngx_svc_webhook_telling.release(d);
    }
}


static void
ngx_svc_webhook_own_sent(ngx_svc_webhook_tell_t *batch, ngx_uint_t n)
{
    ngx_queue_t                 *q;
    ngx_svc_webhook_telling_t   *tell;
    ngx_svc_webhook_delivery_t  *d;

    tell = &ngx_svc_webhook_telling;

    ngx_queue_init(&batch->outcomes);
    ngx_queue_insert_tail(&tell->batches, &batch->queue);
    tell->nwaiting -= n;

    while (n--) {
        q = ngx_queue_head(&tell->outcomes);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        ngx_queue_remove(q);
        ngx_queue_insert_tail(&batch->outcomes, q);
        d->telling = NGX_SVC_WEBHOOK_TELLING;
    }
}


static void
ngx_svc_webhook_own_answered(redisReply *reply, void *data)
{
    ngx_svc_webhook_tell_t *batch = data;

    ngx_queue_t                 *q, *next;
    ngx_svc_webhook_delivery_t  *d;

    for (q = ngx_queue_head(&batch->outcomes);
         q != ngx_queue_sentinel(&batch->outcomes);
         q = next)
    {
        next = ngx_queue_next(q);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        if (reply == NULL || d->changed) {
            ngx_svc_webhook_own_wait(d);

        } else if (d->final) {
            ngx_svc_webhook_telling.release(d);

        } else {
            d->telling = NGX_SVC_WEBHOOK_TOLD;
        }
    }

    ngx_queue_remove(&batch->queue);
    ngx_free(batch);

    if (reply) {
        ngx_svc_webhook_own_tell();

    } else {
        ngx_svc_webhook_own_stuck();
    }

    if (ngx_svc_webhook_own_told) {
        ngx_svc_webhook_own_told();
    }
}


ngx_uint_t
ngx_svc_webhook_own_unconfirmed(void)
{
    ngx_svc_webhook_telling_t  *tell;

    tell = &ngx_svc_webhook_telling;

    return !ngx_queue_empty(&tell->outcomes)
           || !ngx_queue_empty(&tell->batches);
}


void
ngx_svc_webhook_own_tell_forget(void)
{
    ngx_queue_t                *q;
    ngx_svc_webhook_tell_t     *batch;
    ngx_svc_webhook_telling_t  *tell;

    tell = &ngx_svc_webhook_telling;

    for (q = ngx_queue_head(&tell->batches);
         q != ngx_queue_sentinel(&tell->batches);
         q = ngx_queue_next(q))
    {
        batch = ngx_queue_data(q, ngx_svc_webhook_tell_t, queue);
        ngx_svc_webhook_own_drop(&batch->outcomes);
    }

    ngx_svc_webhook_own_drop(&tell->outcomes);
    tell->nwaiting = 0;
}


static void
ngx_svc_webhook_own_drop(ngx_queue_t *outcomes)
{
    ngx_queue_t                 *q, *next;
    ngx_svc_webhook_delivery_t  *d;

    for (q = ngx_queue_head(outcomes);
         q != ngx_queue_sentinel(outcomes);
         q = next)
    {
        next = ngx_queue_next(q);
        d = ngx_queue_data(q, ngx_svc_webhook_delivery_t, outcome);

        d->telling = NGX_SVC_WEBHOOK_TOLD;

        if (d->final) {
            ngx_svc_webhook_telling.release(d);
        }
    }

    ngx_queue_init(outcomes);
}
