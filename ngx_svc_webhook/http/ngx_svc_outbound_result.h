/*
 * The result of an attempt to deliver.
 */

#ifndef _NGX_SVC_OUTBOUND_RESULT_H_INCLUDED_
#define _NGX_SVC_OUTBOUND_RESULT_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_OUTBOUND_REASON  160    /* bytes of an error's text, at most */


typedef enum {
    NGX_SVC_OUTBOUND_ACKNOWLEDGED = 0,
    NGX_SVC_OUTBOUND_FAILED,
    NGX_SVC_OUTBOUND_POSTPONED,         /* nothing was tried: we lack
                                           something */
    NGX_SVC_OUTBOUND_PERMANENT,         /* the next attempt would fail, too */
    NGX_SVC_OUTBOUND_REFUSED,           /* the URL's host is an address that is
                                           not allowed any more */
    NGX_SVC_OUTBOUND_OVERFLOW,          /* no attempt: too many deliveries
                                           waited */
    NGX_SVC_OUTBOUND_FATAL              /* no attempt: helpers died in
                                           attempts */
} ngx_svc_outbound_outcome_e;


/* The result of an attempt. */

typedef struct {
    ngx_svc_outbound_outcome_e  outcome;
    int64_t                     began;      /* ms since the epoch */
    ngx_msec_t                  duration;
    ngx_uint_t                  status;     /* HTTP status; 0: no answer came */
    ngx_str_t                   error;      /* printable ASCII, or empty; for
                                               the tenant */
    ngx_str_t                   detail;     /* for the operator, who may know
                                               about other networks; or empty:
                                               error */
    unsigned                    unreachable:1;  /* no answer, or too late */
    unsigned                    lingered:1;     /* the body did not end */
    unsigned                    refused:1;      /* by the check of addresses */
    u_char                      text[NGX_SVC_OUTBOUND_REASON];
    u_char                      detail_text[NGX_SVC_OUTBOUND_REASON];
} ngx_svc_outbound_result_t;


/* Sets result->error, formatted as by ngx_sprintf(). */
void ngx_svc_outbound_reason(ngx_svc_outbound_result_t *result,
    const char *fmt, ...);

/* Sets result->detail, formatted as by ngx_sprintf(). */
void ngx_svc_outbound_detail(ngx_svc_outbound_result_t *result,
    const char *fmt, ...);


#endif /* _NGX_SVC_OUTBOUND_RESULT_H_INCLUDED_ */
