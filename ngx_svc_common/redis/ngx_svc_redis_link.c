/*
 * A connection to Redis: hiredis's asynchronous API on nginx's events.
 */

#include "ngx_svc_redis_link.h"
#include "ngx_svc_socket.h"


#define NGX_SVC_REDIS_PAUSE  1000       /* ms between ticks, and at most
                                           between reconnects */
#define NGX_SVC_REDIS_FIRST  50         /* ms, before the second reconnect */
#define NGX_SVC_REDIS_STEADY 1000       /* ms that a link must have lived to
                                           be opened again at once */


static void ngx_svc_redis_connect(ngx_svc_redis_link_t *link);
static void ngx_svc_redis_open(ngx_svc_redis_link_t *link);
static ngx_int_t ngx_svc_redis_attach(ngx_svc_redis_link_t *link);
static void ngx_svc_redis_event(ngx_event_t *ev);
static void ngx_svc_redis_add_read(void *data);
static void ngx_svc_redis_del_read(void *data);
static void ngx_svc_redis_add_write(void *data);
static void ngx_svc_redis_del_write(void *data);
static void ngx_svc_redis_cleanup(void *data);
static void ngx_svc_redis_connected(const redisAsyncContext *ac, int status);
static void ngx_svc_redis_disconnected(const redisAsyncContext *ac,
    int status);
static void ngx_svc_redis_timer(ngx_event_t *ev);
static void ngx_svc_redis_down(ngx_svc_redis_link_t *link, const char *why);
static ngx_msec_t ngx_svc_redis_pause(ngx_svc_redis_link_t *link);


void
ngx_svc_redis_link_start(ngx_svc_redis_link_t *link,
    ngx_svc_redis_conf_t *conf, ngx_log_t *log)
{
    link->conf = conf;
    link->state = NGX_SVC_REDIS_DOWN;

    link->timer.handler = ngx_svc_redis_timer;
    link->timer.data = link;
    link->timer.log = log;
    link->timer.cancelable = 1;

    ngx_svc_redis_connect(link);
}


void
ngx_svc_redis_link_stop(ngx_svc_redis_link_t *link)
{
    redisAsyncContext  *ac;

    if (link->timer.timer_set) {
        ngx_del_timer(&link->timer);
    }

    ac = link->redis;
    link->redis = NULL;

    if (ac) {
        redisAsyncFree(ac);
    }
}


redisReply *
ngx_svc_redis_link_array(redisAsyncContext *ac, void *reply, size_t n)
{
    size_t                 i;
    redisReply            *r;
    ngx_svc_redis_link_t  *link;

    link = ac->data;
    r = reply;

    if (r == NULL || link->redis == NULL || r->type != REDIS_REPLY_ARRAY
        || r->elements < n)
    {
        return NULL;
    }

    for (i = 0; i < n; i++) {
        if (r->element[i]->str == NULL) {
            return NULL;
        }
    }

    return r;
}


void
ngx_svc_redis_link_forked(ngx_svc_redis_link_t *link)
{
    link->inherited = link->redis;
    link->redis = NULL;
    link->connection = NULL;
    link->state = NGX_SVC_REDIS_OFF;
    link->asked = 0;
    link->opening = 0;
    link->said = 0;
    link->pause = 0;
    link->answered = 0;

    ngx_memzero(&link->timer, sizeof(ngx_event_t));
}


void
ngx_svc_redis_link_asked(ngx_svc_redis_link_t *link)
{
    link->asked = 1;
    ngx_add_timer(&link->timer, link->conf->timeout);
}


void
ngx_svc_redis_link_answered(ngx_svc_redis_link_t *link)
{
    link->asked = 0;
    link->opening = 0;
    link->answered = 1;
    ngx_add_timer(&link->timer, NGX_SVC_REDIS_PAUSE);
}


static void
ngx_svc_redis_connect(ngx_svc_redis_link_t *link)
{
    if (link->find) {
        link->find(link);

    } else {
        ngx_svc_redis_open(link);
    }
}


void
ngx_svc_redis_link_found(ngx_svc_redis_link_t *link,
    ngx_svc_redis_server_t *server)
{
    link->server = server;
    ngx_svc_redis_open(link);
}


static void
ngx_svc_redis_open(ngx_svc_redis_link_t *link)
{
    redisAsyncContext       *ac;
    ngx_svc_redis_server_t  *server;

    server = link->server;

    if (server->port) {
        ac = redisAsyncConnect((char *) server->address.data, server->port);

    } else {
        ac = redisAsyncConnectUnix((char *) server->address.data);
    }

    if (ac == NULL) {
        ngx_svc_redis_down(link, "out of memory");
        return;
    }

    if (ac->err) {
        ngx_svc_redis_down(link, ac->errstr);
        redisAsyncFree(ac);
        return;
    }

    link->redis = ac;
    ac->data = link;

    if (ngx_svc_redis_attach(link) != NGX_OK) {
        link->redis = NULL;
        ngx_svc_redis_down(link, "no free connections in nginx: raise "
                           "worker_connections");
        redisAsyncFree(ac);
        return;
    }

    link->opening = 1;
    link->since = ngx_current_msec;
    ngx_svc_redis_link_asked(link);

    redisAsyncSetDisconnectCallback(ac, ngx_svc_redis_disconnected);
    redisAsyncSetConnectCallback(ac, ngx_svc_redis_connected);
}


