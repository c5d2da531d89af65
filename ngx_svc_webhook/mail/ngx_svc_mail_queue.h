/*
 * Mails in Redis: the helper takes them from the queue, and sends heartbeats.
 */

#ifndef _NGX_SVC_MAIL_QUEUE_H_INCLUDED_
#define _NGX_SVC_MAIL_QUEUE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>


typedef struct {
    /* returns how many more mails may be taken */
    ngx_uint_t  (*room)(void);

    /* takes a mail, maybe again; NGX_ERROR: it is to come again */
    ngx_int_t   (*take)(const ngx_str_t *entry);

    /* others may have all mails taken so far; those still ours come again */
    void        (*forget)(void);

    /* an answer has come: mails may be sent, if ngx_svc_mail_queue_sure() */
    void        (*wake)(void);
} ngx_svc_mail_queue_handlers_t;


/* A mail that has ended, with whatever outcome. */

typedef struct {
    ngx_event_t      timer;             /* private */
    ngx_str_t        id;
    ngx_str_t        tenant;
    ngx_str_t        failed;            /* key of the address, if the mail has
                                           failed; else empty */
    /* first: of this address within an hour */
    void           (*handler)(void *data, ngx_uint_t first);
    void            *data;
} ngx_svc_mail_end_t;


/*
 * Called at the helper's start; id, before: see ngx_svc_webhook_queue_start().
 */
ngx_int_t ngx_svc_mail_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before, const ngx_svc_mail_queue_handlers_t *handlers);

/* Takes no more mails. */
void ngx_svc_mail_queue_stop(void);

/* Takes mails, as many as there is room for. */
void ngx_svc_mail_queue_take(void);

/*
 * Returns whether the mails taken are still this helper's, by an answer of
 * Redis that is recent enough.
 */
ngx_uint_t ngx_svc_mail_queue_sure(void);

/*
 * Removes the mail from Redis, again and again until Redis has confirmed that;
 * then calls the handler, once.  *end must live until then.
 */
void ngx_svc_mail_queue_end(ngx_svc_mail_end_t *end);

/* Leaves the mails in flight to other helpers; done() is called once. */
void ngx_svc_mail_queue_leave(void (*done)(void));


#endif /* _NGX_SVC_MAIL_QUEUE_H_INCLUDED_ */
