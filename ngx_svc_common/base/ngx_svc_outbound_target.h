/*
 * Where requests of ours may go: URLs, and addresses to connect to.
 */

#ifndef _NGX_SVC_OUTBOUND_TARGET_H_INCLUDED_
#define _NGX_SVC_OUTBOUND_TARGET_H_INCLUDED_


#include "ngx_svc_addr.h"
#include "ngx_svc_error.h"


#define NGX_SVC_OUTBOUND_URL    2048    /* bytes, at most */
#define NGX_SVC_OUTBOUND_PLAIN  "http://"


/*
 * Returns NULL if requests may go to the address, else its kind, such as
 * "loopback", for messages.  allow: ngx_svc_cidr_t, of addresses that are
 * allowed whatever their kind.
 */
NGX_SVC_API const char *ngx_svc_outbound_address(const ngx_svc_addr_t *addr,
    const ngx_array_t *allow);

/*
 * Checks whether a tenant may set the URL.  It is refused in any spelling that
 * a parser of URLs takes for a name or an address that is refused.  The
 * addresses of a name are not known before a request connects.  plain: 1 if
 * "http://" is taken, too, before a loopback address that is allowed.  path:
 * the member's, for messages.
 *
 * Returns NGX_OK, or NGX_DECLINED with err set (NGX_SVC_E_INVALID_VALUE).
 */
NGX_SVC_API ngx_int_t ngx_svc_outbound_url(const ngx_str_t *url,
    const ngx_array_t *allow, ngx_uint_t plain, const char *path,
    ngx_svc_error_t *err);


#endif /* _NGX_SVC_OUTBOUND_TARGET_H_INCLUDED_ */
