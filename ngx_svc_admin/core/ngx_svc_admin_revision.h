/*
 * The revision of a tenant's governance.  A change of governance first locks
 * the tenant's row, by a statement of its own, so that the next statement sees
 * what earlier changes have done; it then moves the revision if something has
 * changed.
 */

#ifndef _NGX_SVC_ADMIN_REVISION_H_INCLUDED_
#define _NGX_SVC_ADMIN_REVISION_H_INCLUDED_


#include "ngx_svc_admin.h"


/* Locks the tenant's row; its result is the revision. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_governance_lock;


#endif /* _NGX_SVC_ADMIN_REVISION_H_INCLUDED_ */
