/*
 * Shares PostgreSQL's timelines with other nodes: the highest one of each
 * cluster is in the hash "svc.timeline.<system identifier>".  An operator may
 * write a higher generation there, which replaces what was known.
 */

#include "ngx_svc_redis_fence.h"
#include "ngx_svc_pg_fence.h"
#include "ngx_svc_pg_watch.h"
#include "ngx_svc_redis_link.h"
#include "ngx_svc_redis_script.h"


#define NGX_SVC_REDIS_FENCE_SOON  20    /* ms, while connections wait */


static void ngx_svc_redis_fence_timer(ngx_event_t *ev);
static ngx_uint_t ngx_svc_redis_fence_sought(void);
static ngx_uint_t ngx_svc_redis_fence_share(void);
static ngx_int_t ngx_svc_redis_fence_call(ngx_svc_pg_fence_t *fence);
static void ngx_svc_redis_fence_answered(redisReply *reply, void *data);
static void ngx_svc_redis_fence_alone(void);


static ngx_svc_redis_script_t  ngx_svc_redis_fence_script = {
    .name = "timelines of PostgreSQL",
    .text =
        "local known = redis.call('HMGET', KEYS[1], 'generation', 'timeline')\n"
        "local generation = tonumber(known[1] or 1)\n"
        "local timeline = tonumber(known[2] or 0)\n"
        "local g, t = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
        "if g > generation or g == generation and t > timeline then\n"
        "    generation, timeline = g, t\n"
        "    redis.call('HSET', KEYS[1], 'generation', ARGV[1],\n"
        "               'timeline', ARGV[2])\n"
        "end\n"
        "return { generation, timeline, ARGV[3] }\n"
};


static ngx_event_t  ngx_svc_redis_fence_event;
static ngx_uint_t   ngx_svc_redis_fence_calls;      /* not answered */
static ngx_msec_t   ngx_svc_redis_fence_begun;
static ngx_uint_t   ngx_svc_redis_fence_waits;      /* new connections may have
                                                       to wait for Redis */


void
ngx_svc_redis_fence_init(ngx_cycle_t *cycle)
{
    ngx_memzero(&ngx_svc_redis_fence_event, sizeof(ngx_event_t));
    ngx_svc_redis_fence_calls = 0;
    ngx_svc_redis_fence_begun = ngx_current_msec;
    ngx_svc_redis_fence_waits = 1;

    ngx_svc_pg_fence_asks(ngx_svc_redis_state() != NGX_SVC_REDIS_OFF);

    if (ngx_svc_redis_state() == NGX_SVC_REDIS_OFF) {
        return;
    }

    ngx_svc_redis_fence_event.handler = ngx_svc_redis_fence_timer;
    ngx_svc_redis_fence_event.log = cycle->log;
    ngx_svc_redis_fence_event.cancelable = 1;

    ngx_add_timer(&ngx_svc_redis_fence_event, NGX_SVC_REDIS_FENCE_SOON);
}


void
ngx_svc_redis_fence_exit(void)
{
    if (ngx_svc_redis_fence_event.timer_set) {
        ngx_del_timer(&ngx_svc_redis_fence_event);
    }
}


static void
ngx_svc_redis_fence_timer(ngx_event_t *ev)
{
    ngx_uint_t  soon;

    soon = 0;

    if (ngx_svc_redis_ready()) {
        soon = ngx_exiting ? 0 : ngx_svc_redis_fence_share();

    } else if (ngx_svc_redis_fence_sought()) {
        soon = 1;

    } else {
        ngx_svc_redis_fence_alone();
    }

    ngx_add_timer(ev, soon ? NGX_SVC_REDIS_FENCE_SOON
                           : NGX_SVC_PG_FENCE_PERIOD);
}


/*
 * Returns 1 while the process, which has just started, asks sentinels where
 * Redis is.
 */

static ngx_uint_t
ngx_svc_redis_fence_sought(void)
{
    ngx_svc_redis_link_t  *link;

    link = ngx_svc_redis_commands();

    return ngx_svc_redis_fence_waits && link->find
           && ngx_current_msec - ngx_svc_redis_fence_begun
              < link->conf->timeout;
}


/*
 * Returns 1 when the timelines that other nodes know are still missing for some
 * cluster, and connections wait for them.
 */

static ngx_uint_t
ngx_svc_redis_fence_share(void)
{
    ngx_uint_t          i, due, soon;
    ngx_svc_pg_fence_t  fence;

    if (ngx_svc_redis_fence_calls) {
        return 1;
    }

    soon = 0;
    due = ngx_svc_pg_fence_due(NGX_SVC_PG_DUE_SHARE, NGX_SVC_PG_FENCE_PERIOD);

    for (i = 0; ngx_svc_pg_fence_get(i, &fence) == NGX_OK; i++) {

        if (!fence.shared) {
            soon = 1;
        }

        if ((due || !fence.shared)
            && ngx_svc_redis_fence_call(&fence) == NGX_OK)
        {
            ngx_svc_redis_fence_calls++;
        }
    }

    return ngx_svc_redis_fence_waits && (soon || i == 0);
}


static ngx_int_t
ngx_svc_redis_fence_call(ngx_svc_pg_fence_t *fence)
{
    u_char     key[sizeof("svc.timeline.") + NGX_INT64_LEN],
               generation[NGX_INT64_LEN], timeline[NGX_INT64_LEN],
               system[NGX_INT64_LEN];
    ngx_str_t  args[4];

    args[0].data = key;
    args[0].len = ngx_sprintf(key, "svc.timeline.%uL", fence->system) - key;
    args[1].data = generation;
    args[1].len = ngx_sprintf(generation, "%uD", fence->generation)
                  - generation;
    args[2].data = timeline;
    args[2].len = ngx_sprintf(timeline, "%uD", fence->timeline) - timeline;
    args[3].data = system;
    args[3].len = ngx_sprintf(system, "%uL", fence->system) - system;

    return ngx_svc_redis_call(&ngx_svc_redis_fence_script, args, 4, 1,
                              ngx_svc_redis_fence_answered, NULL);
}


static void
ngx_svc_redis_fence_answered(redisReply *reply, void *data)
{
    ngx_svc_pg_fence_t  fence;

    ngx_svc_redis_fence_calls--;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY
        || reply->elements != 3
        || reply->element[0]->type != REDIS_REPLY_INTEGER
        || reply->element[1]->type != REDIS_REPLY_INTEGER
        || reply->element[2]->type != REDIS_REPLY_STRING)
    {
        ngx_svc_redis_fence_alone();
        return;
    }

    ngx_memzero(&fence, sizeof(ngx_svc_pg_fence_t));

    fence.generation = (uint32_t) reply->element[0]->integer;
    fence.timeline = (uint32_t) reply->element[1]->integer;
    fence.system = strtoull(reply->element[2]->str, NULL, 10);

    ngx_svc_pg_fence_merge(&fence);
    ngx_svc_pg_watch();
}


/* Connections do not wait for other nodes when these cannot be asked. */

static void
ngx_svc_redis_fence_alone(void)
{
    ngx_svc_redis_fence_waits = 0;
    ngx_svc_pg_fence_asks(0);
    ngx_svc_pg_watch();
}
