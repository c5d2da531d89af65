/*
 * The common parts of the statements about a tenant's domains.
 */

#ifndef _NGX_SVC_ADMIN_DOMAIN_H_INCLUDED_
#define _NGX_SVC_ADMIN_DOMAIN_H_INCLUDED_


#include "ngx_svc_admin.h"


#define NGX_SVC_ADMIN_DOMAIN_RECORD  "_svc-challenge."  /* before the domain */
#define NGX_SVC_ADMIN_DOMAIN_VALUE   "svc-verify="      /* before the token */
#define NGX_SVC_ADMIN_NO_DOMAIN      "The tenant has no such domain."


/* The first "*" of the path: a domain in any spelling, or 404. */
#define ngx_svc_param_path_domain()                                           \
    ngx_svc_param_call(ngx_svc_admin_domain_bind)

ngx_svc_bind_function(ngx_svc_admin_domain_bind);

/* Reads the domain that the path names. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_domain_read;


#endif /* _NGX_SVC_ADMIN_DOMAIN_H_INCLUDED_ */
