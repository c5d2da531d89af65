/*
 * A rate limit for lines of the error log.
 */

#include "ngx_svc_log_limit.h"


/* Uses the monotonic clock, since the wall clock may be set back. */

ngx_uint_t
ngx_svc_log_limit(ngx_svc_log_limit_t *limit, ngx_uint_t burst,
    ngx_msec_t interval)
{
    if (limit->lines == 0 || ngx_current_msec - limit->start >= interval) {
        limit->start = ngx_current_msec;
        limit->lines = 0;
    }

    if (limit->lines == burst) {
        return 0;
    }

    limit->lines++;

    return 1;
}


ngx_uint_t
ngx_svc_log_limit_level(ngx_svc_log_limit_t *limit, ngx_uint_t burst,
    ngx_msec_t interval, ngx_uint_t level)
{
    return ngx_svc_log_limit(limit, burst, interval) ? level : NGX_LOG_INFO;
}
