/*
 * In a worker: queues mails in Redis.
 */

#ifndef _NGX_SVC_MAIL_ENQUEUE_H_INCLUDED_
#define _NGX_SVC_MAIL_ENQUEUE_H_INCLUDED_


/*
 * Called at a worker's start: ngx_svc_mail_send() uses this file from then on.
 */
void ngx_svc_mail_enqueue_init(void);

/* Called at a worker's end. */
void ngx_svc_mail_enqueue_exit(void);


#endif /* _NGX_SVC_MAIL_ENQUEUE_H_INCLUDED_ */
