/*
 * The key of /v1/admin/saml-idp.
 */

#ifndef _NGX_SVC_ADMIN_SAML_IDP_KEY_H_INCLUDED_
#define _NGX_SVC_ADMIN_SAML_IDP_KEY_H_INCLUDED_


#include "ngx_svc_admin.h"


/* Of a later round trip: keeps a key, unless the tenant has one. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_saml_idp_key;

/*
 * For a reply whose last result says that the tenant has no key, by "_slug" of
 * whom: has one made and stored, and then the route's statements run again,
 * and its reply is called.  Returns what a reply returns.
 */
ngx_int_t ngx_svc_admin_saml_idp_make(ngx_svc_request_t *sr, PGresult *res);


#endif /* _NGX_SVC_ADMIN_SAML_IDP_KEY_H_INCLUDED_ */
