/*
 * The key of /v1/admin/saml-idp.
 */

#ifndef _NGX_SVC_ADMIN_SAML_IDP_KEY_H_INCLUDED_
#define _NGX_SVC_ADMIN_SAML_IDP_KEY_H_INCLUDED_


#include "ngx_svc_admin.h"


/* Stores a key, unless the tenant has one; runs in a later round trip. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_saml_idp_key;

/*
 * For a reply hook whose last result says, with the tenant's slug, that the
 * tenant has no key: has a key made and stored; then the route's statements run
 * again, and its reply hook is called.  Returns what a reply hook returns.
 */
ngx_int_t ngx_svc_admin_saml_idp_make(ngx_svc_request_t *sr,
    const ngx_str_t *slug);


#endif /* _NGX_SVC_ADMIN_SAML_IDP_KEY_H_INCLUDED_ */
