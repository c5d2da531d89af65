/*
 * POSIX TZ strings.
 */

#include "ngx_svc_zone_rule.h"
#include "ngx_svc_time.h"


#define NGX_SVC_ZONE_DAY         86400
#define NGX_SVC_ZONE_MIN_NAME    3
#define NGX_SVC_ZONE_MAX_OFFSET  24     /* hours */
#define NGX_SVC_ZONE_MAX_TIME    167


static ngx_int_t ngx_svc_zone_name_skip(const u_char **p, const u_char *last);
static ngx_int_t ngx_svc_zone_number(const u_char **p, const u_char *last,
    int32_t max, int32_t *n);
static ngx_int_t ngx_svc_zone_time(const u_char **p, const u_char *last,
    int32_t hours, int32_t *seconds);
static ngx_int_t ngx_svc_zone_change(const u_char **p, const u_char *last,
    ngx_svc_zone_change_t *change);
static ngx_int_t ngx_svc_zone_change_month(const u_char **p,
    const u_char *last, ngx_svc_zone_change_t *change);
static int64_t ngx_svc_zone_change_at(const ngx_svc_zone_change_t *change,
    int64_t year);
static int64_t ngx_svc_zone_year(int64_t at);


ngx_int_t
ngx_svc_zone_rule_parse(ngx_svc_zone_rule_t *rule, const u_char *text,
    size_t len)
{
    const u_char  *p, *last;

    p = text;
    last = text + len;

    ngx_memzero(rule, sizeof(ngx_svc_zone_rule_t));

    /* POSIX counts offsets west of UTC */

    if (ngx_svc_zone_name_skip(&p, last) != NGX_OK
        || ngx_svc_zone_time(&p, last, NGX_SVC_ZONE_MAX_OFFSET,
                             &rule->standard)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    rule->standard = -rule->standard;

    if (p == last) {
        return NGX_OK;
    }

    if (ngx_svc_zone_name_skip(&p, last) != NGX_OK || p == last) {
        return NGX_DECLINED;
    }

    if (*p == ',') {
        rule->summer = rule->standard + 3600;

    } else {
        if (ngx_svc_zone_time(&p, last, NGX_SVC_ZONE_MAX_OFFSET,
                              &rule->summer)
            != NGX_OK)
        {
            return NGX_DECLINED;
        }

        rule->summer = -rule->summer;
    }

    rule->changes = 1;

    if (ngx_svc_zone_change(&p, last, &rule->start) != NGX_OK
        || ngx_svc_zone_change(&p, last, &rule->end) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return p == last ? NGX_OK : NGX_DECLINED;
}


/*
 * The last change at or before the time decides.  A change may lie a week
 * outside of its year.  When both changes are at once the start of summer time
 * counts as the later one, so that a rule can have summer time all year.
 */

int32_t
ngx_svc_zone_rule_offset(const ngx_svc_zone_rule_t *rule, int64_t at)
{
    int32_t  offset;
    int64_t  year, y, start, end, latest;

    if (!rule->changes) {
        return rule->standard;
    }

    year = ngx_svc_zone_year(at);
    latest = INT64_MIN;
    offset = rule->standard;

    for (y = year - 2; y <= year + 1; y++) {
        start = ngx_svc_zone_change_at(&rule->start, y) - rule->standard;
        end = ngx_svc_zone_change_at(&rule->end, y) - rule->summer;

        if (end <= at && end > latest) {
            latest = end;
            offset = rule->standard;
        }

        if (start <= at && start >= latest) {
            latest = start;
            offset = rule->summer;
        }
    }

    return offset;
}


/* Skips the name of a zone: letters, or "<+03>". */

static ngx_int_t
ngx_svc_zone_name_skip(const u_char **p, const u_char *last)
{
    u_char         c;
    ngx_uint_t     quoted;
    const u_char  *s, *start;

    s = *p;
    quoted = s < last && *s == '<';
    start = s + quoted;

    for (s = start; s < last; s++) {
        c = *s | 0x20;

        if ((c >= 'a' && c <= 'z')
            || (quoted && ((*s >= '0' && *s <= '9')
                           || *s == '+' || *s == '-')))
        {
            continue;
        }

        break;
    }

    if (s - start < NGX_SVC_ZONE_MIN_NAME) {
        return NGX_DECLINED;
    }

    if (quoted) {
        if (s == last || *s != '>') {
            return NGX_DECLINED;
        }

        s++;
    }

    *p = s;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_zone_number(const u_char **p, const u_char *last, int32_t max,
    int32_t *n)
{
    const u_char  *s;

    *n = 0;

    for (s = *p; s < last && *s >= '0' && *s <= '9'; s++) {
        *n = *n * 10 + (*s - '0');

        if (*n > max) {
            return NGX_DECLINED;
        }
    }

    if (s == *p) {
        return NGX_DECLINED;
    }

    *p = s;

    return NGX_OK;
}


/* Reads "[+-]hh[:mm[:ss]]". */

static ngx_int_t
ngx_svc_zone_time(const u_char **p, const u_char *last, int32_t hours,
    int32_t *seconds)
{
    int32_t  n, unit, sign;

    sign = 1;

    if (*p < last && (**p == '+' || **p == '-')) {
        sign = **p == '-' ? -1 : 1;
        (*p)++;
    }

    if (ngx_svc_zone_number(p, last, hours, &n) != NGX_OK) {
        return NGX_DECLINED;
    }

    *seconds = n * 3600;

    for (unit = 60; unit && *p < last && **p == ':'; unit /= 60) {
        (*p)++;

        if (ngx_svc_zone_number(p, last, 59, &n) != NGX_OK) {
            return NGX_DECLINED;
        }

        *seconds += n * unit;
    }

    *seconds *= sign;

    return NGX_OK;
}


/* Reads ",Jn", ",n" or ",Mm.w.d", which "/time" may follow. */

static ngx_int_t
ngx_svc_zone_change(const u_char **p, const u_char *last,
    ngx_svc_zone_change_t *change)
{
    ngx_int_t  rc;

    if (last - *p < 2 || **p != ',') {
        return NGX_DECLINED;
    }

    (*p)++;

    switch (**p) {

    case 'M':
        rc = ngx_svc_zone_change_month(p, last, change);
        break;

    case 'J':
        (*p)++;
        change->kind = 'J';
        rc = ngx_svc_zone_number(p, last, 365, &change->day);

        if (change->day == 0) {
            return NGX_DECLINED;
        }

        break;

    default:
        change->kind = 0;
        rc = ngx_svc_zone_number(p, last, 365, &change->day);
    }

    if (rc != NGX_OK) {
        return NGX_DECLINED;
    }

    change->time = 2 * 3600;

    if (*p == last || **p != '/') {
        return NGX_OK;
    }

    (*p)++;

    return ngx_svc_zone_time(p, last, NGX_SVC_ZONE_MAX_TIME, &change->time);
}


static ngx_int_t
ngx_svc_zone_change_month(const u_char **p, const u_char *last,
    ngx_svc_zone_change_t *change)
{
    ngx_uint_t  i;

    const struct {
        int32_t  *value;
        int32_t   min;
        int32_t   max;
    } parts[] = {
        { &change->month, 1, 12 },
        { &change->week, 1, 5 },
        { &change->day, 0, 6 }
    };

    change->kind = 'M';

    for (i = 0; i < 3; i++) {

        /* the first part follows 'M', the others follow dots */

        if (*p == last || (i > 0 && **p != '.')) {
            return NGX_DECLINED;
        }

        (*p)++;

        if (ngx_svc_zone_number(p, last, parts[i].max, parts[i].value)
            != NGX_OK
            || *parts[i].value < parts[i].min)
        {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


/*
 * Returns the time of a change in a year, by the clock before the change, as if
 * that were UTC.
 */

static int64_t
ngx_svc_zone_change_at(const ngx_svc_zone_change_t *change, int64_t year)
{
    int64_t  day, first, next;

    switch (change->kind) {

    case 'M':
        first = ngx_svc_time_days(year, change->month, 1);
        next = ngx_svc_time_days(change->month == 12 ? year + 1 : year,
                                 change->month == 12 ? 1 : change->month + 1,
                                 1);

        /* 1970-01-01 was a Thursday */

        day = first + ((change->day - 4 - first) % 7 + 7) % 7
              + (change->week - 1) * 7;

        if (day >= next) {
            day -= 7;
        }

        break;

    case 'J':
        day = ngx_svc_time_days(year, 1, change->day);

        if (change->day >= 60 && ngx_svc_time_leap(year)) {
            day++;
        }

        break;

    default:
        day = ngx_svc_time_days(year, 1, 1) + change->day;
    }

    return day * NGX_SVC_ZONE_DAY + change->time;
}


static int64_t
ngx_svc_zone_year(int64_t at)
{
    return ngx_svc_time_year((at >= 0 ? at : at - (NGX_SVC_ZONE_DAY - 1))
                             / NGX_SVC_ZONE_DAY);
}
