/*
 * A rate limit for lines of the error log that each request could cause.
 */

#ifndef _NGX_SVC_LOG_LIMIT_H_INCLUDED_
#define _NGX_SVC_LOG_LIMIT_H_INCLUDED_


#include "ngx_svc_common.h"


/* The state of a limit in this process; zeroed at first. */

typedef struct {
    ngx_msec_t    start;        /* of the interval */
    ngx_uint_t    lines;        /* written in the interval; 0: none ever */
} ngx_svc_log_limit_t;


/*
 * Returns 1 if one more line may be written, and counts it: at most "burst"
 * lines in an interval (ms).  The first line after an interval begins the next
 * one.
 */
NGX_SVC_API ngx_uint_t ngx_svc_log_limit(ngx_svc_log_limit_t *limit,
    ngx_uint_t burst, ngx_msec_t interval);

/*
 * Does the same for a line that is written in any case: returns the level, or
 * NGX_LOG_INFO above the limit.
 */
NGX_SVC_API ngx_uint_t ngx_svc_log_limit_level(ngx_svc_log_limit_t *limit,
    ngx_uint_t burst, ngx_msec_t interval, ngx_uint_t level);


#endif /* _NGX_SVC_LOG_LIMIT_H_INCLUDED_ */
