/*
 * The index of the search for users, into which a task takes them: changes of
 * users leave it alone.
 */

#include "ngx_svc_admin_user_index.h"


#define NGX_SVC_ADMIN_USER_INDEX  1000      /* users in a round */


#include "ngx_svc_admin_user_index.sql.h"


ngx_svc_pg_task_t  ngx_svc_admin_user_index = {
    .statement = &ngx_svc_sql_admin_user_index,
    .pool = NGX_SVC_PG_WRITE,
    .period = 60000,
    .pause = 1000,
    .full = NGX_SVC_ADMIN_USER_INDEX,
    .failed = "users cannot be taken into the index of the search"
};
