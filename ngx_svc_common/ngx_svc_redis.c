/*
 * hiredis' asynchronous API on nginx's events.
 */

#include "ngx_svc_redis.h"
#include "ngx_svc_socket.h"

#include <hiredis/async.h>


#define NGX_SVC_REDIS_PORT   6379
#define NGX_SVC_REDIS_PAUSE  1000       /* ms between PINGs, and reconnects */


typedef struct {
    ngx_svc_redis_conf_t   *conf;
    redisAsyncContext      *redis;      /* owns the socket; NULL: not open */
    ngx_connection_t       *connection; /* borrows it */
    ngx_event_t             timer;      /* what is to happen next, or else */
    ngx_svc_redis_state_e   state;
    unsigned                asked:1;    /* a connect or a PING is under way */
    unsigned                said:1;     /* in the log that it is down */
} ngx_svc_redis_t;


static void ngx_svc_redis_connect(ngx_svc_redis_t *rd);
static ngx_int_t ngx_svc_redis_attach(ngx_svc_redis_t *rd);
static void ngx_svc_redis_event(ngx_event_t *ev);
static void ngx_svc_redis_add_read(void *data);
static void ngx_svc_redis_del_read(void *data);
static void ngx_svc_redis_add_write(void *data);
static void ngx_svc_redis_del_write(void *data);
static void ngx_svc_redis_cleanup(void *data);
static void ngx_svc_redis_connected(const redisAsyncContext *ac, int status);
static void ngx_svc_redis_disconnected(const redisAsyncContext *ac,
    int status);
static void ngx_svc_redis_ping(ngx_svc_redis_t *rd);
static void ngx_svc_redis_pong(redisAsyncContext *ac, void *reply,
    void *data);
static void ngx_svc_redis_timer(ngx_event_t *ev);
static void ngx_svc_redis_down(ngx_svc_redis_t *rd, const char *why);


static ngx_svc_redis_t  ngx_svc_redis;


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
                           "\"address:port\", not \"%V\": %s", &conf->name,
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


ngx_int_t
ngx_svc_redis_init_worker(ngx_cycle_t *cycle, ngx_svc_redis_conf_t *conf)
{
    ngx_svc_redis_t  *rd;

    rd = &ngx_svc_redis;

    if (conf->name.len == 0) {
        rd->state = NGX_SVC_REDIS_OFF;
        return NGX_OK;
    }

    rd->conf = conf;
    rd->state = NGX_SVC_REDIS_DOWN;

    rd->timer.handler = ngx_svc_redis_timer;
    rd->timer.data = rd;
    rd->timer.log = cycle->log;
    rd->timer.cancelable = 1;

    ngx_svc_redis_connect(rd);

    return NGX_OK;
}


void
ngx_svc_redis_exit_worker(void)
{
    redisAsyncContext  *ac;
    ngx_svc_redis_t    *rd;

    rd = &ngx_svc_redis;

    if (rd->timer.timer_set) {
        ngx_del_timer(&rd->timer);
    }

    ac = rd->redis;
    rd->redis = NULL;

    if (ac) {
        redisAsyncFree(ac);
    }
}


ngx_svc_redis_state_e
ngx_svc_redis_state(void)
{
    return ngx_svc_redis.state;
}


static void
ngx_svc_redis_connect(ngx_svc_redis_t *rd)
{
    redisAsyncContext  *ac;

    if (rd->conf->port) {
        ac = redisAsyncConnect((char *) rd->conf->address.data,
                               rd->conf->port);
    } else {
        ac = redisAsyncConnectUnix((char *) rd->conf->address.data);
    }

    if (ac == NULL) {
        ngx_svc_redis_down(rd, "out of memory");
        return;
    }

    if (ac->err) {
        ngx_svc_redis_down(rd, ac->errstr);
        redisAsyncFree(ac);
        return;
    }

    rd->redis = ac;
    ac->data = rd;

    if (ngx_svc_redis_attach(rd) != NGX_OK) {
        rd->redis = NULL;
        ngx_svc_redis_down(rd, "no free connections in nginx: raise "
                           "worker_connections");
        redisAsyncFree(ac);
        return;
    }

    rd->asked = 1;
    ngx_add_timer(&rd->timer, rd->conf->timeout);

    redisAsyncSetDisconnectCallback(ac, ngx_svc_redis_disconnected);
    redisAsyncSetConnectCallback(ac, ngx_svc_redis_connected);
}


static ngx_int_t
ngx_svc_redis_attach(ngx_svc_redis_t *rd)
{
    redisAsyncContext  *ac;

    ac = rd->redis;

    rd->connection = ngx_svc_socket_borrow(ac->c.fd, rd, ngx_svc_redis_event,
                                           rd->timer.log);
    if (rd->connection == NULL) {
        return NGX_ERROR;
    }

    ac->ev.data = rd;
    ac->ev.addRead = ngx_svc_redis_add_read;
    ac->ev.delRead = ngx_svc_redis_del_read;
    ac->ev.addWrite = ngx_svc_redis_add_write;
    ac->ev.delWrite = ngx_svc_redis_del_write;
    ac->ev.cleanup = ngx_svc_redis_cleanup;

    return NGX_OK;
}


