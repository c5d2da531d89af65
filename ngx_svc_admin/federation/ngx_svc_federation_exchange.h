/*
 * What a flow's code stands for: the provider's token endpoint is asked, and
 * its ID token is checked.
 */

#ifndef _NGX_SVC_FEDERATION_EXCHANGE_H_INCLUDED_
#define _NGX_SVC_FEDERATION_EXCHANGE_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * For a reply: exchanges flow->code for a proof, and goes on with
 * ngx_svc_federation_read().  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_exchange(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_EXCHANGE_H_INCLUDED_ */
