/*
 * What is unusual of agents, and told where a request of theirs is refused.
 */

#ifndef _NGX_SVC_ANOMALY_H_INCLUDED_
#define _NGX_SVC_ANOMALY_H_INCLUDED_


#include "ngx_svc_pg.h"


/* The types; others come from the sweep. */

#define NGX_SVC_ANOMALY_SCOPE_DENIED     "scope_denied"
#define NGX_SVC_ANOMALY_AUDIENCE_DENIED  "audience_denied"
#define NGX_SVC_ANOMALY_DISABLED_USE     "disabled_use"
#define NGX_SVC_ANOMALY_EXPIRED_USE      "expired_use"
#define NGX_SVC_ANOMALY_SECRET_REUSE     "secret_reuse"

/*
 * Parameters, bound by hand: a clientId; a type; and the details, the text of a
 * JSON object: "ip", "country", "requestId", and lists of at most 20 values,
 * never a token or a secret; what is null is left out.  The tenant is that of
 * the transaction, which begins with the statement that sets svc.tenant.
 *
 * Of an hour, and of expired_use of a day, an agent has one row of a type:
 * what comes again is added to it.  It answers with its "id", and "created", t
 * for a new one, which is in the audit log then; without a row when the client
 * is no agent.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_anomaly;

/* For the metrics: one that is new, of either kind, by its type. */
void ngx_svc_anomaly_count(const ngx_str_t *type);


#endif /* _NGX_SVC_ANOMALY_H_INCLUDED_ */
