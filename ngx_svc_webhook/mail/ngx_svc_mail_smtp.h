/*
 * One connection to the mail server, in a thread of its own: nothing here may
 * use nginx's data, not even its log.
 */

#ifndef _NGX_SVC_MAIL_SMTP_H_INCLUDED_
#define _NGX_SVC_MAIL_SMTP_H_INCLUDED_


#include "ngx_svc_mail_letter.h"


typedef struct ngx_svc_mail_smtp_s  ngx_svc_mail_smtp_t;


/* Called before the threads start. */
ngx_int_t ngx_svc_mail_smtp_init(ngx_log_t *log);

/*
 * Makes a connection.  *ending becomes 1 when what is under way is to be
 * broken off.  NULL: no memory; all letters fail then.
 */
ngx_svc_mail_smtp_t *ngx_svc_mail_smtp_create(const ngx_svc_mail_conf_t *conf,
    const ngx_str_t *ca_file, volatile ngx_uint_t *ending);
void ngx_svc_mail_smtp_free(ngx_svc_mail_smtp_t *smtp);

/*
 * Sends a letter, over the connection of the last one if it is still open, and
 * sets the letter's result.
 */
void ngx_svc_mail_smtp_send(ngx_svc_mail_smtp_t *smtp,
    ngx_svc_mail_letter_t *letter);


#endif /* _NGX_SVC_MAIL_SMTP_H_INCLUDED_ */
