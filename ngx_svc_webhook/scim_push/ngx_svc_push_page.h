/*
 * Outbound SCIM: a page of the users that a target has.
 */

#ifndef _NGX_SVC_PUSH_PAGE_H_INCLUDED_
#define _NGX_SVC_PUSH_PAGE_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * Makes the requests.  The handler is called once, never from within this
 * call.  NGX_ERROR: no memory, and the handler will not be called.
 */
ngx_int_t ngx_svc_push_page(ngx_svc_push_page_t *page);

/*
 * Frees what seen() got, and breaks off what is under way: the handler will
 * not be called.  Must be called before the pool is destroyed.
 */
void ngx_svc_push_page_close(ngx_svc_push_page_t *page);


#endif /* _NGX_SVC_PUSH_PAGE_H_INCLUDED_ */
