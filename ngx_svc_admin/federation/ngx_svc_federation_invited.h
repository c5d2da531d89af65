/*
 * Whoever is invited, and comes by another server.
 */

#ifndef _NGX_SVC_FEDERATION_INVITED_H_INCLUDED_
#define _NGX_SVC_FEDERATION_INVITED_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * For a reply, when flow->proof is nobody's: reads the invitation whose token
 * has begun the flow, or that of the address, and makes the account of it; or
 * refuses.
 */
ngx_int_t ngx_svc_federation_invited(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_INVITED_H_INCLUDED_ */
