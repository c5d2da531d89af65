/*
 * Whom a test of a connection would let in, and by how many factors.
 */

#ifndef _NGX_SVC_FEDERATION_EXPLAIN_ROW_H_INCLUDED_
#define _NGX_SVC_FEDERATION_EXPLAIN_ROW_H_INCLUDED_


#include "ngx_svc_federation_step.h"


/* Write the steps that say so, and why. */
void ngx_svc_federation_explain_row(ngx_svc_federation_explain_t *e);
void ngx_svc_federation_explain_factor(ngx_svc_federation_explain_t *e);


#endif /* _NGX_SVC_FEDERATION_EXPLAIN_ROW_H_INCLUDED_ */
