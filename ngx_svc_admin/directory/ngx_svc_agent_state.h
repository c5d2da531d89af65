/*
 * The state of AI agents, which is computed and never stored.
 */

#ifndef _NGX_SVC_AGENT_STATE_H_INCLUDED_
#define _NGX_SVC_AGENT_STATE_H_INCLUDED_




/* The states, as a query may name them. */
#define NGX_SVC_AGENT_STATES  "active", "disabled", "expired", "orphaned"


#endif /* _NGX_SVC_AGENT_STATE_H_INCLUDED_ */
