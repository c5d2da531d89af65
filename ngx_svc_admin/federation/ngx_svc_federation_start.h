/*
 * How a flow begins.
 */

#ifndef _NGX_SVC_FEDERATION_START_H_INCLUDED_
#define _NGX_SVC_FEDERATION_START_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * For ngx_svc_request_again(), with sr->data as a flow of the session that is
 * new: begins it, and answers where it leads.
 */
ngx_int_t ngx_svc_federation_start_begin(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_federation_start_reply(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_FEDERATION_START_H_INCLUDED_ */
