/*
 * Where a request may connect to, and in which time.
 */

#ifndef _NGX_SVC_OUTBOUND_CONNECT_H_INCLUDED_
#define _NGX_SVC_OUTBOUND_CONNECT_H_INCLUDED_


#include "ngx_svc_outbound.h"


/* Sets the options of r->curl.  Returns CURLE_OK, or another number. */
long ngx_svc_outbound_connects(ngx_svc_outbound_t *r);


#endif /* _NGX_SVC_OUTBOUND_CONNECT_H_INCLUDED_ */
