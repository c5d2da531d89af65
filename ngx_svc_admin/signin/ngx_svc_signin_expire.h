/*
 * What sign-ins leave behind, and nobody needs any more.
 */

#ifndef _NGX_SVC_SIGNIN_EXPIRE_H_INCLUDED_
#define _NGX_SVC_SIGNIN_EXPIRE_H_INCLUDED_


#include "ngx_svc_pg_task.h"


extern ngx_svc_pg_task_t  ngx_svc_signin_expire;


#endif /* _NGX_SVC_SIGNIN_EXPIRE_H_INCLUDED_ */
