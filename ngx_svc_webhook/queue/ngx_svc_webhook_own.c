/*
 * Deliveries in the hands of this helper, and what Redis is told of them.
 */

#include "ngx_svc_webhook_own.h"

#include "ngx_svc_metrics.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_SAID     10         /* seconds */
#define NGX_SVC_WEBHOOK_LINES    10         /* at most, in that time */

#define NGX_SVC_WEBHOOK_SOME     16         /* outcomes to tell at once */
#define NGX_SVC_WEBHOOK_SOON     5          /* ms that fewer wait */


/* Of a delivery: its outcome so far, to Redis. */

enum {
    NGX_SVC_WEBHOOK_TOLD = 0,
    NGX_SVC_WEBHOOK_UNTOLD,             /* in own.outcomes */
    NGX_SVC_WEBHOOK_TELLING             /* in a batch */
};


/* Outcomes on their way. */

typedef struct {
    ngx_queue_t          queue;         /* of own.batches */
    ngx_queue_t          outcomes;      /* deliveries; those of a forgotten
                                           batch are gone */
} ngx_svc_webhook_tell_t;


typedef struct {
    ngx_log_t           *log;
    ngx_str_t           *hash;
    const ngx_svc_webhook_queue_handlers_t  *handlers;
    ngx_rbtree_t         tree;          /* deliveries by id */
    ngx_rbtree_node_t    sentinel;
    ngx_uint_t           n;             /* in the tree */
    ngx_queue_t          outcomes;
    ngx_uint_t           nwaiting;      /* of them */
    ngx_queue_t          batches;
    ngx_event_t          tell;          /* posted, or a timer */
    time_t               said;          /* of what is damaged, since */
    ngx_uint_t           lines;
    unsigned             refused:1;     /* by the scheduler */
} ngx_svc_webhook_own_t;


static void ngx_svc_webhook_own_damaged(redisReply *entry, ngx_int_t rc);
static ngx_int_t ngx_svc_webhook_own_id(redisReply *entry, ngx_str_t *id);
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
static void ngx_svc_webhook_own_ignored(redisReply *reply, void *data);
static void ngx_svc_webhook_own_drop(ngx_queue_t *outcomes);
static void ngx_svc_webhook_own_free(ngx_svc_webhook_delivery_t *d);


static ngx_svc_webhook_own_t  ngx_svc_webhook_own;

void  (*ngx_svc_webhook_own_told)(void);
void  (*ngx_svc_webhook_own_stuck)(void);


void
ngx_svc_webhook_own_init(ngx_log_t *log, ngx_str_t *hash,
    const ngx_svc_webhook_queue_handlers_t *handlers)
{
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    own->log = log;
    own->hash = hash;
    own->handlers = handlers;
    own->n = 0;

    ngx_rbtree_init(&own->tree, &own->sentinel, ngx_str_rbtree_insert_value);

    ngx_queue_init(&own->outcomes);
    ngx_queue_init(&own->batches);

    own->tell.handler = ngx_svc_webhook_own_tell_event;
    own->tell.data = own;
    own->tell.log = log;
}


ngx_int_t
ngx_svc_webhook_own_add(redisReply *entry, ngx_uint_t begun)
{
    uint32_t                     hash;
    ngx_int_t                    rc;
    ngx_svc_webhook_own_t       *own;
    ngx_svc_webhook_delivery_t  *d;

    own = &ngx_svc_webhook_own;

    if (entry->type != REDIS_REPLY_STRING) {
        return NGX_OK;
    }

    rc = ngx_svc_webhook_entry_read((u_char *) entry->str, entry->len,
                                    own->log, &d);
    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc != NGX_OK) {
        ngx_svc_webhook_own_damaged(entry, rc);
        return NGX_OK;
    }

    hash = ngx_crc32_short(d->id.data, d->id.len);

    if (ngx_str_rbtree_lookup(&own->tree, &d->id, hash)) {
        ngx_free(d);
        return NGX_OK;
    }

    /* Redis' word alone, which at worst ends what it could have deleted */

    d->attempts = ngx_min(ngx_max(d->attempts, begun),
                          NGX_SVC_WEBHOOK_ATTEMPTS);

    d->node.str = d->id;
    d->node.node.key = hash;
    ngx_rbtree_insert(&own->tree, &d->node.node);

    ngx_svc_gauge_set(NGX_SVC_G_PENDING, ++own->n);

    own->refused = 0;

    own->handlers->deliver(d);

    return own->refused ? NGX_ERROR : NGX_OK;
}


