/*
 * In the helper: mails are taken, sent, tried again and ended.
 */

#ifndef _NGX_SVC_MAIL_LANE_H_INCLUDED_
#define _NGX_SVC_MAIL_LANE_H_INCLUDED_


#include "ngx_svc_common.h"


/* At the helper's start; id, before: as of ngx_svc_webhook_queue_start(). */
ngx_int_t ngx_svc_mail_lane_init(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before);

/* Starts no attempts; calls done, once, when those under way have ended. */
void ngx_svc_mail_lane_drain(void (*done)(void));

/* What is left is for others; calls done, once, when Redis knows. */
void ngx_svc_mail_lane_leave(void (*done)(void));

/* At the helper's end; as ngx_svc_mail_send_exit(). */
ngx_uint_t ngx_svc_mail_lane_exit(void);


#endif /* _NGX_SVC_MAIL_LANE_H_INCLUDED_ */
