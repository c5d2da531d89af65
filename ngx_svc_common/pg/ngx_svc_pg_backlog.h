/*
 * Tenants that wait for connections, or have some, and what their share is.
 */

#ifndef _NGX_SVC_PG_BACKLOG_H_INCLUDED_
#define _NGX_SVC_PG_BACKLOG_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/* One of the pool's, in which nothing waits. */
void ngx_svc_pg_backlog_init(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_backlog_t *backlog);

/*
 * That of a tenant (16 bytes), or of our own work: NULL.  Of the pool's memory;
 * NULL when that runs out.
 */
ngx_svc_pg_backlog_t *ngx_svc_pg_backlog_get(ngx_svc_pg_pool_t *pool,
    const u_char *tenant);

/* One in which nothing waits any more, or that a connection has left. */
void ngx_svc_pg_backlog_unused(ngx_svc_pg_backlog_t *backlog);

/*
 * The one, other than "but", whose turn it is of those that have less than
 * their share of the connections; or NULL.
 */
ngx_svc_pg_backlog_t *ngx_svc_pg_backlog_owed(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_backlog_t *but);


#endif /* _NGX_SVC_PG_BACKLOG_H_INCLUDED_ */
