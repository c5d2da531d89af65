/*
 * The conninfo of the configuration.
 */

#ifndef _NGX_SVC_PG_CONNINFO_H_INCLUDED_
#define _NGX_SVC_PG_CONNINFO_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * While the configuration is read: parses conninfo, resolves host names, since
 * libpq would block on them in a worker, and fills keywords and values; the
 * address list is as of now, a reload refreshes it.  Returns NGX_CONF_OK, or a
 * message.
 */
char *ngx_svc_pg_conninfo(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf);


#endif /* _NGX_SVC_PG_CONNINFO_H_INCLUDED_ */
