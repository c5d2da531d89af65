/*
 * The time windows of a rule.
 */

#ifndef _NGX_SVC_ACCESS_WINDOW_H_INCLUDED_
#define _NGX_SVC_ACCESS_WINDOW_H_INCLUDED_


#include "ngx_svc_access_policy.h"


/* The names of days, in the order of a mask's bits: bit 0 is Monday. */
extern const ngx_str_t  ngx_svc_access_days[NGX_SVC_ACCESS_DAYS];


/* Reads the array "timeWindows" of rule n. */
ngx_int_t ngx_svc_access_windows(const ngx_svc_access_parse_t *parse,
    ngx_uint_t n, cJSON *array, ngx_svc_access_rule_t *rule);


#endif /* _NGX_SVC_ACCESS_WINDOW_H_INCLUDED_ */
