/*
 * Times as text, and days of the calendar.
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

/*
 * The proleptic Gregorian calendar, before year 1 too.  Days since 1970-01-01,
 * of a month 1 to 12, and a day that may lie outside of the month; and the year
 * of such a day.
 */
NGX_SVC_API int64_t ngx_svc_time_days(int64_t year, int64_t month,
    int64_t day);
NGX_SVC_API int64_t ngx_svc_time_year(int64_t days);
NGX_SVC_API ngx_uint_t ngx_svc_time_leap(int64_t year);


#endif /* _NGX_SVC_TIME_H_INCLUDED_ */
