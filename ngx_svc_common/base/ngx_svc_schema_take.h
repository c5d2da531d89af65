/*
 * The values of members; between ngx_svc_schema.c and ngx_svc_schema_take.c.
 */

#ifndef _NGX_SVC_SCHEMA_TAKE_H_INCLUDED_
#define _NGX_SVC_SCHEMA_TAKE_H_INCLUDED_


#include "ngx_svc_schema.h"


/*
 * Reads value->json into value->str or value->integer, as the member's type
 * says; 0 when its type or its limits forbid it.
 */
ngx_uint_t ngx_svc_schema_take(const ngx_svc_member_t *member,
    ngx_svc_value_t *value);

/* 1: nothing of the string, which ends with a NUL, counts for this member. */
ngx_uint_t ngx_svc_schema_blank(const ngx_svc_member_t *member,
    const u_char *string);


#endif /* _NGX_SVC_SCHEMA_TAKE_H_INCLUDED_ */
