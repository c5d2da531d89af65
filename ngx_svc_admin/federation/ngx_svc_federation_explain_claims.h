/*
 * What came in a test of a connection, and what was made of it.
 */

#ifndef _NGX_SVC_FEDERATION_EXPLAIN_CLAIMS_H_INCLUDED_
#define _NGX_SVC_FEDERATION_EXPLAIN_CLAIMS_H_INCLUDED_


#include "ngx_svc_federation_step.h"


/* Writes an array of what came, but for what is a secret, or a token. */
void ngx_svc_federation_explain_claims(ngx_svc_federation_explain_t *e);

/* Write arrays of the attributes and the groups that are mapped. */
void ngx_svc_federation_explain_attributes(ngx_svc_federation_explain_t *e);
void ngx_svc_federation_explain_groups(ngx_svc_federation_explain_t *e);


#endif /* _NGX_SVC_FEDERATION_EXPLAIN_CLAIMS_H_INCLUDED_ */
