/*
 * Messages between the workers of all nodes.
 *
 * A link that listens cannot be checked by PING: this worker itself sends a
 * message over the other link once a second, its beat, which must arrive here.
 * The link is opened when the first channel is subscribed to.
 */

#include "ngx_svc_redis_pubsub.h"
#include "ngx_svc_redis_link.h"
#include "ngx_svc_crypto.h"


#define NGX_SVC_REDIS_PENDING  64       /* messages that wait to be sent */
#define NGX_SVC_REDIS_DELAY    3        /* ms, in which equal messages are sent
                                           once */
#define NGX_SVC_REDIS_BEAT     (sizeof("svc.beat.") - 1 + 32)


typedef struct {
    const char                *name;        /* NULL: this place is free */
    ngx_svc_redis_message_pt   handler;     /* NULL: it is only published to */
    unsigned                   heard:1;     /* Redis has confirmed the
                                               subscription */
} ngx_svc_redis_channel_t;


typedef struct {
    ngx_svc_redis_channel_t   *channel;
    size_t                     len;
    u_char                     payload[NGX_SVC_REDIS_PAYLOAD];
} ngx_svc_redis_pending_t;


typedef struct {
    ngx_svc_redis_link_t      *commands;    /* NULL: no Redis */
    ngx_svc_redis_conf_t      *conf;
    ngx_log_t                 *log;
    ngx_svc_redis_link_t       link;        /* the one that listens */
    ngx_svc_redis_channel_t    channels[NGX_SVC_REDIS_CHANNELS];
    ngx_svc_redis_pending_t    pending[NGX_SVC_REDIS_PENDING];
    ngx_uint_t                 npending;
    ngx_event_t                flush;
    char                       beat[NGX_SVC_REDIS_BEAT + 1];
    unsigned                   listening:1; /* the link has been started */
    unsigned                   lost:1;      /* messages were sent, and not
                                               answered */
} ngx_svc_redis_pubsub_t;


static void ngx_svc_redis_start_listening(void);
static ngx_svc_redis_channel_t *ngx_svc_redis_channel(const char *name);
static void ngx_svc_redis_listen(ngx_svc_redis_link_t *link);
static void ngx_svc_redis_subscribe_to(const char *name);
static void ngx_svc_redis_heard(redisAsyncContext *ac, void *reply,
    void *data);
static void ngx_svc_redis_message(redisReply **element);
static void ngx_svc_redis_wait(ngx_svc_redis_link_t *link);
static void ngx_svc_redis_unsubscribed(ngx_svc_redis_link_t *link,
    const char *why);
static void ngx_svc_redis_pend(ngx_svc_redis_channel_t *channel, u_char *data,
    size_t len);
static void ngx_svc_redis_pend_all(ngx_svc_redis_channel_t *channel);
static void ngx_svc_redis_flush(ngx_event_t *ev);
static void ngx_svc_redis_published(redisAsyncContext *ac, void *reply,
    void *data);


static ngx_svc_redis_pubsub_t  ngx_svc_redis_pubsub;


ngx_int_t
ngx_svc_redis_pubsub_init(ngx_cycle_t *cycle, ngx_svc_redis_conf_t *conf,
    ngx_svc_redis_link_t *commands)
{
    u_char                  *p, random[16];
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    if (ngx_svc_random(random, sizeof(random)) != NGX_OK) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(ps->beat, "svc.beat.", sizeof("svc.beat.") - 1);
    p = ngx_hex_dump(p, random, sizeof(random));
    *p = '\0';

    ps->commands = commands;
    ps->conf = conf;
    ps->log = cycle->log;

    ps->link.opened = ngx_svc_redis_listen;
    ps->link.tick = ngx_svc_redis_wait;
    ps->link.closed = ngx_svc_redis_unsubscribed;

    /* the timer is not cancelable: a worker that quits still sends messages */

    ps->flush.handler = ngx_svc_redis_flush;
    ps->flush.data = ps;
    ps->flush.log = cycle->log;

    /* a module whose init process came before ours has subscribed already */

    if (ps->channels[0].handler) {
        ngx_svc_redis_start_listening();
    }

    return NGX_OK;
}


void
ngx_svc_redis_pubsub_exit(void)
{
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    if (ps->flush.timer_set) {
        ngx_del_timer(&ps->flush);
    }

    if (ps->listening) {
        ngx_svc_redis_link_stop(&ps->link);
    }
}


void
ngx_svc_redis_pubsub_forked(void)
{
    ngx_svc_redis_link_t     link;
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    ngx_svc_redis_link_forked(&ps->link);
    link = ps->link;

    ngx_memzero(ps, sizeof(ngx_svc_redis_pubsub_t));
    ps->link = link;
}