/* Nothing of it goes to the log: it may be anything, and any number. */

static void
ngx_svc_webhook_own_damaged(redisReply *entry, ngx_int_t rc)
{
    ngx_str_t               args[6];
    ngx_uint_t              level;
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    if (ngx_time() - own->said >= NGX_SVC_WEBHOOK_SAID) {
        own->said = ngx_time();
        own->lines = 0;
    }

    level = own->lines++ < NGX_SVC_WEBHOOK_LINES ? NGX_LOG_ERR : NGX_LOG_INFO;

    if (rc == NGX_ABORT) {
        ngx_svc_metric_add(NGX_SVC_M_DROPPED_FORGED, 1);
        ngx_log_error(level, own->log, 0, "a webhook delivery of %uz bytes in "
                      "Redis is dropped: it is not authentic, or its key is "
                      "not in \"svc_key_file\"", (size_t) entry->len);

    } else {
        ngx_svc_metric_add(NGX_SVC_M_DROPPED_DAMAGED, 1);
        ngx_log_error(level, own->log, 0, "a damaged webhook delivery of %uz "
                      "bytes in Redis is dropped", (size_t) entry->len);
    }

    if (ngx_svc_webhook_own_id(entry, &args[3]) != NGX_OK) {
        return;
    }

    args[0] = *own->hash;
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);
    ngx_str_set(&args[2], NGX_SVC_WEBHOOK_QUEUE);
    ngx_str_set(&args[4], "-");
    ngx_str_set(&args[5], "0");

    (void) ngx_svc_redis_call(&ngx_svc_webhook_tell_script, args, 6, 3,
                              ngx_svc_webhook_own_ignored, NULL);
}


/* The third word: under this name it is in the hash, if it is there at all. */

