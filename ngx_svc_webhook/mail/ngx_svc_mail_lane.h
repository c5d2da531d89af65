/*
 * In the helper: takes mails, sends them, retries, and ends them.
 *
 * ngx_svc_mail_send_exit() ends the lane's threads.
 */

#ifndef _NGX_SVC_MAIL_LANE_H_INCLUDED_
#define _NGX_SVC_MAIL_LANE_H_INCLUDED_


#include "ngx_svc_lane.h"


extern const ngx_svc_lane_t  ngx_svc_mail_lane;


#endif /* _NGX_SVC_MAIL_LANE_H_INCLUDED_ */