ngx_int_t
ngx_svc_redis_subscribe(const char *name, ngx_svc_redis_message_pt handler)
{
    ngx_svc_redis_pubsub_t   *ps;
    ngx_svc_redis_channel_t  *channel;

    ps = &ngx_svc_redis_pubsub;

    channel = ngx_svc_redis_channel(name);
    if (channel == NULL) {
        return NGX_ERROR;
    }

    channel->handler = handler;

    if (ps->commands && !ps->listening) {
        ngx_svc_redis_start_listening();

    } else if (ps->link.redis && !channel->heard) {
        ngx_svc_redis_subscribe_to(name);
    }

    return NGX_OK;
}


static void
ngx_svc_redis_start_listening(void)
{
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    ps->listening = 1;

    ps->link.find = ps->commands->find;
    ps->link.server = &ps->conf->server;

    ngx_svc_redis_link_start(&ps->link, ps->conf, ps->log);
}


/*
 * No UNSUBSCRIBE is sent: hiredis would take its answer for that of a SUBSCRIBE
 * that follows.
 */

void
ngx_svc_redis_unsubscribe(const char *name)
{
    ngx_svc_redis_channel_t  *channel;

    channel = ngx_svc_redis_channel(name);

    if (channel) {
        channel->handler = NULL;
    }
}


ngx_uint_t
ngx_svc_redis_subscribed(void)
{
    ngx_uint_t               i;
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    if (ps->commands == NULL || ps->commands->state != NGX_SVC_REDIS_UP
        || ps->link.state != NGX_SVC_REDIS_UP)
    {
        return 0;
    }

    for (i = 0; i < NGX_SVC_REDIS_CHANNELS; i++) {
        if (ps->channels[i].handler && !ps->channels[i].heard) {
            return 0;
        }
    }

    return 1;
}


/* Returns the channel with that name, or a free place for it, or NULL. */

static ngx_svc_redis_channel_t *
ngx_svc_redis_channel(const char *name)
{
    ngx_uint_t                i;
    ngx_svc_redis_channel_t  *channel;

    for (i = 0; i < NGX_SVC_REDIS_CHANNELS; i++) {
        channel = &ngx_svc_redis_pubsub.channels[i];

        if (channel->name == NULL) {
            channel->name = name;
            return channel;
        }

        if (ngx_strcmp(channel->name, name) == 0) {
            return channel;
        }
    }

    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                  "more than %d Redis channels", NGX_SVC_REDIS_CHANNELS);

    return NULL;
}


/* Called when the link is open; the timeout runs until the first beat. */

static void
ngx_svc_redis_listen(ngx_svc_redis_link_t *link)
{
    ngx_uint_t               i;
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    ngx_svc_redis_wait(link);
    ngx_svc_redis_subscribe_to(ps->beat);

    for (i = 0; i < NGX_SVC_REDIS_CHANNELS; i++) {
        if (ps->channels[i].handler) {
            ngx_svc_redis_subscribe_to(ps->channels[i].name);
        }
    }
}


static void
ngx_svc_redis_subscribe_to(const char *name)
{
    (void) redisAsyncCommand(ngx_svc_redis_pubsub.link.redis,
                             ngx_svc_redis_heard, NULL, "SUBSCRIBE %s", name);
}


/*
 * The reply is { "subscribe", channel, n } or { "message", channel, payload }.
 */

static void
ngx_svc_redis_heard(redisAsyncContext *ac, void *reply, void *data)
{
    redisReply  *r;

    r = ngx_svc_redis_link_array(ac, reply, 2);

    if (r && r->elements == 3) {
        ngx_svc_redis_message(r->element);
    }
}


static void
ngx_svc_redis_message(redisReply **element)
{
    ngx_str_t                 payload;
    ngx_svc_redis_pubsub_t   *ps;
    ngx_svc_redis_channel_t  *channel;

    ps = &ngx_svc_redis_pubsub;

    payload.data = (u_char *) element[2]->str;
    payload.len = payload.data ? element[2]->len : 0;

    if (ngx_strcmp(element[1]->str, ps->beat) == 0) {

        if (payload.data) {
            ps->link.state = NGX_SVC_REDIS_UP;
            ps->link.answered = 1;
            ngx_svc_redis_wait(&ps->link);

        } else if (ps->commands->state == NGX_SVC_REDIS_UP) {
            ngx_svc_redis_pubsub_beat();
        }

        return;
    }

    channel = ngx_svc_redis_channel(element[1]->str);

    if (channel == NULL) {
        return;
    }

    if (payload.data == NULL) {
        channel->heard = 1;
    }

    if (channel->handler) {
        channel->handler(&payload);
    }
}


/* A beat comes each second, and may be late by the timeout. */

static void
ngx_svc_redis_wait(ngx_svc_redis_link_t *link)
{
    link->asked = 1;
    ngx_add_timer(&link->timer, link->conf->timeout + 1500);
}


