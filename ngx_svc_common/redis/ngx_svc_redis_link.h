/*
 * One connection to Redis: hiredis' asynchronous API on nginx's events.
 */

#ifndef _NGX_SVC_REDIS_LINK_H_INCLUDED_
#define _NGX_SVC_REDIS_LINK_H_INCLUDED_


#include "ngx_svc_redis.h"

#include <hiredis/async.h>


struct ngx_svc_redis_link_s {
    ngx_svc_redis_conf_t   *conf;
    ngx_svc_redis_server_t *server;     /* NULL: not yet found */
    redisAsyncContext      *redis;      /* owns the socket; NULL: not open */
    redisAsyncContext      *inherited;  /* of the parent, in a child */
    ngx_connection_t       *connection; /* borrows it */
    ngx_event_t             timer;      /* what is to happen next, or else */
    ngx_svc_redis_state_e   state;
    ngx_msec_t              since;      /* when it was begun to be opened */
    ngx_msec_t              pause;      /* before it is opened again */
    unsigned                answered:1; /* it was, at least once */
    unsigned                asked:1;    /* an answer is owed until the timer */
    unsigned                opening:1;  /* the first one */
    unsigned                said:1;     /* in the log that it is down */

    /*
     * NULL; or finds out where the server is, each time before the link is
     * opened, and calls ngx_svc_redis_link_found(), not from within this call
     */
    void                  (*find)(ngx_svc_redis_link_t *link);

    /* a connection is there; the pause is over, nothing is owed; it broke */
    void                  (*opened)(ngx_svc_redis_link_t *link);
    void                  (*tick)(ngx_svc_redis_link_t *link);
    void                  (*closed)(ngx_svc_redis_link_t *link,
                                    const char *why);
};


/*
 * The functions of the link are set, and its server unless they find it; opens
 * it, now and whenever it breaks.
 */
void ngx_svc_redis_link_start(ngx_svc_redis_link_t *link,
    ngx_svc_redis_conf_t *conf, ngx_log_t *log);
void ngx_svc_redis_link_stop(ngx_svc_redis_link_t *link);

/* The server, which lives until another one is found, is there. */
void ngx_svc_redis_link_found(ngx_svc_redis_link_t *link,
    ngx_svc_redis_server_t *server);

/* Closes an open link, to open it again; why: as for its function. */
void ngx_svc_redis_link_break(ngx_svc_redis_link_t *link, const char *why);

/* Something was asked: unless it is answered the link breaks. */
void ngx_svc_redis_link_asked(ngx_svc_redis_link_t *link);
void ngx_svc_redis_link_answered(ngx_svc_redis_link_t *link);

/*
 * In a callback of hiredis: its reply, if that is an array with n texts at
 * least, which come first, and the link is open still; or NULL.
 */
redisReply *ngx_svc_redis_link_array(redisAsyncContext *ac, void *reply,
    size_t n);


/*
 * In a child process: forgets what was the parent's.  Nothing of it is freed,
 * since a context that is freed calls back, and touches the parent's epoll.
 */
void ngx_svc_redis_link_forked(ngx_svc_redis_link_t *link);


#endif /* _NGX_SVC_REDIS_LINK_H_INCLUDED_ */
