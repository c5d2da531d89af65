/*
 * The check that Redis keeps what is stored in it.
 */

#ifndef _NGX_SVC_REDIS_STORAGE_H_INCLUDED_
#define _NGX_SVC_REDIS_STORAGE_H_INCLUDED_


#include "ngx_svc_redis.h"


/*
 * Asks Redis, when it is up, whether it may evict or lose what is stored in it,
 * and logs a warning then.  Nothing is logged when Redis does not tell.
 */
NGX_SVC_API void ngx_svc_redis_check_storage(void);


#endif /* _NGX_SVC_REDIS_STORAGE_H_INCLUDED_ */
