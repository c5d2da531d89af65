/*
 * The errors of requests.
 */

#ifndef _NGX_SVC_OUTBOUND_ERROR_H_INCLUDED_
#define _NGX_SVC_OUTBOUND_ERROR_H_INCLUDED_


#include "ngx_svc_outbound.h"


/* Sets the outcome of a failed request, and the text of its error. */
void ngx_svc_outbound_failed(ngx_svc_outbound_t *r, CURLcode code);


#endif /* _NGX_SVC_OUTBOUND_ERROR_H_INCLUDED_ */
