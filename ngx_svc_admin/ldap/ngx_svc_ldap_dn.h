/*
 * Distinguished names.
 */

#ifndef _NGX_SVC_LDAP_DN_H_INCLUDED_
#define _NGX_SVC_LDAP_DN_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Sets what two names of one entry have in common, of the pool: characters are
 * escaped in one way, there are no spaces around separators, and letters of
 * ASCII are small.  Returns NGX_OK; NGX_DECLINED when it is no name (RFC 4514);
 * or NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_dn_key(ngx_pool_t *pool, const ngx_str_t *dn,
    ngx_str_t *key);


#endif /* _NGX_SVC_LDAP_DN_H_INCLUDED_ */
