/*
 * The directive that names Redis: one server, or sentinels.
 */

#ifndef _NGX_SVC_REDIS_SERVER_H_INCLUDED_
#define _NGX_SVC_REDIS_SERVER_H_INCLUDED_


#include "ngx_svc_redis.h"


/*
 * Parses the arguments of svc_redis: "unix:/path", "address[:port]", or
 * "sentinel=name" and the addresses of sentinels.  Names are resolved here, and
 * never again.  Returns NGX_CONF_OK; or NGX_CONF_ERROR or a message when the
 * configuration is wrong.
 */
char *ngx_svc_redis_servers(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf);


#endif /* _NGX_SVC_REDIS_SERVER_H_INCLUDED_ */
