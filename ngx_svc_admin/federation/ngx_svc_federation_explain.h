/*
 * What a test of a connection has found, step by step, in sentences for whoever
 * administers the tenant.
 */

#ifndef _NGX_SVC_FEDERATION_EXPLAIN_H_INCLUDED_
#define _NGX_SVC_FEDERATION_EXPLAIN_H_INCLUDED_


#include "ngx_svc_federation_step.h"


/*
 * Writes the members "outcome", "user", "steps", "claims", "attributes" and
 * "groups", of the request's pool and of NGX_SVC_SEALED_MAX bytes at most, and
 * sets flow->outcome.  Neither tokens nor secrets are among them.  found is
 * NULL where flow->step has failed.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_explain(ngx_svc_federation_flow_t *flow,
    const ngx_svc_federation_found_t *found, ngx_str_t *text);


#endif /* _NGX_SVC_FEDERATION_EXPLAIN_H_INCLUDED_ */
