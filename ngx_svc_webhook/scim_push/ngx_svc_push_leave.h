/*
 * Outbound SCIM: who has left, and is not there by the id that is known.
 */

#ifndef _NGX_SVC_PUSH_LEAVE_H_INCLUDED_
#define _NGX_SVC_PUSH_LEAVE_H_INCLUDED_


#include "ngx_svc_push_call.h"


#define NGX_SVC_PUSH_ABSENCE  3600      /* s, between two that count */


/*
 * How many resources of a list are the leaver's, and one of them: those with
 * our id, or else with the id that he had there, or of his name and nobody's.
 * A stranger of his name is left alone.
 */
ngx_uint_t ngx_svc_push_leave_find(ngx_svc_push_call_t *call,
    const cJSON **resource);

/* He is not in the lists; as of ngx_svc_push_call_pt. */
ngx_int_t ngx_svc_push_leave_absent(ngx_svc_push_call_t *call);


#endif /* _NGX_SVC_PUSH_LEAVE_H_INCLUDED_ */
