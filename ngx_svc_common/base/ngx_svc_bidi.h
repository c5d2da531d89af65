/*
 * Bidirectional control characters (UAX 9): U+061C, U+200E, U+200F, U+202A to
 * U+202E, and U+2066 to U+2069.  With them a name can be shown as another name,
 * and the text beside it as a part of it.
 */

#ifndef _NGX_SVC_BIDI_H_INCLUDED_
#define _NGX_SVC_BIDI_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_schema.h"


/* Returns 1 if a text in UTF-8 has such characters. */
NGX_SVC_API ngx_uint_t ngx_svc_bidi(const ngx_str_t *text);

/* Takes such characters out of a text in UTF-8, in place. */
NGX_SVC_API void ngx_svc_bidi_strip(ngx_str_t *text);

/* The check of a member that is a name: it has no such characters. */
NGX_SVC_API ngx_int_t ngx_svc_check_name(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_BIDI_H_INCLUDED_ */
