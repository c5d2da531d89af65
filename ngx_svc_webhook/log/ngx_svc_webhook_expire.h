/*
 * Attempts that are older than a week: deleted once an hour.
 */

#ifndef _NGX_SVC_WEBHOOK_EXPIRE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_EXPIRE_H_INCLUDED_


#include "ngx_svc_webhook_op.h"


extern ngx_svc_pg_statements_t  ngx_svc_webhook_expire_statements[];


/* At the helper's start and end. */
void ngx_svc_webhook_expire_init(ngx_cycle_t *cycle);
void ngx_svc_webhook_expire_exit(void);


#endif /* _NGX_SVC_WEBHOOK_EXPIRE_H_INCLUDED_ */
