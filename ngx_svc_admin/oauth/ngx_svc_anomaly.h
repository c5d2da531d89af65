/*
 * Anomalies of agents that are recorded where a request of theirs is refused.
 */

#ifndef _NGX_SVC_ANOMALY_H_INCLUDED_
#define _NGX_SVC_ANOMALY_H_INCLUDED_


#include "ngx_svc_pg.h"


/* The types that are recorded here; the sweep finds the others. */

#define NGX_SVC_ANOMALY_SCOPE_DENIED     "scope_denied"
#define NGX_SVC_ANOMALY_AUDIENCE_DENIED  "audience_denied"
#define NGX_SVC_ANOMALY_DISABLED_USE     "disabled_use"
#define NGX_SVC_ANOMALY_EXPIRED_USE      "expired_use"
#define NGX_SVC_ANOMALY_SECRET_REUSE     "secret_reuse"

/*
 * Its parameters are bound by hand: a clientId; a type; and the details, the
 * text of a JSON object with "ip", "country", "requestId" and lists of at most
 * 20 values, and never with a token or a secret.  Members that are null are
 * left out.  The tenant is the transaction's: its first statement sets
 * svc.tenant.
 *
 * An agent has one row for each type and hour, or day for expired_use; an
 * anomaly that occurs again is added to that row.  The statement returns its
 * "id", and "created", which is t if the row is new and the audit log has it;
 * it returns no row if the client is no agent.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_anomaly;

/* Counts a new anomaly in the metric of its type, whoever has found it. */
void ngx_svc_anomaly_count(const ngx_str_t *type);


#endif /* _NGX_SVC_ANOMALY_H_INCLUDED_ */
