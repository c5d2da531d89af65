/*
 * Outbound SCIM: records the outcomes of pushes.
 */

#ifndef _NGX_SVC_PUSH_RECORD_H_INCLUDED_
#define _NGX_SVC_PUSH_RECORD_H_INCLUDED_


#include "ngx_svc_push_store.h"


/*
 * Begins an op, as in ngx_svc_push_store.h, that stores work->results,
 * work->state and work->no_patch.
 */
ngx_int_t ngx_svc_push_record(ngx_svc_push_work_t *work);


#endif /* _NGX_SVC_PUSH_RECORD_H_INCLUDED_ */
