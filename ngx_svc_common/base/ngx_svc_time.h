/*
 * Times as text.
 */

#ifndef _NGX_SVC_TIME_H_INCLUDED_
#define _NGX_SVC_TIME_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_TIME_LEN  (sizeof("2026-11-21T09:15:30.123Z") - 1)


/*
 * Writes what PostgreSQL's ISO text of a timestamptz in UTC
 * ("2026-11-21 09:15:30.12+00") stands for as RFC 3339 with milliseconds, the
 * last of year 9999 for what is later: NGX_SVC_TIME_LEN bytes; returns what
 * follows them.
 */
NGX_SVC_API u_char *ngx_svc_time_text(u_char *p, const ngx_str_t *pg);


/*
 * An RFC 3339 time, of any offset, as milliseconds since the epoch; what is
 * finer is dropped.  NGX_OK, or NGX_DECLINED, also when it is in UTC before
 * year 1 or after year 9999.
 */
NGX_SVC_API ngx_int_t ngx_svc_time_parse(const ngx_str_t *text, int64_t *msec);


#endif /* _NGX_SVC_TIME_H_INCLUDED_ */
