/*
 * The values of members, for ngx_svc_schema.c.
 */

#ifndef _NGX_SVC_SCHEMA_TAKE_H_INCLUDED_
#define _NGX_SVC_SCHEMA_TAKE_H_INCLUDED_


#include "ngx_svc_schema.h"


/*
 * Reads value->json into value->str or value->integer, as the member's type
 * says.  Returns 0 when the type or the limits forbid the value.
 */
ngx_uint_t ngx_svc_schema_take(const ngx_svc_member_t *member,
    ngx_svc_value_t *value);

/* Returns 1 if a string, which ends with a NUL, is empty for this member. */
ngx_uint_t ngx_svc_schema_blank(const ngx_svc_member_t *member,
    const u_char *string);


#endif /* _NGX_SVC_SCHEMA_TAKE_H_INCLUDED_ */
