/*
 * In a worker: queues fetches in Redis, and waits for their answers.
 *
 * Redis' replies and messages know a fetch by its number only: it may have
 * been cancelled, and its memory be another's, when they come.
 */

#include "ngx_svc_fetch_entry.h"
#include "ngx_svc_conf.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_redis_pubsub.h"
#include "ngx_svc_redis_script.h"


#define NGX_SVC_FETCH_SHARE     "250"   /* a tenant's, of the capacity */
#define NGX_SVC_FETCH_SILENT    5000    /* ms without a beat: there is no
                                           helper */
#define NGX_SVC_FETCH_SERIAL    4       /* bytes, at an id's end */


typedef struct {
    ngx_queue_t      waiting;           /* ngx_svc_fetch_t */
    ngx_msec_t       beat;              /* when a helper was last heard of */
    uint32_t         serial;            /* the last fetch's */
    unsigned         on:1;
    unsigned         missed:1;          /* Redis was not there when answers were
                                           to be collected */
} ngx_svc_fetches_t;


static ngx_int_t ngx_svc_fetch_begin(ngx_svc_fetch_t *fetch);
static ngx_int_t ngx_svc_fetch_id(ngx_svc_fetch_t *fetch);
static ngx_int_t ngx_svc_fetch_queue(ngx_svc_fetch_t *fetch,
    const ngx_str_t *entry);
static void ngx_svc_fetch_queued(redisReply *reply, void *data);
static void ngx_svc_fetch_heard(ngx_str_t *payload);
static void ngx_svc_fetch_collect(ngx_svc_fetch_t *fetch);
static void ngx_svc_fetch_collected(redisReply *reply, void *data);
static ngx_svc_fetch_t *ngx_svc_fetch_find(uint32_t serial);
static void ngx_svc_fetch_late(ngx_event_t *ev);
static void ngx_svc_fetch_end(ngx_svc_fetch_t *fetch,
    ngx_svc_fetch_outcome_e outcome, const char *why);
static void ngx_svc_fetch_result(ngx_svc_fetch_t *fetch,
    ngx_svc_fetch_outcome_e outcome, const char *why);


/*
 * Keys: queue, ids under way, those of the tenant, helpers.  Arguments: entry,
 * id, ms, capacity, the tenant's share.  Returns 0: it is queued; 1: the queue
 * is full; 2: the tenant's share is; 3: no helper lives.  What nobody takes
 * goes by itself.
 */

static ngx_svc_redis_script_t  ngx_svc_fetch_queue_script = {
    .name = "queue fetch",
    .errors = 1,
    .text =
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "for i = 2, 4 do\n"
    "    redis.call('ZREMRANGEBYSCORE', KEYS[i], 0, now)\n"
    "end\n"
    "if redis.call('ZCARD', KEYS[4]) == 0 then\n"
    "    return 3\n"
    "end\n"
    "if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then\n"
    "    return 1\n"
    "end\n"
    "if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[5]) then\n"
    "    return 2\n"
    "end\n"
    "redis.call('RPUSH', KEYS[1], ARGV[1])\n"
    "redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[2])\n"
    "redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[2])\n"
    "for i = 1, 3 do\n"
    "    redis.call('PEXPIRE', KEYS[i], 15000)\n"
    "end\n"
    "redis.call('PUBLISH', '" NGX_SVC_FETCH_WAKE "', '1')\n"
    "return 0\n"
};


static ngx_svc_redis_script_t  ngx_svc_fetch_collect_script = {
    .name = "collect fetch",
    .text = "return redis.call('GETDEL', KEYS[1])"
};


static ngx_svc_fetches_t    ngx_svc_fetches;
static ngx_svc_log_limit_t  ngx_svc_fetch_drops;


ngx_int_t
ngx_svc_fetch_init(void)
{
    ngx_queue_init(&ngx_svc_fetches.waiting);

    ngx_svc_fetches.on = 1;
    ngx_svc_fetches.beat = ngx_current_msec;

    return ngx_svc_redis_subscribe(NGX_SVC_FETCH_DONE, ngx_svc_fetch_heard);
}


ngx_uint_t
ngx_svc_fetch_ready(void)
{
    return ngx_svc_fetches.on && ngx_svc_redis_ready()
           && ngx_current_msec - ngx_svc_fetches.beat <= NGX_SVC_FETCH_SILENT;
}


