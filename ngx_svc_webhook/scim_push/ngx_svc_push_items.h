/*
 * Outbound SCIM: takes users of a target from PostgreSQL.
 */

#ifndef _NGX_SVC_PUSH_ITEMS_H_INCLUDED_
#define _NGX_SVC_PUSH_ITEMS_H_INCLUDED_


#include "ngx_svc_push_store.h"


/*
 * Begins an op, as in ngx_svc_push_store.h, that takes users who are due;
 * deactivate: also those who are to be deactivated.  If these are more than
 * anybody is likely to intend, work->hold is set instead.
 */
ngx_int_t ngx_svc_push_items_take(ngx_svc_push_work_t *work,
    ngx_uint_t deactivate);

/* Sets want from a row.  The texts are those of the result. */
void ngx_svc_push_items_want(ngx_svc_push_want_t *want,
    const ngx_svc_row_push_wanted_t *row);

/* Frees the items of a queue. */
void ngx_svc_push_items_free(ngx_queue_t *queue);


#endif /* _NGX_SVC_PUSH_ITEMS_H_INCLUDED_ */
