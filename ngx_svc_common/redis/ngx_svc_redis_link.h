/*
 * A connection to Redis: hiredis's asynchronous API on nginx's events.
 */

#ifndef _NGX_SVC_REDIS_LINK_H_INCLUDED_
#define _NGX_SVC_REDIS_LINK_H_INCLUDED_


#include "ngx_svc_redis.h"

#include <hiredis/async.h>


struct ngx_svc_redis_link_s {
    ngx_svc_redis_conf_t   *conf;
    ngx_svc_redis_server_t *server;     /* NULL: it is not found yet */
    redisAsyncContext      *redis;      /* owns the socket; NULL: not open */
    redisAsyncContext      *inherited;  /* in a child: the parent's */
    ngx_connection_t       *connection; /* borrows the socket */
    ngx_event_t             timer;      /* ends a pause, or the wait for an
                                           answer */
    ngx_svc_redis_state_e   state;
    ngx_msec_t              since;      /* when opening it began */
    ngx_msec_t              pause;      /* before it is opened again */
    unsigned                answered:1; /* there was an answer since then */
    unsigned                asked:1;    /* an answer is due before the timer */
    unsigned                opening:1;  /* the first answer is due */
    unsigned                said:1;     /* logged that it is down */

    /*
     * Finds out where the server is, each time before the link is opened, and
     * calls ngx_svc_redis_link_found(), but not from within this call.  Or
     * NULL.
     */
    void                  (*find)(ngx_svc_redis_link_t *link);

    /* called when the link is connected */
    void                  (*opened)(ngx_svc_redis_link_t *link);

    /* called when no answer is due, and the pause is over */
    void                  (*tick)(ngx_svc_redis_link_t *link);

    /* called when the link has broken */
    void                  (*closed)(ngx_svc_redis_link_t *link,
                                    const char *why);
};


/*
 * Opens a link, now and whenever it breaks.  The caller has set the link's
 * functions, and its server unless "find" finds that.
 */
void ngx_svc_redis_link_start(ngx_svc_redis_link_t *link,
    ngx_svc_redis_conf_t *conf, ngx_log_t *log);

/* Closes a link for good. */
void ngx_svc_redis_link_stop(ngx_svc_redis_link_t *link);

/* Opens a link to a server, which must live until another one is found. */
void ngx_svc_redis_link_found(ngx_svc_redis_link_t *link,
    ngx_svc_redis_server_t *server);

/* Closes an open link, which is then opened again; why: for "closed". */
void ngx_svc_redis_link_break(ngx_svc_redis_link_t *link, const char *why);

/* Notes that an answer is due: without it the link breaks. */
void ngx_svc_redis_link_asked(ngx_svc_redis_link_t *link);

/* Notes that the answer has come. */
void ngx_svc_redis_link_answered(ngx_svc_redis_link_t *link);

/*
 * Returns a reply, in a callback of hiredis, if it is an array that begins with
 * n texts, and the link is still open; or NULL.
 */
redisReply *ngx_svc_redis_link_array(redisAsyncContext *ac, void *reply,
    size_t n);


/*
 * Forgets the parent's context, in a child process.  It is not freed, since
 * hiredis would call back, and change the parent's epoll.
 */
void ngx_svc_redis_link_forked(ngx_svc_redis_link_t *link);


#endif /* _NGX_SVC_REDIS_LINK_H_INCLUDED_ */
