/*
 * A look at the servers on which there are no sessions.
 */

#ifndef _NGX_SVC_PG_PROBE_H_INCLUDED_
#define _NGX_SVC_PG_PROBE_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/* At a process's start and end; and once a second. */
ngx_int_t ngx_svc_pg_probe_init(ngx_cycle_t *cycle, ngx_svc_pg_conf_t *conf);
void ngx_svc_pg_probe_exit(void);
void ngx_svc_pg_probe(void);


#endif /* _NGX_SVC_PG_PROBE_H_INCLUDED_ */
