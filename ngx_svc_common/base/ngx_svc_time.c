/*
 * Times as text, and days of the calendar.
 */

#include "ngx_svc_time.h"


#define NGX_SVC_TIME_SECONDS  (sizeof("2026-11-21 09:15:30") - 1)

/*
 * The times whose year has four digits, from year 1 on, in milliseconds since
 * the epoch.
 */

#define NGX_SVC_TIME_FIRST    (-62135596800000LL)   /* 0001-01-01T00:00:00Z */
#define NGX_SVC_TIME_LAST     253402300799999LL

/* The calendar repeats after 400 years; a year begins in March here. */

#define NGX_SVC_TIME_ERA      146097    /* days */
#define NGX_SVC_TIME_EPOCH    719468    /* days from 0000-03-01 */


static ngx_int_t ngx_svc_time_digits(const u_char *p, ngx_uint_t n);
static ngx_int_t ngx_svc_time_fraction(u_char **pos, const u_char *end,
    int64_t *msec);
static ngx_int_t ngx_svc_time_zone(const u_char *p, const u_char *end,
    int64_t *minutes);


u_char *
ngx_svc_time_text(u_char *p, const ngx_str_t *pg)
{
    size_t      i;
    ngx_uint_t  fraction;

    if (pg->len < NGX_SVC_TIME_SECONDS) {
        return ngx_cpymem(p, "0000-00-00T00:00:00.000Z", NGX_SVC_TIME_LEN);
    }

    if (pg->data[4] != '-') {
        return ngx_cpymem(p, "9999-12-31T23:59:59.999Z", NGX_SVC_TIME_LEN);
    }

    p = ngx_cpymem(p, pg->data, NGX_SVC_TIME_SECONDS);
    p[10 - (ngx_int_t) NGX_SVC_TIME_SECONDS] = 'T';

    *p++ = '.';

    /* PostgreSQL writes no zeros at the end */

    i = NGX_SVC_TIME_SECONDS;
    fraction = i < pg->len && pg->data[i] == '.';

    for (i++; i < NGX_SVC_TIME_SECONDS + 4; i++) {

        if (fraction && (i == pg->len || pg->data[i] < '0'
                         || pg->data[i] > '9'))
        {
            fraction = 0;
        }

        *p++ = fraction ? pg->data[i] : '0';
    }

    *p++ = 'Z';

    return p;
}


/* A leap second, ":60", is taken as the second after it. */

ngx_int_t
ngx_svc_time_parse(const ngx_str_t *text, int64_t *msec)
{
    u_char     *p, *end;
    int64_t     days, minutes, fraction;
    ngx_int_t   year, month, day, hour, minute, second;

    static const u_char  last[] = {
        31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };

    p = text->data;
    end = p + text->len;

    if (text->len < NGX_SVC_TIME_SECONDS + 1 || p[4] != '-' || p[7] != '-'
        || ngx_strchr("Tt ", p[10]) == NULL || p[13] != ':' || p[16] != ':')
    {
        return NGX_DECLINED;
    }

    year = ngx_svc_time_digits(p, 4);
    month = ngx_svc_time_digits(p + 5, 2);
    day = ngx_svc_time_digits(p + 8, 2);
    hour = ngx_svc_time_digits(p + 11, 2);
    minute = ngx_svc_time_digits(p + 14, 2);
    second = ngx_svc_time_digits(p + 17, 2);

    if (year < 0 || month < 1 || month > 12 || day < 1
        || day > last[month - 1] || hour < 0 || hour > 23 || minute < 0
        || minute > 59 || second < 0 || second > 60)
    {
        return NGX_DECLINED;
    }

    if (month == 2 && day == 29 && !ngx_svc_time_leap(year)) {
        return NGX_DECLINED;
    }

    p += NGX_SVC_TIME_SECONDS;

    if (ngx_svc_time_fraction(&p, end, &fraction) != NGX_OK
        || ngx_svc_time_zone(p, end, &minutes) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    days = ngx_svc_time_days(year, month, day);

    *msec = ((days * 1440 + hour * 60 + minute - minutes) * 60 + second) * 1000
            + fraction;

    /* an offset or a leap second may lead to a year that cannot be written */

    return (*msec >= NGX_SVC_TIME_FIRST && *msec <= NGX_SVC_TIME_LAST)
           ? NGX_OK : NGX_DECLINED;
}


/*
 * Reads a fraction into msec, and sets *pos after it; msec is 0 when there is
 * none.
 */

static ngx_int_t
ngx_svc_time_fraction(u_char **pos, const u_char *end, int64_t *msec)
{
    u_char      *p;
    ngx_uint_t   i;

    p = *pos;
    *msec = 0;

    if (*p != '.') {
        return NGX_OK;
    }

    for (p++, i = 0; p < end && *p >= '0' && *p <= '9'; p++, i++) {
        if (i < 3) {
            *msec = *msec * 10 + (*p - '0');
        }
    }

    if (i == 0) {
        return NGX_DECLINED;
    }

    for ( /* void */ ; i < 3; i++) {
        *msec *= 10;
    }

    *pos = p;

    return NGX_OK;
}


/* Reads n digits; returns NGX_ERROR when one is no digit. */

static ngx_int_t
ngx_svc_time_digits(const u_char *p, ngx_uint_t n)
{
    return ngx_atoi((u_char *) p, n);
}


/* Reads "Z" or an offset, as the minutes that it is ahead of UTC. */

static ngx_int_t
ngx_svc_time_zone(const u_char *p, const u_char *end, int64_t *minutes)
{
    ngx_int_t  hour, minute;

    if (end - p == 1 && (*p == 'Z' || *p == 'z')) {
        *minutes = 0;
        return NGX_OK;
    }

    if (end - p != sizeof("+01:00") - 1 || (*p != '+' && *p != '-')
        || p[3] != ':')
    {
        return NGX_DECLINED;
    }

    hour = ngx_svc_time_digits(p + 1, 2);
    minute = ngx_svc_time_digits(p + 4, 2);

    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) {
        return NGX_DECLINED;
    }

    *minutes = (*p == '-') ? -(hour * 60 + minute) : hour * 60 + minute;

    return NGX_OK;
}


int64_t
ngx_svc_time_days(int64_t year, int64_t month, int64_t day)
{
    int64_t  era;

    if (month <= 2) {
        month += 12;
        year--;
    }

    era = (year >= 0 ? year : year - 399) / 400;
    year -= era * 400;

    return era * NGX_SVC_TIME_ERA - NGX_SVC_TIME_EPOCH
           + 365 * year + year / 4 - year / 100
           + (153 * (month - 3) + 2) / 5 + day - 1;
}


int64_t
ngx_svc_time_year(int64_t days)
{
    int64_t  era, year;

    days += NGX_SVC_TIME_EPOCH;
    era = (days >= 0 ? days : days - (NGX_SVC_TIME_ERA - 1))
          / NGX_SVC_TIME_ERA;
    days -= era * NGX_SVC_TIME_ERA;

    year = (days - days / 1460 + days / 36524 - days / 146096) / 365;
    days -= year * 365 + year / 4 - year / 100;

    /* January and February are part of the next year of the calendar */

    return era * 400 + year + (days >= 306);
}


ngx_uint_t
ngx_svc_time_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}
