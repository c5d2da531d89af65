/*
 * Times as text, and days of the calendar.
 */

#ifndef _NGX_SVC_TIME_H_INCLUDED_
#define _NGX_SVC_TIME_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_TIME_LEN  (sizeof("2026-11-21T09:15:30.123Z") - 1)


/*
 * Writes a timestamptz, which PostgreSQL has written in ISO format and in UTC
 * ("2026-11-21 09:15:30.12+00"), as RFC 3339 with milliseconds.  A time after
 * year 9999 becomes the last millisecond of it.  Writes NGX_SVC_TIME_LEN bytes,
 * and returns what follows them.
 */
NGX_SVC_API u_char *ngx_svc_time_text(u_char *p, const ngx_str_t *pg);


/*
 * Parses an RFC 3339 time with any offset as milliseconds since the epoch; a
 * finer fraction is cut.  Returns NGX_OK, or NGX_DECLINED, also when the time
 * is before year 1 or after year 9999 in UTC.
 */
NGX_SVC_API ngx_int_t ngx_svc_time_parse(const ngx_str_t *text, int64_t *msec);

/*
 * Returns the days since 1970-01-01 in the proleptic Gregorian calendar, also
 * before year 1.  month: 1 to 12; day: may lie outside of the month.
 */
NGX_SVC_API int64_t ngx_svc_time_days(int64_t year, int64_t month,
    int64_t day);

/* Returns the year of a day that is given as days since 1970-01-01. */
NGX_SVC_API int64_t ngx_svc_time_year(int64_t days);

/* Returns 1 if a year is a leap year. */
NGX_SVC_API ngx_uint_t ngx_svc_time_leap(int64_t year);


#endif /* _NGX_SVC_TIME_H_INCLUDED_ */
