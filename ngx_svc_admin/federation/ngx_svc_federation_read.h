/*
 * Whom a proof is of, and how the sign-in ends.
 */

#ifndef _NGX_SVC_FEDERATION_READ_H_INCLUDED_
#define _NGX_SVC_FEDERATION_READ_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/* Reads the risk, of the user whom svc.found is. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_risk;


/*
 * For a reply, or from an event: reads whom flow->proof is of, and ends the
 * sign-in.  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_read(ngx_svc_federation_flow_t *flow);

/*
 * For a reply: ends the sign-in by the results of these statements, and of the
 * match unless flow->finishes.  tenant begins with :login_tenant.
 */
ngx_int_t ngx_svc_federation_decide(ngx_svc_federation_flow_t *flow,
    PGresult *tenant);

/*
 * Its first half: whether that user may sign in from here and now, and by what
 * risk.  Returns NGX_OK; NGX_DECLINED with sr->error set; NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_judge(ngx_svc_federation_flow_t *flow,
    PGresult *tenant);

/* Its second half: does what flow->match says. */
ngx_int_t ngx_svc_federation_end(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_READ_H_INCLUDED_ */
