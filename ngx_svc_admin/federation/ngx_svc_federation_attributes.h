/*
 * What else an identity provider says of a person: the attributes that a
 * connection maps, and groups.
 */

#ifndef _NGX_SVC_FEDERATION_ATTRIBUTES_H_INCLUDED_
#define _NGX_SVC_FEDERATION_ATTRIBUTES_H_INCLUDED_


#include "ngx_svc_federation_flow.h"
#include "ngx_svc_id_token.h"


/* Take the groups, and the attributes, of an account that there is. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_attributes;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_groups_lock;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_groups;


/*
 * Takes what the claims say into flow->proof, of what it has not said yet.
 * Returns NGX_OK; NGX_AGAIN when the provider may say more elsewhere;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_attributes(ngx_svc_federation_flow_t *flow,
    const cJSON *claims);

/*
 * For a write, behind what makes the user: adds what stores the attributes,
 * unless the account is a new one, and the groups.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_attributes_calls(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_FEDERATION_ATTRIBUTES_H_INCLUDED_ */
