/*
 * The health location.
 */

#ifndef _NGX_SVC_HEALTH_H_INCLUDED_
#define _NGX_SVC_HEALTH_H_INCLUDED_


#include "ngx_svc_request.h"


ngx_int_t ngx_svc_health_handler(ngx_http_request_t *r);
extern ngx_svc_pg_statements_t  ngx_svc_health_statements[];


#endif /* _NGX_SVC_HEALTH_H_INCLUDED_ */
