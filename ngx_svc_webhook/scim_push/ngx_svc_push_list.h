/*
 * Outbound SCIM: reads the target's own list of users, so that those who are
 * there as wanted need no request of their own.
 */

#ifndef _NGX_SVC_PUSH_LIST_H_INCLUDED_
#define _NGX_SVC_PUSH_LIST_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* Sets step(), which is called when a page has come. */
void ngx_svc_push_list_init(void (*step)(ngx_svc_push_work_t *work));

/*
 * Asks for the page at work->list; work->listed is set when it has come.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_push_list(ngx_svc_push_work_t *work);

/* Begins an op, as in ngx_svc_push_store.h, that compares the page. */
ngx_int_t ngx_svc_push_list_compare(ngx_svc_push_work_t *work);

/* Breaks off the request, and frees the page. */
void ngx_svc_push_list_cancel(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_LIST_H_INCLUDED_ */
