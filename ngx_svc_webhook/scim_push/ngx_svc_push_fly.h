/*
 * Outbound SCIM: users on their way to targets, as many at a time as there are
 * places, and as fast as the rate lets them.
 */

#ifndef _NGX_SVC_PUSH_FLY_H_INCLUDED_
#define _NGX_SVC_PUSH_FLY_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* step: is called when something has ended, or there is a place. */
void ngx_svc_push_fly_init(void (*step)(ngx_svc_push_work_t *work));

/* Starts those that are ready, and may. */
void ngx_svc_push_fly(ngx_svc_push_work_t *work);

/* When the rate lets the next one. */
ngx_msec_t ngx_svc_push_fly_when(ngx_svc_push_work_t *work);

/* How many there are, of all targets. */
ngx_uint_t ngx_svc_push_fly_count(void);

/* Those of a target make no further request: it is not what it was. */
void ngx_svc_push_fly_stop(ngx_svc_push_work_t *work);

/* Whether the rate lets a request; NGX_OK or NGX_DECLINED. */
ngx_int_t ngx_svc_push_fly_rate(ngx_svc_push_work_t *work);

/* Breaks off all of a target: their places stay free until the latter. */
void ngx_svc_push_fly_cancel(ngx_svc_push_work_t *work);

/* Lets those go on who wait for a place. */
void ngx_svc_push_fly_next(void);


#endif /* _NGX_SVC_PUSH_FLY_H_INCLUDED_ */
