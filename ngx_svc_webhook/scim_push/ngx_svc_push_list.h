/*
 * Outbound SCIM: the target's own list is read, and who is there as he is to be
 * needs no look of his own.
 */

#ifndef _NGX_SVC_PUSH_LIST_H_INCLUDED_
#define _NGX_SVC_PUSH_LIST_H_INCLUDED_


#include "ngx_svc_push_store.h"


/* step: is called when a page has come. */
void ngx_svc_push_list_init(void (*step)(ngx_svc_push_work_t *work));

/*
 * Asks for the page at work->list; when it has come, work->listed is set, and
 * the latter compares it, as of ngx_svc_push_store.h.  NGX_OK, or NGX_ERROR.
 */
ngx_int_t ngx_svc_push_list(ngx_svc_push_work_t *work);
ngx_int_t ngx_svc_push_list_compare(ngx_svc_push_work_t *work);

/* Breaks it off. */
void ngx_svc_push_list_cancel(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_LIST_H_INCLUDED_ */
