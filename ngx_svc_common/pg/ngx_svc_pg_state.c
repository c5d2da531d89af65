/*
 * The states of a connection.
 */

#include "ngx_svc_pg_state.h"


static ngx_svc_gauge_e ngx_svc_pg_conn_gauge(ngx_svc_pg_conn_t *conn);


void
ngx_svc_pg_conn_count(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_gauge_add(ngx_svc_pg_conn_gauge(conn), 1);
}


void
ngx_svc_pg_conn_state(ngx_svc_pg_conn_t *conn, ngx_svc_pg_state_e state)
{
    ngx_svc_gauge_add(ngx_svc_pg_conn_gauge(conn), -1);

    conn->state = state;

    ngx_svc_gauge_add(ngx_svc_pg_conn_gauge(conn), 1);
}


static ngx_svc_gauge_e
ngx_svc_pg_conn_gauge(ngx_svc_pg_conn_t *conn)
{
    switch (conn->state) {

    case NGX_SVC_PG_CONNECTING:
    case NGX_SVC_PG_SETTING_UP:
        return ngx_svc_gauge_pg(conn->pool->kind, NGX_SVC_G_PG_CONNECTING);

    case NGX_SVC_PG_READY:
        return ngx_svc_gauge_pg(conn->pool->kind, NGX_SVC_G_PG_READY);

    default:
        return ngx_svc_gauge_pg(conn->pool->kind, NGX_SVC_G_PG_CLOSED);
    }
}


/*
 * Ops are sent in the middle of other work, such as reading from the same
 * connection.  So a connection is only marked here, and is closed by an event
 * of its own.
 */

void
ngx_svc_pg_conn_break(ngx_svc_pg_conn_t *conn)
{
    ngx_svc_pg_conn_state(conn, NGX_SVC_PG_BROKEN);

    if (!conn->close.posted) {
        ngx_post_event(&conn->close, &ngx_posted_events);
    }
}
