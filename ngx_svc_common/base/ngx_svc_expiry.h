/*
 * Times at which something ends.
 */

#ifndef _NGX_SVC_EXPIRY_H_INCLUDED_
#define _NGX_SVC_EXPIRY_H_INCLUDED_


#include "ngx_svc_schema.h"


/* For a member that is a string: an RFC 3339 time in the future. */
NGX_SVC_API ngx_int_t ngx_svc_expiry_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_EXPIRY_H_INCLUDED_ */
