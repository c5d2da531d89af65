/*
 * The revision of a tenant's governance, and the lock that its changes stand in
 * line for.
 */

#include "ngx_svc_admin_revision.h"


const ngx_svc_pg_statement_t  ngx_svc_sql_admin_governance_lock = {
    .name = "admin_governance_lock",
    .text =
        "SELECT revision FROM svc.governance"
        " WHERE tenant_id = " NGX_SVC_TENANT " FOR NO KEY UPDATE"
};
