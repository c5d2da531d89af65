/*
 * The errors of requests.
 */

#ifndef _NGX_SVC_WEBHOOK_REQUEST_ERROR_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_REQUEST_ERROR_H_INCLUDED_


#include "ngx_svc_webhook_request.h"


/* Sets the outcome of a failed request, and the text of its error. */
void ngx_svc_webhook_request_failed(ngx_svc_webhook_request_t *r,
    CURLcode code);


#endif /* _NGX_SVC_WEBHOOK_REQUEST_ERROR_H_INCLUDED_ */
