/*
 * Deletes attempts that are older than a week.
 */

#include "ngx_svc_webhook_expire.h"


#include "ngx_svc_webhook_expire.sql.h"


ngx_svc_pg_task_t  ngx_svc_webhook_expire = {
    .statement = &ngx_svc_sql_webhook_expire,
    .pool = NGX_SVC_PG_WRITE,
    .period = 3600000,
    .pause = 1000,
    .full = 1000,
    .failed = "old attempts to deliver webhooks cannot be deleted"
};
