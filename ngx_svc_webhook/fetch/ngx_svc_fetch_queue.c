/*
 * Fetches in Redis, for the helper.
 */

#include "ngx_svc_fetch_queue.h"
#include "ngx_svc_webhook.h"

#include "ngx_svc_redis_pubsub.h"


#define NGX_SVC_FETCH_PERIOD    1000    /* ms between beats */
#define NGX_SVC_FETCH_REGISTER  50      /* ms, while Redis knows of none */
#define NGX_SVC_FETCH_TTL       "5000"  /* ms without a beat: dead */
#define NGX_SVC_FETCH_BATCH     128     /* entries taken by a call */


typedef struct {
    ngx_event_t      timer;
    ngx_str_t        name;
    ngx_uint_t       max;               /* entries asked for by the last call */
    const ngx_svc_fetch_queue_handlers_t  *handlers;
    unsigned         registered:1;      /* Redis has taken the last beat */
    unsigned         taking:1;          /* a call is under way */
    unsigned         again:1;
    unsigned         beat:1;            /* the next call is a beat */
    unsigned         stopped:1;
    u_char           text[NGX_SVC_ID_DIGITS];
} ngx_svc_fetch_queue_t;


static void ngx_svc_fetch_queue_timer(ngx_event_t *ev);
static void ngx_svc_fetch_queue_wake(ngx_str_t *payload);
static void ngx_svc_fetch_queue_taken(redisReply *reply, void *data);


/*
 * When Redis is full, it refuses commands that may need memory, unless the
 * script has written by a command that needs none: both begin with one.
 */

/*
 * Keys: helpers, queue, ids under way.  Arguments: helper, its lifetime in ms,
 * number of entries at most, capacity, "1" for a beat.  Returns for each entry
 * that somebody still waits for the ms that are left, and the entry.
 */

static ngx_svc_redis_script_t  ngx_svc_fetch_take_script = {
    .name = "take fetch",
    .text =
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now)\n"
    "redis.call('ZREMRANGEBYSCORE', KEYS[3], 0, now)\n"
    "redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])\n"
    "if ARGV[5] == '1'\n"
    "   and redis.call('ZCARD', KEYS[3]) < tonumber(ARGV[4])\n"
    "then\n"
    "    redis.call('PUBLISH', '" NGX_SVC_FETCH_DONE "',"
                          " '" NGX_SVC_FETCH_BEAT "')\n"
    "end\n"
    "local got = {}\n"
    "while #got < 2 * ARGV[3] do\n"
    "    local entry = redis.call('LPOP', KEYS[2])\n"
    "    if not entry then\n"
    "        break\n"
    "    end\n"
    "    local due = redis.call('ZSCORE', KEYS[3], string.sub(entry, 1, 32))\n"
    "    if due then\n"
    "        got[#got + 1] = due - now\n"
    "        got[#got + 1] = entry\n"
    "    end\n"
    "end\n"
    "return got\n"
};


/*
 * Keys: ids under way, those of the tenant, the answer's.  Arguments: id,
 * answer.
 */

static ngx_svc_redis_script_t  ngx_svc_fetch_leave_script = {
    .name = "answer fetch",
    .text =
    "redis.call('ZREM', KEYS[1], ARGV[1])\n"
    "redis.call('ZREM', KEYS[2], ARGV[1])\n"
    "redis.call('SET', KEYS[3], ARGV[2], 'PX', 15000)\n"
    "redis.call('PUBLISH', '" NGX_SVC_FETCH_DONE "', ARGV[1])\n"
    "return 1\n"
};


static ngx_svc_fetch_queue_t  ngx_svc_fetch_queue;


ngx_int_t
ngx_svc_fetch_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_svc_fetch_queue_handlers_t *handlers)
{
    ngx_svc_fetch_queue_t  *queue;

    queue = &ngx_svc_fetch_queue;

    queue->handlers = handlers;
    queue->name.data = queue->text;
    queue->name.len = NGX_SVC_ID_DIGITS;
    ngx_memcpy(queue->text, id, NGX_SVC_ID_DIGITS);

    queue->timer.handler = ngx_svc_fetch_queue_timer;
    queue->timer.data = cycle;
    queue->timer.log = cycle->log;
    ngx_add_timer(&queue->timer, 1);

    return ngx_svc_redis_subscribe(NGX_SVC_FETCH_WAKE,
                                   ngx_svc_fetch_queue_wake);
}