static ngx_int_t
ngx_svc_webhook_own_id(redisReply *entry, ngx_str_t *id)
{
    u_char  *p, *end;

    end = (u_char *) entry->str + entry->len;

    p = ngx_strlchr((u_char *) entry->str, end, ' ');

    if (p == NULL || end - p < 4) {
        return NGX_DECLINED;
    }

    id->data = p + 3;

    p = ngx_strlchr(id->data, end, ' ');
    if (p == NULL) {
        return NGX_DECLINED;
    }

    id->len = p - id->data;

    return NGX_OK;
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


void
ngx_svc_webhook_queue_refuse(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_own.refused = 1;
    ngx_svc_webhook_own_free(d);
}


/* Requests feel a call to Redis for each: a few go together. */

static void
ngx_svc_webhook_own_outcome(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_own_t  *own;

    d->ended = d->begun;

    if (d->telling == NGX_SVC_WEBHOOK_TELLING) {
        d->changed = 1;
        return;
    }

    if (d->telling == NGX_SVC_WEBHOOK_TOLD) {
        ngx_svc_webhook_own_wait(d);
    }

    own = &ngx_svc_webhook_own;

    if (own->nwaiting >= NGX_SVC_WEBHOOK_SOME) {
        ngx_post_event(&own->tell, &ngx_posted_events);

    } else if (!own->tell.timer_set) {
        ngx_add_timer(&own->tell, NGX_SVC_WEBHOOK_SOON);
    }
}


static void
ngx_svc_webhook_own_wait(ngx_svc_webhook_delivery_t *d)
{
    d->telling = NGX_SVC_WEBHOOK_UNTOLD;
    d->changed = 0;
    ngx_queue_insert_tail(&ngx_svc_webhook_own.outcomes, &d->outcome);
    ngx_svc_webhook_own.nwaiting++;
}


static void
ngx_svc_webhook_own_tell_event(ngx_event_t *ev)
{
    ngx_svc_webhook_own_tell();
}


void
ngx_svc_webhook_own_tell(void)
{
    while (!ngx_queue_empty(&ngx_svc_webhook_own.outcomes)) {
        if (ngx_svc_webhook_own_send() != NGX_OK) {
            ngx_svc_webhook_own_stuck();
            return;
        }
    }
}


static ngx_int_t
ngx_svc_webhook_own_send(void)
{
    ngx_str_t                  args[3 + 3 * NGX_SVC_WEBHOOK_BATCH];
    ngx_uint_t                 n;
    ngx_svc_webhook_own_t     *own;
    ngx_svc_webhook_tell_t    *batch;
    ngx_svc_webhook_number_t   numbers[NGX_SVC_WEBHOOK_BATCH];

    own = &ngx_svc_webhook_own;

    batch = ngx_alloc(sizeof(ngx_svc_webhook_tell_t), own->log);
    if (batch == NULL) {
        return NGX_ERROR;
    }

    args[0] = *own->hash;
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
    ngx_svc_webhook_own_t       *own;
    ngx_svc_webhook_delivery_t  *d;

    own = &ngx_svc_webhook_own;

    for (n = 0, q = ngx_queue_head(&own->outcomes);
         n < NGX_SVC_WEBHOOK_BATCH && q != ngx_queue_sentinel(&own->outcomes);
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
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    ngx_log_error(NGX_LOG_ALERT, own->log, 0, "an outcome of webhook delivery "
                  "%V could not be signed, and is not told to Redis", &d->id);
    ngx_svc_metric_add(NGX_SVC_M_UNSIGNED, 1);

    ngx_queue_remove(&d->outcome);
    own->nwaiting--;
    d->telling = NGX_SVC_WEBHOOK_TOLD;

    if (d->final) {
        ngx_svc_webhook_own_free(d);
    }
}


static void
ngx_svc_webhook_own_sent(ngx_svc_webhook_tell_t *batch, ngx_uint_t n)
{
    ngx_queue_t                 *q;
    ngx_svc_webhook_own_t       *own;
    ngx_svc_webhook_delivery_t  *d;

    own = &ngx_svc_webhook_own;

    ngx_queue_init(&batch->outcomes);
    ngx_queue_insert_tail(&own->batches, &batch->queue);
    own->nwaiting -= n;

    while (n--) {
        q = ngx_queue_head(&own->outcomes);
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
            ngx_svc_webhook_own_free(d);

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


static void
ngx_svc_webhook_own_ignored(redisReply *reply, void *data)
{
}


const ngx_str_t *
ngx_svc_webhook_own_hash(void)
{
    return ngx_svc_webhook_own.hash;
}


ngx_uint_t
ngx_svc_webhook_own_count(void)
{
    return ngx_svc_webhook_own.n;
}


ngx_uint_t
ngx_svc_webhook_own_untold(void)
{
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    return !ngx_queue_empty(&own->outcomes) || !ngx_queue_empty(&own->batches);
}


void
ngx_svc_webhook_own_forget(void)
{
    ngx_queue_t              *q;
    ngx_svc_webhook_own_t    *own;
    ngx_svc_webhook_tell_t   *batch;

    own = &ngx_svc_webhook_own;

    ngx_svc_webhook_own_tell();

    for (q = ngx_queue_head(&own->batches);
         q != ngx_queue_sentinel(&own->batches);
         q = ngx_queue_next(q))
    {
        batch = ngx_queue_data(q, ngx_svc_webhook_tell_t, queue);
        ngx_svc_webhook_own_drop(&batch->outcomes);
    }

    ngx_svc_webhook_own_drop(&own->outcomes);
    own->nwaiting = 0;

    ngx_rbtree_init(&own->tree, &own->sentinel, ngx_str_rbtree_insert_value);
    own->n = 0;
    ngx_svc_gauge_set(NGX_SVC_G_PENDING, 0);
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
            ngx_svc_webhook_own_free(d);
        }
    }

    ngx_queue_init(outcomes);
}


static void
ngx_svc_webhook_own_free(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    ngx_rbtree_delete(&own->tree, &d->node.node);
    ngx_svc_gauge_set(NGX_SVC_G_PENDING, --own->n);

    own->handlers->told(d);

    ngx_free(d);
}
