/*
 * From a proof to a user: one table of rules, and the function that goes
 * through it.
 */

#ifndef _NGX_SVC_FEDERATION_MATCH_H_INCLUDED_
#define _NGX_SVC_FEDERATION_MATCH_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * What the rules look at.  In a write it says, under the user's lock, whether
 * all is as it was read: it is the "check" of the method.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_match;

/*
 * For a reply, or from an event: reads whom flow->proof is of, and ends the
 * sign-in.  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_read(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_MATCH_H_INCLUDED_ */
