/*
 * Whoever is invited, and comes by another server.
 */

#ifndef _NGX_SVC_FEDERATION_INVITED_H_INCLUDED_
#define _NGX_SVC_FEDERATION_INVITED_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/* Reads the invitation of the flow, or of the proof's address. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_invited;

/*
 * Sets flow->match by the result of that; it stays if there is no invitation.
 */
void ngx_svc_federation_invited_match(ngx_svc_federation_flow_t *flow,
    PGresult *res);

/*
 * For a reply, when flow->proof is nobody's: reads the invitation whose token
 * has begun the flow, or that of the address, and makes the account of it; or
 * refuses.
 */
ngx_int_t ngx_svc_federation_invited(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_INVITED_H_INCLUDED_ */
