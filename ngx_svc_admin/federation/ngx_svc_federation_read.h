/*
 * Whom a proof is of, and how the sign-in ends.
 */

#ifndef _NGX_SVC_FEDERATION_READ_H_INCLUDED_
#define _NGX_SVC_FEDERATION_READ_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * For a reply, or from an event: reads whom flow->proof is of, and ends the
 * sign-in.  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_read(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_READ_H_INCLUDED_ */
