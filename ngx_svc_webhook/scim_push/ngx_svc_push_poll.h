/*
 * Outbound SCIM: polls PostgreSQL for a target's row and its audit events.
 */

#ifndef _NGX_SVC_PUSH_POLL_H_INCLUDED_
#define _NGX_SVC_PUSH_POLL_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* Begins an op, as in ngx_svc_push_store.h. */
ngx_int_t ngx_svc_push_poll(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_POLL_H_INCLUDED_ */
