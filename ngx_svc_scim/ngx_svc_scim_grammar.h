/*
 * The grammar of attribute paths (RFC 7644, 3.5.2).
 */

#ifndef _NGX_SVC_SCIM_GRAMMAR_H_INCLUDED_
#define _NGX_SVC_SCIM_GRAMMAR_H_INCLUDED_


#include "ngx_svc_common.h"


/* Absent parts are empty; all point into the text that was parsed. */

typedef struct {
    ngx_str_t  urn;
    ngx_str_t  name;
    ngx_str_t  sub;
} ngx_svc_scim_attr_path_t;


/*
 * Parses [URI ":"] ATTRNAME ["." subAttr], and nothing else.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_scim_attr_path(const u_char *p, const u_char *end,
    ngx_svc_scim_attr_path_t *path);

/*
 * Returns the end of a sub-attribute's name at p, which may be "$ref" (RFC
 * 7643, 2.3.7); p when there is none.
 */
const u_char *ngx_svc_scim_sub_attr(const u_char *p, const u_char *end);

/* Returns whether two names are the same in any case. */
ngx_uint_t ngx_svc_scim_name_is(const ngx_str_t *name, const ngx_str_t *text);


#endif /* _NGX_SVC_SCIM_GRAMMAR_H_INCLUDED_ */
