/*
 * AI agents, which are applications of the type "agent": what their routes
 * share.
 */

#ifndef _NGX_SVC_AGENT_H_INCLUDED_
#define _NGX_SVC_AGENT_H_INCLUDED_


#include "ngx_svc_agent_state.h"
#include "ngx_svc_application.h"
#include "ngx_svc_bind.h"


#define NGX_SVC_AGENT_AUDIENCES  100    /* in a policy, at most */

#define NGX_SVC_NO_AGENT  "There is no agent with this clientId."


/*
 * Reads the agent that the path names.  Routes that change an agent answer
 * with its row.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_get;


/*
 * The body of a policy, all of whose members may be absent.  The check sets
 * keys, in the request's pool: the keys of allowedAudiences, in their order.
 */

typedef struct {
    ngx_svc_value_t  enabled;
    ngx_svc_value_t  max_ttl;
    ngx_svc_value_t  scopes;
    ngx_svc_value_t  audiences;
    ngx_str_t        keys;          /* array of SQL as text; no data: none */
} ngx_svc_agent_policy_t;

extern const ngx_svc_member_t  ngx_svc_agent_policy_members[];

ngx_int_t ngx_svc_agent_policy_check(ngx_svc_request_t *sr, void *body);
ngx_int_t ngx_svc_agent_bind_keys(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#endif /* _NGX_SVC_AGENT_H_INCLUDED_ */
