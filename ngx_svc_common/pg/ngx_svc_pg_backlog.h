/*
 * The backlogs of tenants that wait for connections or have some, and their
 * share of the connections.
 */

#ifndef _NGX_SVC_PG_BACKLOG_H_INCLUDED_
#define _NGX_SVC_PG_BACKLOG_H_INCLUDED_


#include "ngx_svc_pg_conn.h"


/* Makes an empty backlog of the pool. */
void ngx_svc_pg_backlog_init(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_backlog_t *backlog);

/*
 * Returns the backlog of a tenant, or makes one, from the pool's memory.
 * tenant: 16 bytes; NULL: our own work.  Returns NULL when memory runs out.
 */
ngx_svc_pg_backlog_t *ngx_svc_pg_backlog_get(ngx_svc_pg_pool_t *pool,
    const u_char *tenant);

/*
 * Frees a backlog for others to use, unless ops wait in it or connections carry
 * its ops.  Called when the last op or a connection has left it.
 */
void ngx_svc_pg_backlog_unused(ngx_svc_pg_backlog_t *backlog);

/*
 * Returns the backlog, other than "but", whose turn comes first among those
 * that have less than their share of the connections; or NULL.
 */
ngx_svc_pg_backlog_t *ngx_svc_pg_backlog_owed(ngx_svc_pg_pool_t *pool,
    ngx_svc_pg_backlog_t *but);


#endif /* _NGX_SVC_PG_BACKLOG_H_INCLUDED_ */
