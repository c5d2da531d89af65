/*
 * Outbound SCIM: users who are to be inactive, and whom the target does not
 * show by the id that is known.
 */

#ifndef _NGX_SVC_PUSH_LEAVE_H_INCLUDED_
#define _NGX_SVC_PUSH_LEAVE_H_INCLUDED_


#include "ngx_svc_push_call.h"


#define NGX_SVC_PUSH_ABSENCE  3600      /* s, between two look-ups that count */


/*
 * Returns how many resources of a list are the leaving user's, and sets
 * *resource to one of them.  Those with our externalId count; if there is
 * none, those without an externalId that have the id or the name he had there.
 * Other users of his name are left alone.
 */
ngx_uint_t ngx_svc_push_leave_find(ngx_svc_push_call_t *call,
    const cJSON **resource);

/*
 * Goes on when the lists do not have the user; returns as
 * ngx_svc_push_call_pt.
 */
ngx_int_t ngx_svc_push_leave_absent(ngx_svc_push_call_t *call);


#endif /* _NGX_SVC_PUSH_LEAVE_H_INCLUDED_ */
