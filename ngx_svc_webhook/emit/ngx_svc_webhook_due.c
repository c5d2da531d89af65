/*
 * In a worker: tells the outbox which tenants have events to be queued.
 *
 * A tenant is named once in a second, by an event of its own: that deliveries
 * could not be queued becomes known in the midst of handling an answer of
 * PostgreSQL.
 */

#include "ngx_svc_webhook_due.h"
#include "ngx_svc_helper_op.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_DUE_TENANTS  64     /* tenants at a time */
#define NGX_SVC_WEBHOOK_DUE_DELAY    10     /* ms until the first op */
#define NGX_SVC_WEBHOOK_DUE_AGAIN    1000   /* ms between ops of a tenant */


typedef struct {
    ngx_svc_pg_op_t  *op;               /* under way, or NULL */
    ngx_msec_t        since;
    ngx_str_t         tenant;           /* empty: never used */
    unsigned          wanted:1;         /* not yet sent */
    u_char            text[NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_webhook_due_t;


static ngx_svc_webhook_due_t *ngx_svc_webhook_due_place(
    const ngx_str_t *tenant);
static void ngx_svc_webhook_due_timer(ngx_event_t *ev);
static void ngx_svc_webhook_due_tell(ngx_svc_webhook_due_t *due);
static void ngx_svc_webhook_due_told(ngx_svc_pg_op_t *op);


#include "ngx_svc_webhook_due.sql.h"


static ngx_svc_webhook_due_t  ngx_svc_webhook_dues[NGX_SVC_WEBHOOK_DUE_TENANTS];
static ngx_event_t            ngx_svc_webhook_due_event;


void
ngx_svc_webhook_due_init(ngx_cycle_t *cycle)
{
    ngx_svc_webhook_due_event.handler = ngx_svc_webhook_due_timer;
    ngx_svc_webhook_due_event.data = ngx_svc_webhook_dues;
    ngx_svc_webhook_due_event.log = cycle->log;
}


void
ngx_svc_webhook_due_exit(void)
{
    ngx_uint_t              i;
    ngx_svc_webhook_due_t  *due;

    for (i = 0; i < NGX_SVC_WEBHOOK_DUE_TENANTS; i++) {
        due = &ngx_svc_webhook_dues[i];

        if (due->op) {
            ngx_svc_pg_cancel(due->op);
            ngx_destroy_pool(due->op->pool);
            due->op = NULL;
        }
    }

    if (ngx_svc_webhook_due_event.timer_set) {
        ngx_del_timer(&ngx_svc_webhook_due_event);
    }
}


void
ngx_svc_webhook_due(const ngx_str_t *tenant)
{
    ngx_svc_webhook_due_t  *due;

    if (tenant->len != NGX_SVC_UUID_TEXT_LEN) {
        return;
    }

    due = ngx_svc_webhook_due_place(tenant);

    if (due == NULL) {
        return;
    }

    ngx_memcpy(due->text, tenant->data, NGX_SVC_UUID_TEXT_LEN);

    due->tenant.data = due->text;
    due->tenant.len = NGX_SVC_UUID_TEXT_LEN;
    due->since = ngx_current_msec;
    due->wanted = 1;

    if (!ngx_svc_webhook_due_event.timer_set) {
        ngx_add_timer(&ngx_svc_webhook_due_event, NGX_SVC_WEBHOOK_DUE_DELAY);
    }
}


/*
 * Returns the place that was used the longest ago.  NULL: none is free, or the
 * tenant was named just now.
 */

static ngx_svc_webhook_due_t *
ngx_svc_webhook_due_place(const ngx_str_t *tenant)
{
    ngx_uint_t              i;
    ngx_svc_webhook_due_t  *due, *place;

    place = NULL;

    for (i = 0; i < NGX_SVC_WEBHOOK_DUE_TENANTS; i++) {
        due = &ngx_svc_webhook_dues[i];

        if (due->tenant.len == tenant->len
            && ngx_memcmp(due->text, tenant->data, tenant->len) == 0
            && ngx_current_msec - due->since < NGX_SVC_WEBHOOK_DUE_AGAIN)
        {
            return NULL;
        }

        if (!due->wanted && due->op == NULL
            && (place == NULL
                || (ngx_msec_int_t) (due->since - place->since) < 0))
        {
            place = due;
        }
    }

    return place;
}


static void
ngx_svc_webhook_due_timer(ngx_event_t *ev)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_WEBHOOK_DUE_TENANTS; i++) {
        if (ngx_svc_webhook_dues[i].wanted) {
            ngx_svc_webhook_due_tell(&ngx_svc_webhook_dues[i]);
        }
    }
}


static void
ngx_svc_webhook_due_tell(ngx_svc_webhook_due_t *due)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    due->wanted = 0;

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE, &due->tenant, 1,
                                  ngx_svc_webhook_due_told, due);
    if (op == NULL) {
        return;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_webhook_outbox_due);

    if (call == NULL
        || ngx_svc_pg_bind_int(op, call, ngx_svc_webhook_conf()->outbox)
           != NGX_OK
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return;
    }

    due->op = op;
}


static void
ngx_svc_webhook_due_told(ngx_svc_pg_op_t *op)
{
    ngx_svc_webhook_due_t *due = op->data;

    ngx_destroy_pool(op->pool);
    due->op = NULL;
}
