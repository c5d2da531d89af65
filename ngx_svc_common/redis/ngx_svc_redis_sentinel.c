/*
 * Redis Sentinel, which tells which server is the master.
 *
 * Each process asks for itself, over a link that is open only while it asks:
 * one sentinel after the other, with the pauses of any link that breaks, until
 * one of them answers.  It asks before its other links are opened, and then
 * every few seconds, another sentinel each time.  A sentinel that has missed a
 * promotion has an older epoch, and is ignored, unless most of them have older
 * epochs: then the sentinels have been set up anew.
 */

#include "ngx_svc_redis_sentinel.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_REDIS_WATCH    5000     /* ms between questions */
#define NGX_SVC_REDIS_FINDERS  2        /* links, at most */


typedef struct {
    ngx_svc_redis_conf_t     *conf;     /* NULL: there are no sentinels */
    ngx_svc_redis_link_t      link;     /* to a sentinel, while it is asked */
    ngx_uint_t                current;  /* the index of that sentinel */
    ngx_event_t               watch;
    int64_t                   epoch;    /* the highest one of the answers */
    ngx_svc_redis_link_t     *finders[NGX_SVC_REDIS_FINDERS];
    ngx_uint_t                nfinders;
    ngx_uint_t                waiting;  /* a bit for each finder that waits */
    ngx_uint_t                silent;   /* a bit for each sentinel that has
                                           failed */
    ngx_uint_t                behind;   /* a bit for each sentinel that has an
                                           older epoch */
    ngx_svc_redis_server_t    master;   /* its texts are in the buffers below;
                                           port 0: it is not known */
    u_char                    address[NGX_INET6_ADDRSTRLEN + 1];
    u_char                    name[NGX_INET6_ADDRSTRLEN + sizeof("[]:65535")];
    unsigned                  asking:1;
} ngx_svc_redis_sentinel_t;


static void ngx_svc_redis_sentinel_ask(void);
static void ngx_svc_redis_sentinel_opened(ngx_svc_redis_link_t *link);
static void ngx_svc_redis_sentinel_state(redisAsyncContext *ac, void *reply,
    void *data);
static ngx_int_t ngx_svc_redis_sentinel_epoch(int64_t epoch);
static void ngx_svc_redis_sentinel_told(redisAsyncContext *ac, void *reply,
    void *data);
static const char *ngx_svc_redis_sentinel_check(redisReply *r,
    in_port_t *port);
static void ngx_svc_redis_sentinel_master(const char *address,
    in_port_t port);
static void ngx_svc_redis_sentinel_answer(void);
static void ngx_svc_redis_sentinel_failed(ngx_svc_redis_link_t *link,
    const char *why);
static void ngx_svc_redis_sentinel_next(void);
static void ngx_svc_redis_sentinel_watch(ngx_event_t *ev);


static ngx_svc_redis_sentinel_t  ngx_svc_redis_sentinel;


void
ngx_svc_redis_sentinel_init(ngx_cycle_t *cycle, ngx_svc_redis_conf_t *conf)
{
    ngx_svc_redis_sentinel_t  *s;

    if (conf->nsentinels == 0) {
        return;
    }

    s = &ngx_svc_redis_sentinel;

    s->conf = conf;
    s->current = ngx_random() % conf->nsentinels;
    s->epoch = -1;

    s->master.address.data = s->address;
    s->master.name.data = s->name;

    s->link.opened = ngx_svc_redis_sentinel_opened;
    s->link.closed = ngx_svc_redis_sentinel_failed;

    s->watch.handler = ngx_svc_redis_sentinel_watch;
    s->watch.data = s;
    s->watch.log = cycle->log;
    s->watch.cancelable = 1;

    ngx_add_timer(&s->watch, NGX_SVC_REDIS_WATCH);
}


void
ngx_svc_redis_sentinel_exit(void)
{
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    if (s->conf == NULL) {
        return;
    }

    if (s->watch.timer_set) {
        ngx_del_timer(&s->watch);
    }

    ngx_svc_redis_link_stop(&s->link);
    s->nfinders = 0;
}