ngx_int_t
ngx_svc_fetch(ngx_svc_fetch_t *fetch)
{
    ngx_svc_fetch_result(fetch, NGX_SVC_FETCH_UNAVAILABLE,
                         "no helper process is heard of, or no Redis");

    if (!ngx_svc_fetch_ready() || ngx_svc_fetch_begin(fetch) != NGX_OK) {
        fetch->serial = 0;
        ngx_svc_metric_add(NGX_SVC_M_FETCH_ANSWERED + fetch->outcome, 1);
        return NGX_DECLINED;
    }

    fetch->timer.handler = ngx_svc_fetch_late;
    fetch->timer.data = fetch;
    fetch->timer.log = ngx_cycle->log;

    ngx_add_timer(&fetch->timer, fetch->timeout + NGX_SVC_FETCH_GRACE);
    ngx_queue_insert_tail(&ngx_svc_fetches.waiting, &fetch->queue);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_fetch_begin(ngx_svc_fetch_t *fetch)
{
    ngx_int_t             rc;
    ngx_str_t             entry;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    rc = ngx_svc_fetch_id(fetch);

    if (rc == NGX_OK) {
        rc = ngx_svc_fetch_entry(&smcf->keys, fetch, &entry);
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_fetch_result(fetch, NGX_SVC_FETCH_FAILED,
                             "the request is too long, or is none of HTTP");
    }

    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_fetch_queue(fetch, &entry);

    ngx_free(entry.data);

    return rc;
}


/* An id ends with the fetch's number in this worker. */

static ngx_int_t
ngx_svc_fetch_id(ngx_svc_fetch_t *fetch)
{
    u_char    bytes[NGX_SVC_ENTRY_ID / 2];
    uint32_t  serial;

    if (++ngx_svc_fetches.serial == 0) {
        ngx_svc_fetches.serial = 1;
    }

    fetch->serial = ngx_svc_fetches.serial;
    serial = htonl(fetch->serial);

    if (ngx_svc_random(bytes, sizeof(bytes) - NGX_SVC_FETCH_SERIAL) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_memcpy(bytes + sizeof(bytes) - NGX_SVC_FETCH_SERIAL, &serial,
               NGX_SVC_FETCH_SERIAL);
    (void) ngx_hex_dump(fetch->id, bytes, sizeof(bytes));

    return NGX_OK;
}


static ngx_int_t
ngx_svc_fetch_queue(ngx_svc_fetch_t *fetch, const ngx_str_t *entry)
{
    u_char     key[NGX_SVC_FETCH_KEY], timeout[NGX_INT64_LEN];
    ngx_str_t  args[9];

    ngx_str_set(&args[0], NGX_SVC_FETCH_QUEUE);
    ngx_str_set(&args[1], NGX_SVC_FETCH_PENDING);
    args[2].data = key;
    args[2].len = ngx_sprintf(key, NGX_SVC_FETCH_PENDING ".%V", &fetch->tenant)
                  - key;
    ngx_str_set(&args[3], NGX_SVC_FETCH_HELPERS);
    args[4] = *entry;
    args[5].data = fetch->id;
    args[5].len = NGX_SVC_ENTRY_ID;
    args[6].data = timeout;
    args[6].len = ngx_sprintf(timeout, "%M", fetch->timeout) - timeout;
    ngx_str_set(&args[7], NGX_SVC_FETCH_CAPACITY);
    ngx_str_set(&args[8], NGX_SVC_FETCH_SHARE);

    return ngx_svc_redis_call(&ngx_svc_fetch_queue_script, args, 9, 4,
                              ngx_svc_fetch_queued,
                              (void *) (uintptr_t) fetch->serial);
}


/* Whether it was queued is not known when Redis breaks off. */

static void
ngx_svc_fetch_queued(redisReply *reply, void *data)
{
    const char       *why;
    ngx_uint_t        level;
    ngx_svc_fetch_t  *fetch;

    static const char *const  full[] = {
        NULL,
        "the queue of fetches is full, of " NGX_SVC_FETCH_CAPACITY,
        "the tenant's share of fetches is full, of " NGX_SVC_FETCH_SHARE,
        "no helper process lives"
    };

    fetch = ngx_svc_fetch_find((uint32_t) (uintptr_t) data);

    if (fetch == NULL) {
        return;
    }

    why = "Redis does not take it";

    if (reply && reply->type == REDIS_REPLY_INTEGER
        && reply->integer >= 0 && reply->integer <= 3)
    {
        why = full[reply->integer];
    }

    if (why) {
        level = ngx_svc_log_limit_level(&ngx_svc_fetch_drops, 1,
                                        NGX_SVC_FETCH_INTERVAL, NGX_LOG_ERR);

        ngx_log_error(level, ngx_cycle->log, 0,
                      "a fetch of tenant %V is not made: %s", &fetch->tenant,
                      why);

        ngx_svc_fetch_end(fetch, NGX_SVC_FETCH_UNAVAILABLE, why);
    }
}


/*
 * Messages may have been missed when the subscription begins again.  It may do
 * so before there is a connection that asks for answers: the next beat comes
 * within a second.
 */

static void
ngx_svc_fetch_heard(ngx_str_t *payload)
{
    uint32_t          serial;
    ngx_queue_t      *q;
    ngx_svc_fetch_t  *fetch;

    if (payload->len == NGX_SVC_ENTRY_ID) {
        if (ngx_svc_hex(payload->data + NGX_SVC_ENTRY_ID
                        - 2 * NGX_SVC_FETCH_SERIAL, NGX_SVC_FETCH_SERIAL,
                        (u_char *) &serial)
            != NGX_OK)
        {
            return;
        }

        fetch = ngx_svc_fetch_find(ntohl(serial));

        if (fetch && ngx_memcmp(fetch->id, payload->data, NGX_SVC_ENTRY_ID)
                     == 0)
        {
            ngx_svc_fetch_collect(fetch);
        }

        return;
    }

    if (payload->len == 1 && payload->data[0] == NGX_SVC_FETCH_BEAT[0]) {
        ngx_svc_fetches.beat = ngx_current_msec;

        if (!ngx_svc_fetches.missed) {
            return;
        }
    }

    ngx_svc_fetches.missed = 0;

    for (q = ngx_queue_head(&ngx_svc_fetches.waiting);
         q != &ngx_svc_fetches.waiting;
         q = ngx_queue_next(q))
    {
        ngx_svc_fetch_collect(ngx_queue_data(q, ngx_svc_fetch_t, queue));
    }
}


static void
ngx_svc_fetch_collect(ngx_svc_fetch_t *fetch)
{
    u_char     key[sizeof(NGX_SVC_FETCH_ANSWERS) + NGX_SVC_ENTRY_ID], *p;
    ngx_str_t  name;

    p = ngx_cpymem(key, NGX_SVC_FETCH_ANSWERS,
                   sizeof(NGX_SVC_FETCH_ANSWERS) - 1);
    p = ngx_cpymem(p, fetch->id, NGX_SVC_ENTRY_ID);

    name.data = key;
    name.len = p - key;

    if (ngx_svc_redis_call(&ngx_svc_fetch_collect_script, &name, 1, 1,
                           ngx_svc_fetch_collected,
                           (void *) (uintptr_t) fetch->serial)
        != NGX_OK)
    {
        ngx_svc_fetches.missed = 1;
    }
}


static void
ngx_svc_fetch_collected(redisReply *reply, void *data)
{
    ngx_int_t             rc;
    ngx_str_t             entry;
    ngx_svc_fetch_t      *fetch;
    ngx_svc_main_conf_t  *smcf;

    if (reply == NULL) {
        ngx_svc_fetches.missed = 1;
        return;
    }

    fetch = ngx_svc_fetch_find((uint32_t) (uintptr_t) data);

    if (fetch == NULL || reply->type != REDIS_REPLY_STRING) {
        return;
    }

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    entry.data = (u_char *) reply->str;
    entry.len = reply->len;

    rc = ngx_svc_fetch_open_answer(&smcf->keys, &entry, fetch);

    if (rc == NGX_OK) {
        ngx_svc_fetch_end(fetch, fetch->outcome, NULL);
        return;
    }

    if (rc != NGX_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "the answer to a fetch of tenant %V is not authentic, or "
                      "its key is not in \"svc_key_file\"", &fetch->tenant);
    }

    ngx_svc_fetch_end(fetch, NGX_SVC_FETCH_UNAVAILABLE,
                      "the answer cannot be opened");
}


static ngx_svc_fetch_t *
ngx_svc_fetch_find(uint32_t serial)
{
    ngx_queue_t      *q;
    ngx_svc_fetch_t  *fetch;

    for (q = ngx_queue_head(&ngx_svc_fetches.waiting);
         q != &ngx_svc_fetches.waiting;
         q = ngx_queue_next(q))
    {
        fetch = ngx_queue_data(q, ngx_svc_fetch_t, queue);

        if (fetch->serial == serial) {
            return fetch;
        }
    }

    return NULL;
}


static void
ngx_svc_fetch_late(ngx_event_t *ev)
{
    ngx_svc_fetch_end(ev->data, NGX_SVC_FETCH_LATE,
                      "there was no answer in time");
}


/* Ends a fetch; why: NULL if its result is set. */

static void
ngx_svc_fetch_end(ngx_svc_fetch_t *fetch, ngx_svc_fetch_outcome_e outcome,
    const char *why)
{
    ngx_svc_fetch_cancel(fetch);

    if (why) {
        ngx_svc_fetch_result(fetch, outcome, why);
    }

    ngx_svc_metric_add(NGX_SVC_M_FETCH_ANSWERED + fetch->outcome, 1);

    fetch->handler(fetch);
}


static void
ngx_svc_fetch_result(ngx_svc_fetch_t *fetch, ngx_svc_fetch_outcome_e outcome,
    const char *why)
{
    fetch->outcome = outcome;
    fetch->status = 0;
    fetch->max_age = -1;
    fetch->why.data = (u_char *) why;
    fetch->why.len = ngx_strlen(why);

    ngx_str_null(&fetch->type);
    ngx_str_null(&fetch->etag);
    ngx_str_null(&fetch->answer);
}


void
ngx_svc_fetch_cancel(ngx_svc_fetch_t *fetch)
{
    if (fetch->serial == 0) {
        return;
    }

    fetch->serial = 0;

    ngx_queue_remove(&fetch->queue);

    if (fetch->timer.timer_set) {
        ngx_del_timer(&fetch->timer);
    }
}
