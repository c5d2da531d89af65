/*
 * Outbound SCIM: whom a target has.
 */

#ifndef _NGX_SVC_PUSH_PAGE_H_INCLUDED_
#define _NGX_SVC_PUSH_PAGE_H_INCLUDED_


#include "ngx_svc_push.h"


/*
 * Makes the requests; the handler is called once, never from within this call.
 * NGX_ERROR: memory, it will not be called.
 */
ngx_int_t ngx_svc_push_page(ngx_svc_push_page_t *page);

/*
 * Frees what was seen, and breaks off what is under way: its handler will not
 * be called.  Before the pool goes.
 */
void ngx_svc_push_page_close(ngx_svc_push_page_t *page);


#endif /* _NGX_SVC_PUSH_PAGE_H_INCLUDED_ */
