/*
 * In the helper: the lease by which it holds SCIM targets.
 */

#ifndef _NGX_SVC_PUSH_LANE_H_INCLUDED_
#define _NGX_SVC_PUSH_LANE_H_INCLUDED_


#include "ngx_svc_lane.h"


extern const ngx_svc_lane_t  ngx_svc_push_lane;


#endif /* _NGX_SVC_PUSH_LANE_H_INCLUDED_ */