void
ngx_svc_redis_sentinel_forked(void)
{
    ngx_svc_redis_link_t       link;
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    ngx_svc_redis_link_forked(&s->link);
    link = s->link;

    ngx_memzero(s, sizeof(ngx_svc_redis_sentinel_t));
    s->link = link;
}


void
ngx_svc_redis_sentinel_find(ngx_svc_redis_link_t *link)
{
    ngx_uint_t                 i;
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    for (i = 0; i < s->nfinders; i++) {
        if (s->finders[i] == link) {
            break;
        }
    }

    if (i == s->nfinders) {
        s->finders[s->nfinders++] = link;
    }

    s->waiting |= (ngx_uint_t) 1 << i;

    ngx_svc_redis_sentinel_ask();
}


static void
ngx_svc_redis_sentinel_ask(void)
{
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    if (s->asking) {
        return;
    }

    s->asking = 1;
    s->link.pause = 0;
    s->link.server = &s->conf->sentinels[s->current];

    ngx_svc_redis_link_start(&s->link, s->conf, s->watch.log);
}


/*
 * Two commands are sent: only the first answer has the epoch, and during a
 * failover only the second one has the new master already.
 */

static void
ngx_svc_redis_sentinel_opened(ngx_svc_redis_link_t *link)
{
    ngx_str_t  *name;

    name = &link->conf->name;

    ngx_svc_redis_link_asked(link);

    (void) redisAsyncCommand(link->redis, ngx_svc_redis_sentinel_state, NULL,
                             "SENTINEL master %b", name->data, name->len);

    (void) redisAsyncCommand(link->redis, ngx_svc_redis_sentinel_told, NULL,
                             "SENTINEL get-master-addr-by-name %b",
                             name->data, name->len);
}


/* The reply is { "name", name, "ip", ip, ... }. */

static void
ngx_svc_redis_sentinel_state(redisAsyncContext *ac, void *reply, void *data)
{
    size_t                 i;
    int64_t                epoch;
    redisReply            *r;
    ngx_svc_redis_link_t  *link;

    link = ac->data;

    r = ngx_svc_redis_link_array(ac, reply, 0);
    if (r == NULL) {
        return;
    }

    for (i = 0; i + 1 < r->elements; i += 2) {

        if (r->element[i]->str == NULL || r->element[i + 1]->str == NULL
            || ngx_strcmp(r->element[i]->str, "config-epoch") != 0)
        {
            continue;
        }

        epoch = ngx_atoi((u_char *) r->element[i + 1]->str,
                         r->element[i + 1]->len);

        if (ngx_svc_redis_sentinel_epoch(epoch) != NGX_OK) {
            ngx_svc_redis_link_break(link, "it has missed a promotion");
        }

        return;
    }
}


static ngx_int_t
ngx_svc_redis_sentinel_epoch(int64_t epoch)
{
    ngx_uint_t                 n, left;
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    if (epoch < s->epoch) {
        s->behind |= (ngx_uint_t) 1 << s->current;

        n = 0;

        for (left = s->behind; left; left &= left - 1) {
            n++;
        }

        /* when most epochs are older, an operator has reset the sentinels */

        if (2 * n <= s->conf->nsentinels) {
            return NGX_DECLINED;
        }
    }

    s->behind = 0;
    s->epoch = epoch;

    return NGX_OK;
}


static void
ngx_svc_redis_sentinel_told(redisAsyncContext *ac, void *reply, void *data)
{
    in_port_t                  port;
    redisReply                *r;
    const char                *why;
    ngx_svc_redis_link_t      *link;
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;
    link = ac->data;
    r = reply;

    if (r == NULL || link->redis == NULL) {
        return;
    }

    port = 0;
    why = ngx_svc_redis_sentinel_check(r, &port);

    if (why) {
        ngx_svc_redis_link_break(link, why);
        return;
    }

    s->asking = 0;
    s->silent &= ~((ngx_uint_t) 1 << s->current);

    ngx_svc_redis_sentinel_master(r->element[0]->str, port);

    ngx_svc_redis_link_stop(link);
    ngx_svc_redis_sentinel_answer();
}


