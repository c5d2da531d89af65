/*
 * The client of a request, as access policies look at it.
 */

#ifndef _NGX_SVC_ACCESS_CALLER_H_INCLUDED_
#define _NGX_SVC_ACCESS_CALLER_H_INCLUDED_


#include "ngx_svc_access_lockout.h"
#include "ngx_svc_request.h"


/*
 * Sets the address of the connection, as realip may have set it, the country
 * of svc_country, and the time.  Returns NGX_OK, or NGX_ERROR when memory runs
 * out.
 */
NGX_SVC_API ngx_int_t ngx_svc_access_caller(ngx_svc_request_t *sr,
    ngx_svc_access_caller_t *caller);


#endif /* _NGX_SVC_ACCESS_CALLER_H_INCLUDED_ */
