/*
 * Looks at the timelines of servers that we have no connections to.
 */

#ifndef _NGX_SVC_PG_PROBE_H_INCLUDED_
#define _NGX_SVC_PG_PROBE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/* Called when a process starts. */
ngx_int_t ngx_svc_pg_probe_init(ngx_cycle_t *cycle, ngx_svc_pg_conf_t *conf);

/* Called when a process ends. */
void ngx_svc_pg_probe_exit(void);

/* Called once a second. */
void ngx_svc_pg_probe(void);


#endif /* _NGX_SVC_PG_PROBE_H_INCLUDED_ */
