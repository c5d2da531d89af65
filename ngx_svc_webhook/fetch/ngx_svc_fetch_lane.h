/*
 * In the helper: makes the requests that workers wait for.
 */

#ifndef _NGX_SVC_FETCH_LANE_H_INCLUDED_
#define _NGX_SVC_FETCH_LANE_H_INCLUDED_


#include "ngx_svc_lane.h"


extern const ngx_svc_lane_t  ngx_svc_fetch_lane;


#endif /* _NGX_SVC_FETCH_LANE_H_INCLUDED_ */
