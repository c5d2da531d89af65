/*
 * The revision of a tenant's governance, and the lock that its changes stand in
 * line for.
 */

#include "ngx_svc_admin_revision.h"


const ngx_svc_pg_statement_t  ngx_svc_admin_revision_statements[] = {

    { "admin_governance_lock",
      "SELECT revision FROM svc.governance"
      " WHERE tenant_id = " NGX_SVC_TENANT " FOR NO KEY UPDATE", 0 },

    { NULL, NULL, 0 }
};

#define NGX_SVC_ADMIN_GOVERNANCE_LOCK  (&ngx_svc_admin_revision_statements[0])


ngx_int_t
ngx_svc_admin_governance_lock(ngx_svc_request_t *sr)
{
    return ngx_svc_pg_call(sr->op, NGX_SVC_ADMIN_GOVERNANCE_LOCK)
           ? NGX_OK : NGX_ERROR;
}
