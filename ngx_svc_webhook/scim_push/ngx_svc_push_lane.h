/*
 * In the helper: the lease by which it has SCIM targets.
 */

#ifndef _NGX_SVC_PUSH_LANE_H_INCLUDED_
#define _NGX_SVC_PUSH_LANE_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * At the helper's start, behind that of PostgreSQL and Redis; id, before: as of
 * ngx_svc_webhook_queue_start(): what a helper had that has died is free.
 */
ngx_int_t ngx_svc_push_lane_init(ngx_cycle_t *cycle, const u_char *id,
    const ngx_str_t *before);

/* Starts no pushes; calls done, once, when those under way are recorded. */
void ngx_svc_push_lane_drain(void (*done)(void));

/* What is left is for others; calls done, once, when PostgreSQL knows. */
void ngx_svc_push_lane_leave(void (*done)(void));

/* At the helper's end, before that of PostgreSQL. */
void ngx_svc_push_lane_exit(void);


#endif /* _NGX_SVC_PUSH_LANE_H_INCLUDED_ */