static void
ngx_svc_redis_event(ngx_event_t *ev)
{
    ngx_connection_t  *c;
    ngx_svc_redis_t   *rd;

    c = ev->data;
    rd = c->data;

    if (rd->redis == NULL) {
        return;
    }

    if (ev->write) {
        redisAsyncHandleWrite(rd->redis);

    } else {
        redisAsyncHandleRead(rd->redis);
    }
}


static void
ngx_svc_redis_add_read(void *data)
{
    ngx_svc_redis_t  *rd = data;

    if (rd->connection && !rd->connection->read->active) {
        (void) ngx_add_event(rd->connection->read, NGX_READ_EVENT, 0);
    }
}


static void
ngx_svc_redis_del_read(void *data)
{
    ngx_svc_redis_t  *rd = data;

    if (rd->connection && rd->connection->read->active) {
        (void) ngx_del_event(rd->connection->read, NGX_READ_EVENT, 0);
    }
}


static void
ngx_svc_redis_add_write(void *data)
{
    ngx_svc_redis_t  *rd = data;

    if (rd->connection && !rd->connection->write->active) {
        (void) ngx_add_event(rd->connection->write, NGX_WRITE_EVENT, 0);
    }
}


static void
ngx_svc_redis_del_write(void *data)
{
    ngx_svc_redis_t  *rd = data;

    if (rd->connection && rd->connection->write->active) {
        (void) ngx_del_event(rd->connection->write, NGX_WRITE_EVENT, 0);
    }
}


/* hiredis closes the socket itself, right after this. */

static void
ngx_svc_redis_cleanup(void *data)
{
    ngx_svc_redis_t  *rd = data;

    if (rd->connection) {
        ngx_svc_socket_return(rd->connection, 0);
        rd->connection = NULL;
    }
}


/* After a failed connect hiredis frees the context, and calls nothing else. */

static void
ngx_svc_redis_connected(const redisAsyncContext *ac, int status)
{
    ngx_svc_redis_t  *rd;

    rd = ac->data;

    if (status != REDIS_OK) {
        rd->redis = NULL;
        ngx_svc_redis_down(rd, ac->errstr);
        return;
    }

    ngx_svc_redis_ping(rd);
}


static void
ngx_svc_redis_disconnected(const redisAsyncContext *ac, int status)
{
    ngx_svc_redis_t  *rd;

    rd = ac->data;

    if (rd->redis == NULL) {
        return;
    }

    rd->redis = NULL;
    ngx_svc_redis_down(rd, ac->errstr[0] ? ac->errstr : "connection closed");
}


static void
ngx_svc_redis_ping(ngx_svc_redis_t *rd)
{
    rd->asked = 1;
    ngx_add_timer(&rd->timer, rd->conf->timeout);

    /* an error means that the context is closing: its callback comes */

    (void) redisAsyncCommand(rd->redis, ngx_svc_redis_pong, NULL, "PING");
}


static void
ngx_svc_redis_pong(redisAsyncContext *ac, void *reply, void *data)
{
    redisReply       *r;
    ngx_svc_redis_t  *rd;

    rd = ac->data;
    r = reply;

    if (r == NULL || rd->redis == NULL) {
        return;
    }

    rd->asked = 0;
    ngx_add_timer(&rd->timer, NGX_SVC_REDIS_PAUSE);

    if (r->type == REDIS_REPLY_ERROR) {
        rd->state = NGX_SVC_REDIS_DOWN;

        if (!rd->said) {
            rd->said = 1;
            ngx_log_error(NGX_LOG_ERR, rd->timer.log, 0,
                          "Redis %V refuses PING: %s", &rd->conf->name,
                          r->str);
        }

        return;
    }

    rd->state = NGX_SVC_REDIS_UP;

    if (rd->said) {
        rd->said = 0;
        ngx_log_error(NGX_LOG_NOTICE, rd->timer.log, 0, "Redis is back");
    }
}


static void
ngx_svc_redis_timer(ngx_event_t *ev)
{
    ngx_svc_redis_t    *rd;
    redisAsyncContext  *ac;

    rd = ev->data;
    ac = rd->redis;

    if (ac == NULL) {
        ngx_svc_redis_connect(rd);
        return;
    }

    if (!rd->asked) {
        ngx_svc_redis_ping(rd);
        return;
    }

    rd->redis = NULL;
    ngx_svc_redis_down(rd, "timed out");
    redisAsyncFree(ac);
}


static void
ngx_svc_redis_down(ngx_svc_redis_t *rd, const char *why)
{
    ngx_uint_t  level;

    level = rd->said ? NGX_LOG_INFO : NGX_LOG_ERR;

    ngx_log_error(level, rd->timer.log, 0, "Redis %V is down: %s",
                  &rd->conf->name, why);

    rd->said = 1;
    rd->asked = 0;
    rd->state = NGX_SVC_REDIS_DOWN;

    ngx_add_timer(&rd->timer, NGX_SVC_REDIS_PAUSE);
}
