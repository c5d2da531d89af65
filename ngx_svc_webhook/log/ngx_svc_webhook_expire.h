/*
 * Deletes attempts that are older than a week, once an hour.
 */

#ifndef _NGX_SVC_WEBHOOK_EXPIRE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_EXPIRE_H_INCLUDED_


#include "ngx_svc_pg_task.h"


/* Run by the helper. */
extern ngx_svc_pg_task_t  ngx_svc_webhook_expire;


#endif /* _NGX_SVC_WEBHOOK_EXPIRE_H_INCLUDED_ */
