/*
 * The rule in the footer of a TZif file: a POSIX TZ string, as RFC 8536, 3.3
 * extends it.
 */

#ifndef _NGX_SVC_ZONE_RULE_H_INCLUDED_
#define _NGX_SVC_ZONE_RULE_H_INCLUDED_


#include "ngx_svc_common.h"


/* A day of each year, and a time of that day. */

typedef struct {
    ngx_uint_t           kind;      /* 'J', 'M', or 0: days of the year, with
                                       February 29 */
    int32_t              day;       /* 'J': 1..365; 0: 0..365; 'M': 0..6, 0 is
                                       Sunday */
    int32_t              week;      /* 1..5; 5 is the last */
    int32_t              month;
    int32_t              time;      /* seconds, by the clock before the change;
                                       may be negative, or more than a day */
} ngx_svc_zone_change_t;

typedef struct {
    int32_t                standard;    /* seconds east of UTC */
    int32_t                summer;      /* seconds east of UTC */
    ngx_svc_zone_change_t  start;       /* of summer time */
    ngx_svc_zone_change_t  end;         /* of summer time */
    unsigned               changes:1;   /* 0: standard time all year */
} ngx_svc_zone_rule_t;


/* Parses a rule.  Returns NGX_OK, or NGX_DECLINED when the text is none. */
ngx_int_t ngx_svc_zone_rule_parse(ngx_svc_zone_rule_t *rule,
    const u_char *text, size_t len);

/*
 * Returns the seconds east of UTC at a time, which is in seconds since the
 * epoch.
 */
int32_t ngx_svc_zone_rule_offset(const ngx_svc_zone_rule_t *rule, int64_t at);


#endif /* _NGX_SVC_ZONE_RULE_H_INCLUDED_ */
