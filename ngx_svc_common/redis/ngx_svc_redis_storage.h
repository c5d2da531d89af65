/*
 * Whether Redis keeps what is stored in it.
 */

#ifndef _NGX_SVC_REDIS_STORAGE_H_INCLUDED_
#define _NGX_SVC_REDIS_STORAGE_H_INCLUDED_


#include "ngx_svc_redis.h"


/*
 * While Redis is up: asks it whether it may throw away or lose what is stored
 * in it, of which the log warns.  A Redis that does not tell is left alone.
 */
NGX_SVC_API void ngx_svc_redis_check_storage(void);


#endif /* _NGX_SVC_REDIS_STORAGE_H_INCLUDED_ */
