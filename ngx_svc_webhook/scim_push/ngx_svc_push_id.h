/*
 * Outbound SCIM: ids that are numbers.
 */

#ifndef _NGX_SVC_PUSH_ID_H_INCLUDED_
#define _NGX_SVC_PUSH_ID_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * Puts quotes around ids that are numbers, in a resource or in each of a list:
 * some servers send such ids, and a number loses digits when it is parsed.
 * The text is an answer, which need not be JSON.  *text is replaced only if
 * there is such an id; the old text is not changed.  NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_push_id_quote(ngx_pool_t *pool, ngx_str_t *text);


#endif /* _NGX_SVC_PUSH_ID_H_INCLUDED_ */
