/*
 * The index of the search for users: a task takes the users of big tenants into
 * it once a minute.
 */

#ifndef _NGX_SVC_ADMIN_USER_INDEX_H_INCLUDED_
#define _NGX_SVC_ADMIN_USER_INDEX_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_pg_task.h"


/* The task of a worker. */
extern ngx_svc_pg_task_t  ngx_svc_admin_user_index;


#endif /* _NGX_SVC_ADMIN_USER_INDEX_H_INCLUDED_ */