static void
ngx_svc_fetch_queue_timer(ngx_event_t *ev)
{
    ngx_svc_fetch_queue_t  *queue;

    queue = &ngx_svc_fetch_queue;

    queue->beat = 1;
    ngx_svc_fetch_queue_take();

    ngx_add_timer(ev, queue->registered ? NGX_SVC_FETCH_PERIOD
                                        : NGX_SVC_FETCH_REGISTER);
}


static void
ngx_svc_fetch_queue_wake(ngx_str_t *payload)
{
    ngx_svc_fetch_queue_take();
}


void
ngx_svc_fetch_queue_stop(void)
{
    ngx_svc_fetch_queue.stopped = 1;

    if (ngx_svc_fetch_queue.timer.timer_set) {
        ngx_del_timer(&ngx_svc_fetch_queue.timer);
    }
}


void
ngx_svc_fetch_queue_take(void)
{
    u_char                  max[NGX_INT64_LEN];
    ngx_str_t               args[8];
    ngx_svc_fetch_queue_t  *queue;

    queue = &ngx_svc_fetch_queue;

    if (queue->stopped) {
        return;
    }

    if (queue->taking) {
        queue->again = 1;
        return;
    }

    queue->max = ngx_min(queue->handlers->room(), NGX_SVC_FETCH_BATCH);

    ngx_str_set(&args[0], NGX_SVC_FETCH_HELPERS);
    ngx_str_set(&args[1], NGX_SVC_FETCH_QUEUE);
    ngx_str_set(&args[2], NGX_SVC_FETCH_PENDING);
    args[3] = queue->name;
    ngx_str_set(&args[4], NGX_SVC_FETCH_TTL);
    args[5].data = max;
    args[5].len = ngx_sprintf(max, "%ui", queue->max) - max;
    ngx_str_set(&args[6], NGX_SVC_FETCH_CAPACITY);
    ngx_str_set(&args[7], "0");

    if (queue->beat) {
        ngx_str_set(&args[7], "1");
    }

    if (ngx_svc_redis_call(&ngx_svc_fetch_take_script, args, 8, 3,
                           ngx_svc_fetch_queue_taken, NULL)
        == NGX_OK)
    {
        queue->taking = 1;
        queue->again = 0;
        queue->beat = 0;

    } else {
        queue->registered = 0;
    }
}


/* Entries whose answer was lost are asked by nobody. */

static void
ngx_svc_fetch_queue_taken(redisReply *reply, void *data)
{
    size_t                  i;
    ngx_str_t               entry;
    redisReply             *element;
    ngx_svc_fetch_queue_t  *queue;

    queue = &ngx_svc_fetch_queue;

    queue->taking = 0;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        queue->registered = 0;

        if (!queue->stopped) {
            ngx_add_timer(&queue->timer, NGX_SVC_FETCH_REGISTER);
        }

        return;
    }

    queue->registered = 1;

    for (i = 0; i + 1 < reply->elements; i += 2) {
        element = reply->element[i + 1];

        entry.data = (u_char *) element->str;
        entry.len = element->len;

        queue->handlers->take(&entry, (ngx_msec_t) reply->element[i]->integer);
    }

    if (queue->again
        || (queue->max && reply->elements >= 2 * queue->max))
    {
        ngx_svc_fetch_queue_take();
    }
}


ngx_int_t
ngx_svc_fetch_queue_leave(const ngx_svc_fetch_t *fetch,
    const ngx_str_t *answer, ngx_svc_redis_reply_pt handler, void *data)
{
    u_char     tenant[NGX_SVC_FETCH_KEY];
    u_char     key[sizeof(NGX_SVC_FETCH_ANSWERS) + NGX_SVC_ENTRY_ID];
    ngx_str_t  args[5];

    ngx_str_set(&args[0], NGX_SVC_FETCH_PENDING);
    args[1].data = tenant;
    args[1].len = ngx_sprintf(tenant, NGX_SVC_FETCH_PENDING ".%V",
                              &fetch->tenant)
                  - tenant;
    args[2].data = key;
    args[2].len = ngx_sprintf(key, NGX_SVC_FETCH_ANSWERS "%*s",
                              (size_t) NGX_SVC_ENTRY_ID, fetch->id)
                  - key;
    args[3].data = (u_char *) fetch->id;
    args[3].len = NGX_SVC_ENTRY_ID;
    args[4] = *answer;

    return ngx_svc_redis_call(&ngx_svc_fetch_leave_script, args, 5, 3, handler,
                              data);
}
