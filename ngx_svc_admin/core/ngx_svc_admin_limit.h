/*
 * How often a tenant may have something done that takes others' time, or that
 * an e-mail address is sent.
 */

#ifndef _NGX_SVC_ADMIN_LIMIT_H_INCLUDED_
#define _NGX_SVC_ADMIN_LIMIT_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_limit.h"


/*
 * For a reply: counts the request of a tenant, and then returns what next()
 * does, or answers 429; the first refusal of a window is audited.  what: "has
 * domains verified", for the message.
 */
ngx_int_t ngx_svc_admin_limit(ngx_svc_request_t *sr,
    ngx_svc_limit_family_e family, const u_char tenant[NGX_SVC_UUID_LEN],
    const char *what, ngx_int_t (*next)(ngx_svc_request_t *sr));

/*
 * The same of an address: the caller sets the family and the mac of limit,
 * which lives as long as the request.  what: "has been sent links".
 */
ngx_int_t ngx_svc_admin_limit_address(ngx_svc_request_t *sr,
    ngx_svc_limit_t *limit, const char *what,
    ngx_int_t (*next)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_ADMIN_LIMIT_H_INCLUDED_ */
