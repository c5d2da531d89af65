/*
 * Attempts that are to begin: Redis hears of them first.
 *
 * What a receiver does to this process may end it.  Whoever takes its
 * deliveries over has to know of which of them an attempt had begun, or the
 * same receiver would end one helper after the other.
 */

#ifndef _NGX_SVC_WEBHOOK_BEGUN_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_BEGUN_H_INCLUDED_


#include "ngx_svc_webhook.h"


/* known: Redis counts the attempt; 0: it is not to begin. */
typedef void (*ngx_svc_webhook_begun_pt)(void *data, ngx_uint_t known);


/*
 * The attempt of d behind those that have ended is to begin.  The handler is
 * called once, from within either of these or later; d must last
 * until that returns.  NGX_ERROR: memory, it will not be called.
 */
ngx_int_t ngx_svc_webhook_begun(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_begun_pt handler, void *data);

/* Sends what has been added. */
void ngx_svc_webhook_begun_tell(void);


#endif /* _NGX_SVC_WEBHOOK_BEGUN_H_INCLUDED_ */
