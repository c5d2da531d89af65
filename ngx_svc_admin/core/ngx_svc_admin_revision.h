/*
 * The revision of a tenant's governance.  Whoever changes governance first
 * locks the tenant's row, by a statement of its own, so that the next one sees
 * what those before have done; and then moves the revision if something has
 * changed.
 */

#ifndef _NGX_SVC_ADMIN_REVISION_H_INCLUDED_
#define _NGX_SVC_ADMIN_REVISION_H_INCLUDED_


#include "ngx_svc_admin.h"


/* Locks; its result is the revision. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_governance_lock;


#endif /* _NGX_SVC_ADMIN_REVISION_H_INCLUDED_ */
