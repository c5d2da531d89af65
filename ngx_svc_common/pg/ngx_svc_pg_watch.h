/*
 * Who looks after the sessions of a process.
 */

#ifndef _NGX_SVC_PG_WATCH_H_INCLUDED_
#define _NGX_SVC_PG_WATCH_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * At a process's start, behind ngx_svc_pg_init_worker(); and end, before
 * ngx_svc_pg_exit_worker().
 */
NGX_SVC_API ngx_int_t ngx_svc_pg_watch_init(ngx_cycle_t *cycle,
    ngx_svc_pg_conf_t *conf);
NGX_SVC_API void ngx_svc_pg_watch_exit(void);

/* More may be known of timelines: sessions on lower ones are given up. */
void ngx_svc_pg_watch(void);


#endif /* _NGX_SVC_PG_WATCH_H_INCLUDED_ */
