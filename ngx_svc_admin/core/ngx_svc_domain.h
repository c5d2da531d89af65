/*
 * Names of hosts, as DNS and certificates have them.
 */

#ifndef _NGX_SVC_DOMAIN_H_INCLUDED_
#define _NGX_SVC_DOMAIN_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_DOMAIN_MAX   253        /* bytes of a name (RFC 1035, 3.1) */
#define NGX_SVC_DOMAIN_TEXT  1024       /* bytes of UTF-8 in a request */


/*
 * Converts a text to A-labels (RFC 5890), in lower case: by UTS #46, not
 * transitional, so that "faß.example" is not "fass.example"; a dot at its end
 * is dropped.  The name must have at least two labels, of letters, digits and
 * hyphens, and must not be an IP address in any notation.  Returns NGX_OK;
 * NGX_DECLINED with *why, a static text that follows the name of the member;
 * NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_domain_parse(const ngx_str_t *text,
    u_char name[NGX_SVC_DOMAIN_MAX], size_t *len, const char **why);


#endif /* _NGX_SVC_DOMAIN_H_INCLUDED_ */
