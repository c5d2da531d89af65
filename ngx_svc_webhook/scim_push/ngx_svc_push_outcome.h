/*
 * Outbound SCIM: what an answer says of the target itself.
 */

#ifndef _NGX_SVC_PUSH_OUTCOME_H_INCLUDED_
#define _NGX_SVC_PUSH_OUTCOME_H_INCLUDED_


#include "ngx_svc_push_store.h"


/*
 * Pauses the target, says that it fails, or that it does no more, which is to
 * be stored.  Requests that were under way at the same time may say the same.
 */
void ngx_svc_push_outcome(ngx_svc_push_work_t *work,
    const ngx_svc_push_answer_t *answer);

/* Counts and logs what came of a user. */
void ngx_svc_push_outcome_log(ngx_svc_push_work_t *work,
    const ngx_svc_push_t *push);


#endif /* _NGX_SVC_PUSH_OUTCOME_H_INCLUDED_ */
