/*
 * Outbound SCIM: asks what a target can do.
 */

#ifndef _NGX_SVC_PUSH_PROBE_H_INCLUDED_
#define _NGX_SVC_PUSH_PROBE_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * Makes the requests.  The handler is called once, never from within this
 * call.  NGX_ERROR: no memory, and the handler will not be called.
 */
ngx_int_t ngx_svc_push_probe(ngx_svc_push_probe_t *probe);

/* Breaks off what is under way: the handler will not be called. */
void ngx_svc_push_probe_cancel(ngx_svc_push_probe_t *probe);


#endif /* _NGX_SVC_PUSH_PROBE_H_INCLUDED_ */