/*
 * Returns NULL, or what is wrong with an answer.  A host name is declined,
 * since hiredis would block while it looks it up.
 */

static const char *
ngx_svc_redis_sentinel_check(redisReply *r, in_port_t *port)
{
    size_t       len;
    u_char      *text, addr[16];
    ngx_int_t    n;

    if (r->type == REDIS_REPLY_ERROR) {
        return r->str;
    }

    if (r->type == REDIS_REPLY_NIL) {
        return "it knows no master of that name";
    }

    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2
        || r->element[0]->str == NULL || r->element[1]->str == NULL)
    {
        return "its answer is not that of a sentinel";
    }

    text = (u_char *) r->element[0]->str;
    len = r->element[0]->len;

    if (len > NGX_INET6_ADDRSTRLEN
        || (ngx_inet_addr(text, len) == INADDR_NONE
            && ngx_inet6_addr(text, len, addr) != NGX_OK))
    {
        return "it names the master by a host name: set \"sentinel "
               "announce-hostnames no\"";
    }

    n = ngx_atoi((u_char *) r->element[1]->str, r->element[1]->len);

    if (n < 1 || n > 65535) {
        return "it names a port that is none";
    }

    *port = (in_port_t) n;

    return NULL;
}


static void
ngx_svc_redis_sentinel_master(const char *address, in_port_t port)
{
    u_char                    *p;
    size_t                     len;
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;
    len = ngx_strlen(address);

    if (s->master.port == port && s->master.address.len == len
        && ngx_memcmp(s->address, address, len) == 0)
    {
        return;
    }

    if (s->master.port) {
        ngx_svc_metric_add(NGX_SVC_M_REDIS_MOVES, 1);
    }

    s->master.port = port;
    s->master.address.len = len;
    ngx_memcpy(s->address, address, len + 1);

    p = ngx_sprintf(s->name, ngx_strchr(address, ':') ? "[%s]:%d" : "%s:%d",
                    address, (int) port);
    s->master.name.len = p - s->name;

    ngx_log_error(NGX_LOG_NOTICE, s->watch.log, 0, "Redis %V is at %V",
                  &s->conf->name, &s->master.name);

    /* links that wait for the master are not open */

    for (len = 0; len < s->nfinders; len++) {
        if (s->finders[len]->redis) {
            ngx_svc_redis_link_break(s->finders[len],
                                     "the sentinels name another master");
        }
    }
}


static void
ngx_svc_redis_sentinel_answer(void)
{
    ngx_uint_t                 i, waiting;
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    waiting = s->waiting;
    s->waiting = 0;

    for (i = 0; i < s->nfinders; i++) {
        if (waiting & ((ngx_uint_t) 1 << i)) {
            ngx_svc_redis_link_found(s->finders[i], &s->master);
        }
    }
}


/* The link is opened again after a pause, to the next sentinel. */

static void
ngx_svc_redis_sentinel_failed(ngx_svc_redis_link_t *link, const char *why)
{
    ngx_uint_t                 bit, level;
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    bit = (ngx_uint_t) 1 << s->current;
    level = (s->silent & bit) ? NGX_LOG_INFO : NGX_LOG_WARN;
    s->silent |= bit;

    ngx_log_error(level, link->timer.log, 0, "Redis %V: sentinel %V: %s",
                  &link->conf->name, &link->server->name, why);

    ngx_svc_redis_sentinel_next();
    link->server = &s->conf->sentinels[s->current];
}


static void
ngx_svc_redis_sentinel_next(void)
{
    ngx_svc_redis_sentinel_t  *s;

    s = &ngx_svc_redis_sentinel;

    s->current = (s->current + 1) % s->conf->nsentinels;
}


static void
ngx_svc_redis_sentinel_watch(ngx_event_t *ev)
{
    ngx_svc_redis_sentinel_t  *s;

    s = ev->data;

    if (!s->asking) {
        ngx_svc_redis_sentinel_next();
        ngx_svc_redis_sentinel_ask();
    }

    ngx_add_timer(ev, NGX_SVC_REDIS_WATCH);
}
