/*
 * The state of AI agents, which is computed, and never stored.
 */

#ifndef _NGX_SVC_AGENT_STATE_H_INCLUDED_
#define _NGX_SVC_AGENT_STATE_H_INCLUDED_


#include "ngx_svc_sql.h"


/*
 * SQL, of a row of svc.application.  owner: the status of its owner, NULL of
 * one that has none.
 */

#define NGX_SVC_AGENT_STATE(a, owner)                                         \
    "CASE WHEN NOT " a ".enabled THEN 'disabled'"                             \
    " WHEN " a ".expires_at <= now() THEN 'expired'"                          \
    " WHEN " owner " IS DISTINCT FROM 'active' THEN 'orphaned'"               \
    " ELSE 'active' END"

/* Its words, as a query may have them. */
#define NGX_SVC_AGENT_STATES  "active", "disabled", "expired", "orphaned"

/* How many anomalies nobody has acknowledged, up to 10,000. */

#define NGX_SVC_AGENT_ANOMALIES(client_id)                                    \
    "(SELECT count(*) FROM ("                                                 \
        "SELECT FROM svc.agent_anomaly k"                                     \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.client_id BETWEEN " client_id " AND " client_id           \
            " AND k.acknowledged_at IS NULL"                                  \
        " ORDER BY k.client_id LIMIT 10000) k)"


#endif /* _NGX_SVC_AGENT_STATE_H_INCLUDED_ */
