/*
 * Mails in Redis: the helper takes them from the queue, and says that it lives.
 */

#ifndef _NGX_SVC_MAIL_QUEUE_H_INCLUDED_
#define _NGX_SVC_MAIL_QUEUE_H_INCLUDED_


#include "ngx_svc_common.h"

#include <ngx_event.h>


typedef struct {
    /* how many mails more may be taken */
    ngx_uint_t  (*room)(void);

    /* one, maybe not for the first time; NGX_ERROR: it is to come again */
    ngx_int_t   (*take)(const ngx_str_t *entry);

    /* all that were taken may be others'; what is still ours comes again */
    void        (*forget)(void);

    /* an answer has come: mails may be sent, if ngx_svc_mail_queue_sure() */
    void        (*wake)(void);
} ngx_svc_mail_queue_handlers_t;


/* A mail that has ended, in whatever way. */

typedef struct {
    ngx_event_t      timer;             /* private */
    ngx_str_t        id;
    ngx_str_t        tenant;
    ngx_str_t        failed;            /* the key of its address, if it has
                                           failed, or empty */
    void           (*handler)(void *data, ngx_uint_t first);    /* first: of
                                           the address within an hour */
    void            *data;
} ngx_svc_mail_end_t;


/* In the helper; id, before: as of ngx_svc_webhook_queue_start(). */
ngx_int_t ngx_svc_mail_queue_start(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before, const ngx_svc_mail_queue_handlers_t *handlers);

/* Takes no more; and, there is room again. */
void ngx_svc_mail_queue_stop(void);
void ngx_svc_mail_queue_take(void);

/* 1: what was taken is this helper's, as Redis said not long ago. */
ngx_uint_t ngx_svc_mail_queue_sure(void);

/*
 * The mail leaves Redis, which is asked until it has confirmed that: then the
 * handler is called, once.  *end must live until then.
 */
void ngx_svc_mail_queue_end(ngx_svc_mail_end_t *end);

/* What is in flight is left to others; calls done, once. */
void ngx_svc_mail_queue_leave(void (*done)(void));


#endif /* _NGX_SVC_MAIL_QUEUE_H_INCLUDED_ */
