/*
 * Redis in a worker: one connection for commands, which a PING watches, and
 * one that listens (see ngx_svc_redis_pubsub.c).
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_redis_link.h"
#include "ngx_svc_redis_pubsub.h"


#define NGX_SVC_REDIS_PORT   6379


static ngx_int_t ngx_svc_redis_name(ngx_conf_t *cf,
    ngx_svc_redis_conf_t *conf);
static void ngx_svc_redis_ping(ngx_svc_redis_link_t *link);
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


char *
ngx_svc_redis_address(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf)
{
    u_char           *p;
    ngx_url_t         url;
    struct sockaddr  *sa;

    ngx_memzero(&url, sizeof(ngx_url_t));

    url.url = conf->name;
    url.default_port = NGX_SVC_REDIS_PORT;

    if (ngx_parse_url(cf->pool, &url) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_redis\" takes \"unix:/path\" or "
                           "\"address[:port]\", not \"%V\": %s", &conf->name,
                           url.err ? url.err : "invalid");
        return NGX_CONF_ERROR;
    }

    sa = url.addrs[0].sockaddr;

    p = ngx_pnalloc(cf->pool, NGX_SOCKADDR_STRLEN + 1);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    conf->address.data = p;

#if (NGX_HAVE_UNIX_DOMAIN)

    if (sa->sa_family == AF_UNIX) {
        conf->port = 0;
        conf->address.len = ngx_sprintf(p, "%s%Z",
                                ((struct sockaddr_un *) sa)->sun_path)
                            - p - 1;
        return NGX_CONF_OK;
    }

#endif

    conf->port = ngx_inet_get_port(sa);

    if (url.no_port && ngx_svc_redis_name(cf, conf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    conf->address.len = ngx_sock_ntop(sa, url.addrs[0].socklen, p,
                                      NGX_SOCKADDR_STRLEN, 0);
    p[conf->address.len] = '\0';

    if (sa->sa_family == AF_INET6) {

        /* hiredis wants it without brackets */

        conf->address.data++;
        conf->address.len -= 2;
        conf->address.data[conf->address.len] = '\0';
    }

    return NGX_CONF_OK;
}


/* The log is to say which port it is. */

static ngx_int_t
ngx_svc_redis_name(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf)
{
    u_char  *p;
    size_t   len;

    len = conf->name.len + sizeof(":65535") - 1;

    p = ngx_pnalloc(cf->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    conf->name.len = ngx_snprintf(p, len, "%V:%d", &conf->name,
                                  NGX_SVC_REDIS_PORT)
                     - p;
    conf->name.data = p;

    return NGX_OK;
}


ngx_int_t
ngx_svc_redis_init_worker(ngx_cycle_t *cycle, ngx_svc_redis_conf_t *conf)
{
    if (conf->name.len == 0) {
        ngx_svc_redis.state = NGX_SVC_REDIS_OFF;
        return NGX_OK;
    }

    ngx_svc_redis_link_start(&ngx_svc_redis, conf, cycle->log);
    ngx_svc_redis_gauge();

    return ngx_svc_redis_pubsub_init(cycle, conf, &ngx_svc_redis);
}


void
ngx_svc_redis_exit_worker(void)
{
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


static void
ngx_svc_redis_ping(ngx_svc_redis_link_t *link)
{
    ngx_svc_redis_link_asked(link);

    /* an error means that the context is closing: its callback comes */

    (void) redisAsyncCommand(link->redis, ngx_svc_redis_pong, NULL, "PING");
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
