/*
 * All attributes of a User (RFC 7643, 4.1, 4.3 and 8.7.1), also those that are
 * not stored: a strict PATCH may name these.
 */

#ifndef _NGX_SVC_SCIM_KNOWN_H_INCLUDED_
#define _NGX_SVC_SCIM_KNOWN_H_INCLUDED_


#include "ngx_svc_common.h"


/* NGX_SVC_SCIM_K_...: flags of an attribute */

#define NGX_SVC_SCIM_K_MULTI      0x01      /* takes a value filter */
#define NGX_SVC_SCIM_K_READ_ONLY  0x02
#define NGX_SVC_SCIM_K_REQUIRED   0x04
#define NGX_SVC_SCIM_K_IGNORED    0x08      /* read-only; clients that set it
                                               mean another attribute */
#define NGX_SVC_SCIM_K_NO_TARGET  0x10      /* its filter matches nothing */


/*
 * Looks up the attribute of a path that ngx_svc_scim_path_parse() takes, other
 * than the bare URN of a schema.  Returns NGX_OK with *flags; NGX_DECLINED when
 * RFC 7643 has no such attribute of a User, or no filter there.
 */
ngx_int_t ngx_svc_scim_known(const u_char *text, size_t len,
    ngx_uint_t *flags);


#endif /* _NGX_SVC_SCIM_KNOWN_H_INCLUDED_ */
