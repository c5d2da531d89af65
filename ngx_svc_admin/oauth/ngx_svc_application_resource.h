/*
 * Resource URIs of applications: the audiences of tokens for them.
 */

#ifndef _NGX_SVC_APPLICATION_RESOURCE_H_INCLUDED_
#define _NGX_SVC_APPLICATION_RESOURCE_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_APPLICATION_RESOURCE  512   /* bytes */


/*
 * Normalizes an absolute URI without a fragment and without a user (RFC 3986).
 * key: room for len + 1 bytes, which gets what is the same however the URI is
 * written (6.2.2, 6.2.3).  Returns NGX_OK, or NGX_DECLINED: it is no such URI.
 */
ngx_int_t ngx_svc_application_resource(const ngx_str_t *uri, ngx_str_t *key);


#endif /* _NGX_SVC_APPLICATION_RESOURCE_H_INCLUDED_ */
