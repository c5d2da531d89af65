/*
 * In the helper: applications are told of sessions that have ended.
 */

#ifndef _NGX_SVC_LOGOUT_LANE_H_INCLUDED_
#define _NGX_SVC_LOGOUT_LANE_H_INCLUDED_


#include "ngx_svc_common.h"


/* At the helper's start, behind that of PostgreSQL. */
ngx_int_t ngx_svc_logout_lane_init(ngx_cycle_t *cycle);

/* Takes no more; calls done, once, when what is under way is recorded. */
void ngx_svc_logout_lane_drain(void (*done)(void));

/* What is under way is for others, in a minute; calls done. */
void ngx_svc_logout_lane_leave(void (*done)(void));

/* At the helper's end, before that of PostgreSQL. */
void ngx_svc_logout_lane_exit(void);


#endif /* _NGX_SVC_LOGOUT_LANE_H_INCLUDED_ */
