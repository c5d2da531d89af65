/*
 * Requests whose op has failed.
 */

#ifndef _NGX_SVC_REQUEST_FAILED_H_INCLUDED_
#define _NGX_SVC_REQUEST_FAILED_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Answers when PostgreSQL has raised an error: the violation of a constraint
 * that the surface knows is the client's error; an error that may go away is
 * 503; any other one is our own, 500.  Returns what goes to
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_request_failed(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_REQUEST_FAILED_H_INCLUDED_ */
