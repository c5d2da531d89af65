/*
 * Scopes of applications.
 */

#ifndef _NGX_SVC_APPLICATION_SCOPE_H_INCLUDED_
#define _NGX_SVC_APPLICATION_SCOPE_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_APPLICATION_SCOPE  64   /* bytes */


/* Returns 1 for a scope-token (RFC 6749, 3.3) that is not too long. */
ngx_uint_t ngx_svc_application_scope(const ngx_str_t *text);


#endif /* _NGX_SVC_APPLICATION_SCOPE_H_INCLUDED_ */
