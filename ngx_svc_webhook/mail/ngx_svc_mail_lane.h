/*
 * In the helper: mails are taken, sent, tried again and ended.
 *
 * Its threads end by ngx_svc_mail_send_exit().
 */

#ifndef _NGX_SVC_MAIL_LANE_H_INCLUDED_
#define _NGX_SVC_MAIL_LANE_H_INCLUDED_


#include "ngx_svc_lane.h"


extern const ngx_svc_lane_t  ngx_svc_mail_lane;


#endif /* _NGX_SVC_MAIL_LANE_H_INCLUDED_ */
