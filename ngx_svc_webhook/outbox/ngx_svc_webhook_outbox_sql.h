/*
 * The statements of the outbox.
 */

#ifndef _NGX_SVC_WEBHOOK_OUTBOX_SQL_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_OUTBOX_SQL_H_INCLUDED_


#include "ngx_svc_pg.h"


/* $1: number of tenants, at most. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_take;

/* Answers ms until a tenant is due; negative: one is; NULL: none will be. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_rest;

/*
 * $1: ms that a delivery may take before it is looked for.  Answers at least
 * one row if the tenant has an outbox.  Columns after EXPIRED are NULL if
 * there is no delivery to be queued.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_outbox_look;

enum {
    NGX_SVC_WEBHOOK_O_EXPIRED = 0,      /* deliveries that were given up */
    NGX_SVC_WEBHOOK_O_DELIVERY,
    NGX_SVC_WEBHOOK_O_EVENT_ID,
    NGX_SVC_WEBHOOK_O_ENDPOINT,
    NGX_SVC_WEBHOOK_O_EVENT,            /* the event's name */
    NGX_SVC_WEBHOOK_O_USER,
    NGX_SVC_WEBHOOK_O_EMAIL,            /* NULL: the user is gone */
    NGX_SVC_WEBHOOK_O_AT
};


#endif /* _NGX_SVC_WEBHOOK_OUTBOX_SQL_H_INCLUDED_ */
