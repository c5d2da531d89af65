/*
 * Outbound SCIM: users of a target, from PostgreSQL and back.
 */

#ifndef _NGX_SVC_PUSH_ITEMS_H_INCLUDED_
#define _NGX_SVC_PUSH_ITEMS_H_INCLUDED_


#include "ngx_svc_push_store.h"


/*
 * As of ngx_svc_push_store.h.  take: more that are ready, if there are any;
 * deactivate: also those who are to be deactivated.  When more of them are than
 * somebody is likely to mean, work->hold is set.
 */
ngx_int_t ngx_svc_push_items_take(ngx_svc_push_work_t *work,
    ngx_uint_t deactivate);

/*
 * What a user is to look like, in a row of columns NGX_SVC_PUSH_I_USER_NAME and
 * so on: texts of the result.
 */
void ngx_svc_push_items_want(ngx_svc_push_want_t *want, PGresult *res, int row);

/* Frees those of a queue. */
void ngx_svc_push_items_free(ngx_queue_t *queue);


#endif /* _NGX_SVC_PUSH_ITEMS_H_INCLUDED_ */
