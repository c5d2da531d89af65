/*
 * In a worker: mails go to the queue in Redis.
 */

#ifndef _NGX_SVC_MAIL_PUSH_H_INCLUDED_
#define _NGX_SVC_MAIL_PUSH_H_INCLUDED_


/* A worker's start and end: it sends what ngx_svc_mail_send() is given. */
void ngx_svc_mail_push_init(void);
void ngx_svc_mail_push_exit(void);


#endif /* _NGX_SVC_MAIL_PUSH_H_INCLUDED_ */
