/*
 * The health location.
 */

#ifndef _NGX_SVC_HEALTH_H_INCLUDED_
#define _NGX_SVC_HEALTH_H_INCLUDED_


#include "ngx_svc_request.h"


/* Called when a worker starts. */
void ngx_svc_health_init(void);

/* The content handler. */
ngx_int_t ngx_svc_health_handler(ngx_http_request_t *r);


#endif /* _NGX_SVC_HEALTH_H_INCLUDED_ */
