/*
 * The conninfo of the configuration.
 */

#ifndef _NGX_SVC_PG_CONNINFO_H_INCLUDED_
#define _NGX_SVC_PG_CONNINFO_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * Parses conninfo while the configuration is read, and sets keywords and
 * values.  Host names are resolved here, since libpq would block on them in a
 * worker; a reload resolves them again.  Returns NGX_CONF_OK, or a message.
 */
char *ngx_svc_pg_conninfo(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf);


#endif /* _NGX_SVC_PG_CONNINFO_H_INCLUDED_ */
