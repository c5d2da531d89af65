/*
 * In the helper: tells applications of sessions that have ended.
 */

#ifndef _NGX_SVC_LOGOUT_LANE_H_INCLUDED_
#define _NGX_SVC_LOGOUT_LANE_H_INCLUDED_


#include "ngx_svc_lane.h"


extern const ngx_svc_lane_t  ngx_svc_logout_lane;


#endif /* _NGX_SVC_LOGOUT_LANE_H_INCLUDED_ */
