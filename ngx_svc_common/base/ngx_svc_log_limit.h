/*
 * A rate limit for lines of the error log that could come with each request.
 */

#ifndef _NGX_SVC_LOG_LIMIT_H_INCLUDED_
#define _NGX_SVC_LOG_LIMIT_H_INCLUDED_


#include "ngx_svc_common.h"


/* The state of one limit, of this process alone; zeroed at first. */

typedef struct {
    ngx_msec_t    start;        /* of the interval */
    ngx_uint_t    lines;        /* written in it; 0: none ever */
} ngx_svc_log_limit_t;


/*
 * Whether one more line may be written, which then counts: burst lines at most
 * in an interval (ms), which the first line after the one before begins.
 */
NGX_SVC_API ngx_uint_t ngx_svc_log_limit(ngx_svc_log_limit_t *limit,
    ngx_uint_t burst, ngx_msec_t interval);

/* The same for one that is written anyway: at the level, or else at info. */
NGX_SVC_API ngx_uint_t ngx_svc_log_limit_level(ngx_svc_log_limit_t *limit,
    ngx_uint_t burst, ngx_msec_t interval, ngx_uint_t level);


#endif /* _NGX_SVC_LOG_LIMIT_H_INCLUDED_ */
