/*
 * The outbox of events: its statements.
 */

#ifndef _NGX_SVC_WEBHOOK_OUTBOX_SQL_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OUTBOX_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


/* $1: how many tenants at most. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_take;

/* One value: in how many ms one is due, negative: it is, NULL: none will be. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_rest;

/*
 * $1: ms that a delivery may take before it is looked for.  Always one row, if
 * the tenant has an outbox: its first columns are those up to EXPIRED, and what
 * follows them is NULL when there is no delivery to be queued.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_look;

enum {
    NGX_SVC_WEBHOOK_O_EXPIRED = 0,      /* deliveries that were given up */
    NGX_SVC_WEBHOOK_O_DELIVERY,
    NGX_SVC_WEBHOOK_O_EVENT_ID,
    NGX_SVC_WEBHOOK_O_ENDPOINT,
    NGX_SVC_WEBHOOK_O_EVENT,            /* its name */
    NGX_SVC_WEBHOOK_O_USER,
    NGX_SVC_WEBHOOK_O_EMAIL,            /* NULL: the user is gone */
    NGX_SVC_WEBHOOK_O_AT
};


#endif /* _NGX_SVC_WEBHOOK_OUTBOX_SQL_H_INCLUDED_ */
