/*
 * Where deliveries may go: URLs of endpoints, and addresses to connect to.
 */

#ifndef _NGX_SVC_WEBHOOK_TARGET_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_TARGET_H_INCLUDED_


#include "ngx_svc_addr.h"
#include "ngx_svc_error.h"


#define NGX_SVC_WEBHOOK_URL  2048       /* bytes, at most */


/*
 * NULL when a delivery may go to the address; otherwise what it is, such as
 * "loopback", for messages.  allow: ngx_svc_cidr_t, of addresses that are good
 * whatever they are.
 */
const char *ngx_svc_webhook_address(const ngx_svc_addr_t *addr,
    const ngx_array_t *allow);

/*
 * Whether an endpoint may have the URL, in any of the spellings that a parser
 * of URLs takes for a name or an address that is refused.  What a name leads to
 * is not known before a delivery connects.  path: of the URL, for messages.
 *
 * NGX_OK, or NGX_DECLINED with err set (NGX_SVC_E_INVALID_VALUE).
 */
ngx_int_t ngx_svc_webhook_url(const ngx_str_t *url, const ngx_array_t *allow,
    const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_WEBHOOK_TARGET_H_INCLUDED_ */
