/*
 * Bidirectional control characters (UAX 9): they let a name be shown as
 * another one, and what stands beside it as a part of it.  U+061C, U+200E,
 * U+200F, U+202A to U+202E, and U+2066 to U+2069.
 */

#ifndef _NGX_SVC_BIDI_H_INCLUDED_
#define _NGX_SVC_BIDI_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_schema.h"


/* Of text in UTF-8: 1: it has some; and takes them out, in place. */
NGX_SVC_API ngx_uint_t ngx_svc_bidi(const ngx_str_t *text);
NGX_SVC_API void ngx_svc_bidi_strip(ngx_str_t *text);

/* A check of a member that is a name: it has none. */
NGX_SVC_API ngx_int_t ngx_svc_check_name(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_BIDI_H_INCLUDED_ */
