/*
 * Outbound SCIM: ids that are numbers.
 */

#ifndef _NGX_SVC_PUSH_ID_H_INCLUDED_
#define _NGX_SVC_PUSH_ID_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * Puts quotes around the id of a resource, or of each one of a list, that is a
 * number: some servers send such, and a number that is read may be another one.
 * The text of an answer, which need not be JSON; it stays as it is, and so does
 * *text, unless there is one.  NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_push_id_quote(ngx_pool_t *pool, ngx_str_t *text);


#endif /* _NGX_SVC_PUSH_ID_H_INCLUDED_ */
