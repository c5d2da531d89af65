/*
 * The result of an attempt to deliver.
 */

#ifndef _NGX_SVC_WEBHOOK_RESULT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_RESULT_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_REASON  160     /* bytes of an error's text, at most */


typedef enum {
    NGX_SVC_WEBHOOK_ACKNOWLEDGED = 0,
    NGX_SVC_WEBHOOK_FAILED,
    NGX_SVC_WEBHOOK_POSTPONED,          /* nothing was tried: we have run out of
                                           something */
    NGX_SVC_WEBHOOK_PERMANENT,          /* so would the next one be */
    NGX_SVC_WEBHOOK_REFUSED,            /* the URL's host is an address that is
                                           not good any more */
    NGX_SVC_WEBHOOK_OVERFLOW,           /* no attempt: too many waited */
    NGX_SVC_WEBHOOK_FATAL               /* no attempt: helpers ended in them */
} ngx_svc_webhook_outcome_e;


/* What became of an attempt. */

typedef struct {
    ngx_svc_webhook_outcome_e  outcome;
    int64_t                    began;       /* ms since the epoch */
    ngx_msec_t                 duration;
    ngx_uint_t                 status;      /* of the answer; 0: none came */
    ngx_str_t                  error;       /* printable ASCII; or empty; for
                                               the tenant */
    ngx_str_t                  detail;      /* in its place, for the operator:
                                               what would tell a tenant about
                                               other networks; or empty */
    unsigned                   unreachable:1;   /* no answer, or none in time */
    unsigned                   lingered:1;      /* the answer did not end */
    unsigned                   refused:1;       /* by the address check */
    u_char                     text[NGX_SVC_WEBHOOK_REASON];
    u_char                     detail_text[NGX_SVC_WEBHOOK_REASON];
} ngx_svc_webhook_result_t;


/*
 * Sets what an error was, formatted as ngx_sprintf(): result->error, and
 * result->detail.
 */
void ngx_svc_webhook_reason(ngx_svc_webhook_result_t *result, const char *fmt,
    ...);
void ngx_svc_webhook_detail(ngx_svc_webhook_result_t *result, const char *fmt,
    ...);


#endif /* _NGX_SVC_WEBHOOK_RESULT_H_INCLUDED_ */