static ngx_int_t
ngx_svc_redis_attach(ngx_svc_redis_link_t *link)
{
    redisAsyncContext  *ac;

    ac = link->redis;

    link->connection = ngx_svc_socket_borrow(ac->c.fd, link,
                                             ngx_svc_redis_event,
                                             link->timer.log);
    if (link->connection == NULL) {
        return NGX_ERROR;
    }

    ac->ev.data = link;
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
    ngx_connection_t      *c;
    ngx_svc_redis_link_t  *link;

    c = ev->data;
    link = c->data;

    if (link->redis == NULL) {
        return;
    }

    if (ev->write) {
        redisAsyncHandleWrite(link->redis);

    } else {
        redisAsyncHandleRead(link->redis);
    }
}


static void
ngx_svc_redis_add_read(void *data)
{
    ngx_svc_redis_link_t  *link = data;

    if (link->connection && !link->connection->read->active) {
        (void) ngx_add_event(link->connection->read, NGX_READ_EVENT, 0);
    }
}


static void
ngx_svc_redis_del_read(void *data)
{
    ngx_svc_redis_link_t  *link = data;

    if (link->connection && link->connection->read->active) {
        (void) ngx_del_event(link->connection->read, NGX_READ_EVENT, 0);
    }
}


static void
ngx_svc_redis_add_write(void *data)
{
    ngx_svc_redis_link_t  *link = data;

    if (link->connection && !link->connection->write->active) {
        (void) ngx_add_event(link->connection->write, NGX_WRITE_EVENT, 0);
    }
}


static void
ngx_svc_redis_del_write(void *data)
{
    ngx_svc_redis_link_t  *link = data;

    if (link->connection && link->connection->write->active) {
        (void) ngx_del_event(link->connection->write, NGX_WRITE_EVENT, 0);
    }
}


/* hiredis closes the socket itself, right after this call. */

static void
ngx_svc_redis_cleanup(void *data)
{
    ngx_svc_redis_link_t  *link = data;

    if (link->connection) {
        ngx_svc_socket_return(link->connection, 0);
        link->connection = NULL;
    }
}


/*
 * After a failed connect hiredis frees the context, and calls no other
 * function.
 */

static void
ngx_svc_redis_connected(const redisAsyncContext *ac, int status)
{
    ngx_svc_redis_link_t  *link;

    link = ac->data;

    if (status != REDIS_OK) {
        link->redis = NULL;
        ngx_svc_redis_down(link, ac->errstr);
        return;
    }

    link->opened(link);
}


static void
ngx_svc_redis_disconnected(const redisAsyncContext *ac, int status)
{
    ngx_svc_redis_link_t  *link;

    link = ac->data;

    if (link->redis == NULL) {
        return;
    }

    link->redis = NULL;
    ngx_svc_redis_down(link, ac->errstr[0] ? ac->errstr : "connection closed");
}


static void
ngx_svc_redis_timer(ngx_event_t *ev)
{
    ngx_svc_redis_link_t  *link;

    link = ev->data;

    if (link->redis == NULL) {
        ngx_svc_redis_connect(link);
        return;
    }

    if (!link->asked) {
        link->tick(link);
        return;
    }

    ngx_svc_redis_link_break(link, "timed out");
}


void
ngx_svc_redis_link_break(ngx_svc_redis_link_t *link, const char *why)
{
    redisAsyncContext  *ac;

    ac = link->redis;

    link->redis = NULL;
    ngx_svc_redis_down(link, why);
    redisAsyncFree(ac);
}


static void
ngx_svc_redis_down(ngx_svc_redis_link_t *link, const char *why)
{
    ngx_msec_t  pause;

    pause = ngx_svc_redis_pause(link);

    link->asked = 0;
    link->opening = 0;
    link->answered = 0;
    link->state = NGX_SVC_REDIS_DOWN;

    link->closed(link, why);

    ngx_add_timer(&link->timer, pause);
}


/*
 * A link that has lived long enough is opened again at once.  While that fails
 * the pauses grow, and are random, so that the workers of all nodes do not
 * reconnect together.
 */

static ngx_msec_t
ngx_svc_redis_pause(ngx_svc_redis_link_t *link)
{
    ngx_msec_t  pause;

    if (link->answered
        && ngx_current_msec - link->since >= NGX_SVC_REDIS_STEADY)
    {
        link->pause = NGX_SVC_REDIS_FIRST;
        return 1;
    }

    pause = ngx_max(link->pause, NGX_SVC_REDIS_FIRST);
    link->pause = ngx_min(2 * pause, NGX_SVC_REDIS_PAUSE);

    return pause - ngx_random() % (pause / 2);
}
