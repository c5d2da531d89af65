/*
 * The account of somebody who comes from another server for the first time.
 */

#ifndef _NGX_SVC_FEDERATION_ACCOUNT_H_INCLUDED_
#define _NGX_SVC_FEDERATION_ACCOUNT_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/* Waits for whoever else makes an account, or a link, by the same subject. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_federation_account_lock;

/*
 * For a reply: makes the account that flow->proof is of, by an invitation or
 * without, and signs its user in at login->stage.
 */
ngx_int_t ngx_svc_federation_account(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_ACCOUNT_H_INCLUDED_ */
