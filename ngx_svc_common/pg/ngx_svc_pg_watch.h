/*
 * Looks after the connections of a process.
 */

#ifndef _NGX_SVC_PG_WATCH_H_INCLUDED_
#define _NGX_SVC_PG_WATCH_H_INCLUDED_


#include "ngx_svc_pg.h"


/* Called when a process starts, after ngx_svc_pg_init_worker(). */
NGX_SVC_API ngx_int_t ngx_svc_pg_watch_init(ngx_cycle_t *cycle,
    ngx_svc_pg_conf_t *conf);

/* Called when a process ends, before ngx_svc_pg_exit_worker(). */
NGX_SVC_API void ngx_svc_pg_watch_exit(void);

/* Gives up connections on lower timelines, when more may be known of them. */
void ngx_svc_pg_watch(void);


#endif /* _NGX_SVC_PG_WATCH_H_INCLUDED_ */
