/*
 * Submits the ops of requests to PostgreSQL, once or more often, and tells
 * other processes of what they have changed.
 *
 * The first time that a token writes, or asks for slow work, its credential's
 * statement runs alone in the read pool beforehand.  So no op waits there
 * without its tenant being known, and a token that is no good takes no place.
 */

#include "ngx_svc_submit.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_send.h"
#include "ngx_svc_turn.h"


static ngx_int_t ngx_svc_submit_ask(ngx_svc_request_t *sr);
static void ngx_svc_submit_answered(ngx_svc_pg_op_t *op);


static ngx_svc_redis_message_pt  ngx_svc_request_listener;


ngx_int_t
ngx_svc_submit(ngx_svc_request_t *sr)
{
    if (sr->op->kind == NGX_SVC_PG_READ) {
        return ngx_svc_pg_submit(sr->op);
    }

    /* ops of public routes without a known tenant share one turn */

    if (!(sr->route->flags & NGX_SVC_ROUTE_PUBLIC)
        && ngx_svc_turn_find(sr) != NGX_OK)
    {
        return ngx_svc_submit_ask(sr);
    }

    sr->op->tenant = sr->tenant;

    return ngx_svc_pg_submit(sr->op);
}


static ngx_int_t
ngx_svc_submit_ask(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_pg_op_t  *ask;

    ask = ngx_svc_auth_op(sr, sr->request->pool, NGX_SVC_PG_READ,
                          ngx_svc_submit_answered);
    if (ask == NULL) {
        return NGX_ERROR;
    }

    ask->data = sr;

    rc = ngx_svc_pg_submit(ask);

    if (rc == NGX_OK) {
        sr->ask = ask;
    }

    return rc;
}


/* When the credential is refused, the op ends with this result and status. */

static void
ngx_svc_submit_answered(ngx_svc_pg_op_t *ask)
{
    ngx_int_t           rc;
    ngx_str_t           tenant;
    ngx_svc_pg_op_t    *op;
    ngx_svc_request_t  *sr;

    sr = ask->data;
    op = sr->op;

    sr->ask = NULL;

    ngx_str_null(&tenant);

    if (ask->status == NGX_SVC_PG_OK) {
        tenant = ngx_svc_auth_tenant(ask->results);
    }

    if (ngx_svc_turn_learn(sr, &tenant) == NGX_OK) {
        op->tenant = sr->tenant;

        rc = ngx_svc_pg_submit(op);

        if (rc == NGX_OK) {
            return;
        }

        op->status = NGX_SVC_PG_BUSY;

    } else {
        op->results = ask->results;
        op->error = ask->error;

        /* the op was not sent, so it is known that nothing was written */

        op->status = (ask->status == NGX_SVC_PG_LOST)
                     ? NGX_SVC_PG_UNAVAILABLE : ask->status;
    }

    op->handler(op);
}


ngx_int_t
ngx_svc_request_again(ngx_svc_request_t *sr, ngx_svc_pg_pool_e kind,
    ngx_int_t (*prepare)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    ngx_int_t  rc;

    ngx_svc_pg_op_reset(sr->op);

    sr->op->kind = kind;
    sr->reply = reply;

    rc = ngx_svc_auth_call(sr);

    if (kind == NGX_SVC_PG_WRITE) {
        sr->op->committed = ngx_svc_request_committed;
    }

    if (rc == NGX_OK) {
        rc = prepare(sr);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_submit(sr);
    }

    if (rc != NGX_OK && sr->held) {
        return reply(sr);
    }

    switch (rc) {

    case NGX_OK:
        sr->request->main->count++;
        return NGX_DONE;

    case NGX_BUSY:
        return ngx_svc_send_busy(sr);

    case NGX_DECLINED:
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* Called also when the client has gone: others still wait for the change. */

void
ngx_svc_request_committed(const ngx_svc_pg_results_t *results)
{
    ngx_str_t  tenant;

    if (ngx_svc_committed_tenant(results, &tenant) != NGX_OK) {
        return;
    }

    if (ngx_svc_request_listener && !ngx_svc_redis_subscribed()) {
        ngx_svc_request_listener(&tenant);
    }

    ngx_svc_redis_publish(NGX_SVC_AUDIT_CHANNEL, &tenant);
}


ngx_int_t
ngx_svc_committed_tenant(const ngx_svc_pg_results_t *results,
    ngx_str_t *tenant)
{
    if (results == NULL) {
        ngx_str_set(tenant, "*");
        return NGX_OK;
    }

    *tenant = ngx_svc_auth_tenant(results);

    return tenant->data ? NGX_OK : NGX_DECLINED;
}


void
ngx_svc_request_listen(ngx_svc_redis_message_pt handler)
{
    ngx_svc_request_listener = handler;
}
