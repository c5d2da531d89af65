/*
 * Outbound SCIM: what an answer tells about the target itself.
 */

#ifndef _NGX_SVC_PUSH_OUTCOME_H_INCLUDED_
#define _NGX_SVC_PUSH_OUTCOME_H_INCLUDED_


#include "ngx_svc_push_store.h"


/*
 * Notes that the target pauses, fails, or works again; the change is to be
 * stored.  Several requests under way may tell the same.
 */
void ngx_svc_push_outcome(ngx_svc_push_work_t *work,
    const ngx_svc_push_answer_t *answer);

/* Counts and logs the outcome of a push. */
void ngx_svc_push_outcome_log(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push);


#endif /* _NGX_SVC_PUSH_OUTCOME_H_INCLUDED_ */
