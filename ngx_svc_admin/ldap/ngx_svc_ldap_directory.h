/*
 * A directory, from its row.
 */

#ifndef _NGX_SVC_LDAP_DIRECTORY_H_INCLUDED_
#define _NGX_SVC_LDAP_DIRECTORY_H_INCLUDED_


#include "ngx_svc_ldap.h"


#define NGX_SVC_LDAP_NO_DIRECTORY  "The tenant has no directory."


/* Reads the tenant's directory. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_ldap_directory;


/*
 * Copies the statement's row to the pool, and unseals its password, which is
 * wiped with the pool.  sr: the request that the log names; NULL: none.
 * Returns NGX_OK; NGX_DECLINED, with a line in the log, when that cannot be
 * unsealed; or NGX_ERROR.
 */
ngx_int_t ngx_svc_ldap_directory(ngx_svc_request_t *sr, ngx_pool_t *pool,
    PGresult *res, ngx_svc_ldap_directory_t *directory);


#endif /* _NGX_SVC_LDAP_DIRECTORY_H_INCLUDED_ */