static void
ngx_svc_redis_unsubscribed(ngx_svc_redis_link_t *link, const char *why)
{
    ngx_uint_t               i, level;
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    for (i = 0; i < NGX_SVC_REDIS_CHANNELS; i++) {
        ps->channels[i].heard = 0;
    }

    /* when Redis is down the other link has logged it */

    level = (ps->commands->state == NGX_SVC_REDIS_UP) ? NGX_LOG_WARN
                                                      : NGX_LOG_INFO;

    ngx_log_error(level, ps->log, 0, "Redis %V: no messages: %s",
                  &link->conf->name, why);
}


void
ngx_svc_redis_pubsub_beat(void)
{
    ngx_uint_t               i;
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    if (ps->lost) {
        ps->lost = 0;

        for (i = 0; i < NGX_SVC_REDIS_CHANNELS; i++) {
            if (ps->channels[i].name) {
                ngx_svc_redis_pend_all(&ps->channels[i]);
            }
        }
    }

    if (ps->npending && !ps->flush.timer_set) {
        ngx_add_timer(&ps->flush, NGX_SVC_REDIS_DELAY);
    }

    if (ps->listening) {
        (void) redisAsyncCommand(ps->commands->redis, NULL, NULL,
                                 "PUBLISH %s 1", ps->beat);
    }
}


void
ngx_svc_redis_publish(const char *name, ngx_str_t *payload)
{
    ngx_uint_t                i;
    ngx_svc_redis_pubsub_t   *ps;
    ngx_svc_redis_channel_t  *channel;
    ngx_svc_redis_pending_t  *p;

    ps = &ngx_svc_redis_pubsub;

    channel = ps->commands ? ngx_svc_redis_channel(name) : NULL;
    if (channel == NULL) {
        return;
    }

    for (i = 0; i < ps->npending; i++) {
        p = &ps->pending[i];

        if (p->channel == channel
            && ((p->len == payload->len
                 && ngx_memcmp(p->payload, payload->data, p->len) == 0)
                || (p->len == 1 && p->payload[0] == '*')))
        {
            return;
        }
    }

    if (ps->npending == NGX_SVC_REDIS_PENDING
        || payload->len > NGX_SVC_REDIS_PAYLOAD)
    {
        ngx_svc_redis_pend_all(channel);

    } else {
        ngx_svc_redis_pend(channel, payload->data, payload->len);
    }

    if (ps->commands->state == NGX_SVC_REDIS_UP && !ps->flush.timer_set) {
        ngx_add_timer(&ps->flush, NGX_SVC_REDIS_DELAY);
    }
}


static void
ngx_svc_redis_pend(ngx_svc_redis_channel_t *channel, u_char *data, size_t len)
{
    ngx_svc_redis_pubsub_t   *ps;
    ngx_svc_redis_pending_t  *p;

    ps = &ngx_svc_redis_pubsub;

    p = &ps->pending[ps->npending++];

    p->channel = channel;
    p->len = len;
    ngx_memcpy(p->payload, data, len);
}


/*
 * Puts one message "*" in place of all of a channel's.  When there is no place
 * for it, does so for all channels.
 */

static void
ngx_svc_redis_pend_all(ngx_svc_redis_channel_t *channel)
{
    ngx_uint_t               i, n;
    ngx_svc_redis_pubsub_t  *ps;

    ps = &ngx_svc_redis_pubsub;

    for (i = 0, n = 0; i < ps->npending; i++) {
        if (ps->pending[i].channel != channel) {
            ps->pending[n++] = ps->pending[i];
        }
    }

    ps->npending = n;

    if (n == NGX_SVC_REDIS_PENDING) {
        ps->npending = 0;

        for (i = 0; i < NGX_SVC_REDIS_CHANNELS; i++) {
            if (ps->channels[i].name && &ps->channels[i] != channel) {
                ngx_svc_redis_pend(&ps->channels[i], (u_char *) "*", 1);
            }
        }
    }

    ngx_svc_redis_pend(channel, (u_char *) "*", 1);
}


static void
ngx_svc_redis_flush(ngx_event_t *ev)
{
    ngx_uint_t                i;
    ngx_svc_redis_pubsub_t   *ps;
    ngx_svc_redis_pending_t  *p;

    ps = &ngx_svc_redis_pubsub;

    if (ps->commands->state != NGX_SVC_REDIS_UP) {
        return;
    }

    for (i = 0; i < ps->npending; i++) {
        p = &ps->pending[i];

        (void) redisAsyncCommand(ps->commands->redis, ngx_svc_redis_published,
                                 NULL, "PUBLISH %s %b", p->channel->name,
                                 p->payload, p->len);
    }

    ps->npending = 0;
}


/* Messages that were not answered when the connection broke may be lost. */

static void
ngx_svc_redis_published(redisAsyncContext *ac, void *reply, void *data)
{
    if (reply == NULL) {
        ngx_svc_redis_pubsub.lost = 1;
    }
}
