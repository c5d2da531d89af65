/*
 * A task of worker 0: deletes sessions, challenges and other rows of sign-ins
 * that are over.
 */

#ifndef _NGX_SVC_SIGNIN_EXPIRE_H_INCLUDED_
#define _NGX_SVC_SIGNIN_EXPIRE_H_INCLUDED_


#include "ngx_svc_pg_task.h"


extern ngx_svc_pg_task_t  ngx_svc_signin_expire;


#endif /* _NGX_SVC_SIGNIN_EXPIRE_H_INCLUDED_ */
