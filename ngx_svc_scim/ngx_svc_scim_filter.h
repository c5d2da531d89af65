/*
 * The filter of GET /Users (RFC 7644, 3.4.2.2), as far as it is recognised.
 */

#ifndef _NGX_SVC_SCIM_FILTER_H_INCLUDED_
#define _NGX_SVC_SCIM_FILTER_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_SCIM_CORE_URN                                                 \
    "urn:ietf:params:scim:schemas:core:2.0:User"
#define NGX_SVC_SCIM_ENTERPRISE_URN                                           \
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


typedef enum {
    NGX_SVC_SCIM_FILTER_NONE = 0,
    NGX_SVC_SCIM_FILTER_USER_NAME,
    NGX_SVC_SCIM_FILTER_EXTERNAL_ID
} ngx_svc_scim_filter_e;

typedef struct {
    ngx_svc_scim_filter_e  attribute;
    ngx_str_t              value;       /* unescaped, in the caller's buffer */
} ngx_svc_scim_filter_t;


/*
 * Recognises `attribute eq "value"`: the attribute is userName or externalId,
 * also with the core URN and a colon in front, both in any case; the value is a
 * JSON string.  White space around is allowed.  text is already URL-decoded.
 * buf has room for len bytes, and holds the value afterwards.
 *
 * Returns NGX_OK; NGX_DECLINED, with attribute NGX_SVC_SCIM_FILTER_NONE, for
 * any other filter, also when the value is not valid UTF-8 or has a NUL.
 */
ngx_int_t ngx_svc_scim_filter_parse(const u_char *text, size_t len,
    u_char *buf, ngx_svc_scim_filter_t *filter);


#endif /* _NGX_SVC_SCIM_FILTER_H_INCLUDED_ */
