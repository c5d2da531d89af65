/*
 * Redis in a worker: one connection for commands, which is checked by PING, and
 * one that listens (see ngx_svc_redis_pubsub.c).
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_redis_link.h"
#include "ngx_svc_redis_pubsub.h"
#include "ngx_svc_redis_sentinel.h"


static void ngx_svc_redis_ping(ngx_svc_redis_link_t *link);
static void ngx_svc_redis_role(redisAsyncContext *ac, void *reply,
    void *data);
static void ngx_svc_redis_pong(redisAsyncContext *ac, void *reply,
    void *data);
static void ngx_svc_redis_closed(ngx_svc_redis_link_t *link, const char *why);
static void ngx_svc_redis_gauge(void);


static ngx_svc_redis_up_pt  ngx_svc_redis_up;

static ngx_svc_redis_link_t  ngx_svc_redis = {
    .opened = ngx_svc_redis_ping,
    .tick = ngx_svc_redis_ping,
    .closed = ngx_svc_redis_closed
};


ngx_int_t
ngx_svc_redis_init_worker(ngx_cycle_t *cycle, ngx_svc_redis_conf_t *conf)
{
    if (conf->name.len == 0) {
        ngx_svc_redis.state = NGX_SVC_REDIS_OFF;
        return NGX_OK;
    }

    ngx_svc_redis_sentinel_init(cycle, conf);

    ngx_svc_redis.find = conf->nsentinels ? ngx_svc_redis_sentinel_find : NULL;
    ngx_svc_redis.server = &conf->server;

    ngx_svc_redis_link_start(&ngx_svc_redis, conf, cycle->log);
    ngx_svc_redis_gauge();

    return ngx_svc_redis_pubsub_init(cycle, conf, &ngx_svc_redis);
}


void
ngx_svc_redis_exit_worker(void)
{
    ngx_svc_redis_sentinel_exit();
    ngx_svc_redis_pubsub_exit();
    ngx_svc_redis_link_stop(&ngx_svc_redis);
}


void
ngx_svc_redis_on_up(ngx_svc_redis_up_pt handler)
{
    ngx_svc_redis_up = handler;
}


void
ngx_svc_redis_forked(void)
{
    ngx_svc_redis_up = NULL;
    ngx_svc_redis_link_forked(&ngx_svc_redis);
    ngx_svc_redis_pubsub_forked();
    ngx_svc_redis_sentinel_forked();
}


ngx_svc_redis_link_t *
ngx_svc_redis_commands(void)
{
    return &ngx_svc_redis;
}


ngx_svc_redis_state_e
ngx_svc_redis_state(void)
{
    return ngx_svc_redis.state;
}


ngx_uint_t
ngx_svc_redis_ready(void)
{
    return ngx_svc_redis.state == NGX_SVC_REDIS_UP || ngx_svc_redis.opening;
}


void
ngx_svc_redis_doubt(void)
{
    if (ngx_svc_redis.redis && !ngx_svc_redis.asked) {
        ngx_svc_redis_ping(&ngx_svc_redis);
    }
}


static void
ngx_svc_redis_ping(ngx_svc_redis_link_t *link)
{
    ngx_svc_redis_link_asked(link);

    /* an error means that the context is closing, and will call back */

    (void) redisAsyncCommand(link->redis, ngx_svc_redis_role, NULL, "ROLE");
    (void) redisAsyncCommand(link->redis, ngx_svc_redis_pong, NULL, "PING");
}


/*
 * The reply is { "master", ... }, { "slave", ... } or { "sentinel", ... }.  A
 * Redis that does not tell, since our user may not ask, is taken for a master.
 */

static void
ngx_svc_redis_role(redisAsyncContext *ac, void *reply, void *data)
{
    redisReply            *r;
    ngx_svc_redis_link_t  *link;

    link = ac->data;

    r = ngx_svc_redis_link_array(ac, reply, 1);
    if (r == NULL) {
        return;
    }

    if (ngx_strcmp(r->element[0]->str, "slave") == 0) {
        ngx_svc_redis_link_break(link, "READONLY, it is a replica");

    } else if (ngx_strcmp(r->element[0]->str, "sentinel") == 0) {
        ngx_svc_redis_link_break(link, "it is a sentinel: \"svc_redis "
                                 "sentinel=name address ...\"");
    }
}


static void
ngx_svc_redis_pong(redisAsyncContext *ac, void *reply, void *data)
{
    redisReply            *r;
    ngx_uint_t             up;
    ngx_svc_redis_link_t  *link;

    link = ac->data;
    r = reply;

    if (r == NULL || link->redis == NULL) {
        return;
    }

    up = (link->state == NGX_SVC_REDIS_UP);

    ngx_svc_redis_link_answered(link);

    if (r->type == REDIS_REPLY_ERROR) {
        link->state = NGX_SVC_REDIS_DOWN;
        ngx_svc_redis_gauge();

        if (!link->said) {
            link->said = 1;
            ngx_log_error(NGX_LOG_ERR, link->timer.log, 0,
                          "Redis %V refuses PING: %s", &link->conf->name,
                          r->str);
        }

        return;
    }

    link->state = NGX_SVC_REDIS_UP;
    ngx_svc_redis_gauge();

    if (link->said) {
        link->said = 0;
        ngx_log_error(NGX_LOG_NOTICE, link->timer.log, 0, "Redis is back");
    }

    ngx_svc_redis_pubsub_beat();

    if (!up && ngx_svc_redis_up) {
        ngx_svc_redis_up();
    }
}


static void
ngx_svc_redis_closed(ngx_svc_redis_link_t *link, const char *why)
{
    ngx_uint_t  level;

    ngx_svc_redis_gauge();

    level = link->said ? NGX_LOG_INFO : NGX_LOG_ERR;
    link->said = 1;

    ngx_log_error(level, link->timer.log, 0, "Redis %V is down: %s",
                  &link->conf->name, why);
}


static void
ngx_svc_redis_gauge(void)
{
    ngx_uint_t  up;

    up = (ngx_svc_redis.state == NGX_SVC_REDIS_UP);

    ngx_svc_gauge_set(NGX_SVC_G_REDIS_UP, up);
    ngx_svc_gauge_set(NGX_SVC_G_REDIS_DOWN, !up);
}
