/*
 * In the helper: mails are sent by threads, each with a connection of its own.
 *
 * libcurl waits for the answers to the end of a mail, and to QUIT, within its
 * calls, whichever of its interfaces is used: in the event loop a server that
 * is slow there would hold up the webhooks.
 */

#ifndef _NGX_SVC_MAIL_SEND_H_INCLUDED_
#define _NGX_SVC_MAIL_SEND_H_INCLUDED_


#include "ngx_svc_mail_letter.h"


/* A letter's result is there; the letter is the caller's again. */
typedef void (*ngx_svc_mail_sent_pt)(ngx_svc_mail_letter_t *letter);


/* At the helper's start: as many threads as svc_mail_concurrency says. */
ngx_int_t ngx_svc_mail_send_init(ngx_cycle_t *cycle,
    ngx_svc_mail_sent_pt sent);

/*
 * At its end: attempts under way are broken off.  1: all threads have ended;
 * 0: some are in libcurl, and the process must not run its exit handlers.
 */
ngx_uint_t ngx_svc_mail_send_exit(void);

/*
 * Sends it as soon as a thread is free; sent is called once, never from within
 * this call.
 */
void ngx_svc_mail_send_letter(ngx_svc_mail_letter_t *letter);


#endif /* _NGX_SVC_MAIL_SEND_H_INCLUDED_ */
