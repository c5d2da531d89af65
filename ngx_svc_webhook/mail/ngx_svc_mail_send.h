/*
 * In the helper: threads that send mails, each with a connection of its own.
 *
 * libcurl waits within its calls for the reply to the end of a mail, and to
 * QUIT, whichever of its interfaces is used.  In the event loop a slow server
 * would hold up the webhooks.
 */

#ifndef _NGX_SVC_MAIL_SEND_H_INCLUDED_
#define _NGX_SVC_MAIL_SEND_H_INCLUDED_


#include "ngx_svc_mail_letter.h"


/* A letter's result is set; the letter is the caller's again. */
typedef void (*ngx_svc_mail_sent_pt)(ngx_svc_mail_letter_t *letter);


/* Called at the helper's start; begins svc_mail_concurrency threads. */
ngx_int_t ngx_svc_mail_send_init(ngx_cycle_t *cycle,
    ngx_svc_mail_sent_pt sent);

/*
 * Called at the helper's end: breaks off attempts under way.  Returns 1: all
 * threads have ended; 0: some are still in libcurl, and the process must not
 * run its exit handlers.
 */
ngx_uint_t ngx_svc_mail_send_exit(void);

/*
 * Sends a letter as soon as a thread is free.  sent() is called once, never
 * from within this call.
 */
void ngx_svc_mail_send_letter(ngx_svc_mail_letter_t *letter);


#endif /* _NGX_SVC_MAIL_SEND_H_INCLUDED_ */
