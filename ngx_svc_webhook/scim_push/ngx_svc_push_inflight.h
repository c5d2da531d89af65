/*
 * Outbound SCIM: the pushes under way, limited in number by places and in
 * speed by the rate of requests.
 */

#ifndef _NGX_SVC_PUSH_INFLIGHT_H_INCLUDED_
#define _NGX_SVC_PUSH_INFLIGHT_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* Sets step(), which is called when a push has ended or a place is free. */
void ngx_svc_push_inflight_init(void (*step)(ngx_svc_push_work_t *work));

/* Starts pushes of the users that are ready, as far as the limits allow. */
void ngx_svc_push_inflight_add(ngx_svc_push_work_t *work);

/* Returns when the rate allows the next request. */
ngx_msec_t ngx_svc_push_inflight_when(ngx_svc_push_work_t *work);

/* Returns how many pushes are under way, to all targets. */
ngx_uint_t ngx_svc_push_inflight_count(void);

/*
 * Makes the pushes of a target end with the request under way: the target was
 * changed.
 */
void ngx_svc_push_inflight_stop(ngx_svc_push_work_t *work);

/* Returns NGX_OK if the rate allows a request now, else NGX_DECLINED. */
ngx_int_t ngx_svc_push_inflight_rate(ngx_svc_push_work_t *work);

/*
 * Breaks off a target's pushes.  Their places are given to others only by
 * ngx_svc_push_inflight_next().
 */
void ngx_svc_push_inflight_cancel(ngx_svc_push_work_t *work);

/* Lets the targets go on that wait for a place. */
void ngx_svc_push_inflight_next(void);


#endif /* _NGX_SVC_PUSH_INFLIGHT_H_INCLUDED_ */
