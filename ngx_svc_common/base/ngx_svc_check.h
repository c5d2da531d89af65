/*
 * Checks of members that hold a time or an address, for validation tables.
 */

#ifndef _NGX_SVC_CHECK_H_INCLUDED_
#define _NGX_SVC_CHECK_H_INCLUDED_


#include "ngx_svc_schema.h"


/* Checks that a string is one IPv4 or IPv6 address. */
NGX_SVC_API ngx_int_t ngx_svc_check_addr(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/* Checks that a string is an RFC 3339 time in the future. */
NGX_SVC_API ngx_int_t ngx_svc_check_expiry(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_CHECK_H_INCLUDED_ */
