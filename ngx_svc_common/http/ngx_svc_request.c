/*
 * The life of a request: route, token, body, one round trip, answer.
 */

#include "ngx_svc_request.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_body.h"
#include "ngx_svc_envelope.h"
#include "ngx_svc_idempotency.h"
#include "ngx_svc_origin.h"
#include "ngx_svc_request_failed.h"
#include "ngx_svc_router.h"
#include "ngx_svc_send.h"
#include "ngx_svc_submit.h"


static ngx_svc_request_t *ngx_svc_request_create(ngx_http_request_t *r);
static void ngx_svc_request_cleanup(void *data);
static ngx_int_t ngx_svc_request_admit(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_request_refuse(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_request_public(ngx_svc_request_t *sr);
static void ngx_svc_request_run(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_request_body_public(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_request_json(ngx_svc_request_t *sr);
static void ngx_svc_request_submit(ngx_svc_request_t *sr, ngx_int_t rc);
static ngx_int_t ngx_svc_request_op(ngx_svc_request_t *sr);
static ngx_svc_pg_pool_e ngx_svc_request_kind(ngx_svc_request_t *sr);
static void ngx_svc_request_done(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_request_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_request_answer(ngx_svc_request_t *sr);


/*
 * The route is checked first, then that there is a token.  Then PostgreSQL and
 * the body are asked: if the credential's statement refuses the request, that
 * is the answer, whatever is wrong with the body.
 */

ngx_int_t
ngx_svc_request_handler(ngx_http_request_t *r)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = ngx_svc_request_create(r);
    if (sr == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_router_find(sr);

    if (rc == NGX_OK) {
        rc = ngx_svc_request_admit(sr);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_request_refuse(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (sr->route->flags & (NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_RAW
                            |NGX_SVC_ROUTE_FORM)
        && sr->error.kind == NGX_SVC_E_NONE)
    {
        return ngx_svc_body_read(sr, ngx_svc_request_run);
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    if (sr->route->flags & NGX_SVC_ROUTE_PUBLIC) {
        return ngx_svc_request_public(sr);
    }

    r->main->count++;
    ngx_svc_request_run(sr);

    return NGX_DONE;
}


static ngx_svc_request_t *
ngx_svc_request_create(ngx_http_request_t *r)
{
    ngx_svc_request_t   *sr;
    ngx_svc_loc_conf_t  *slcf;
    ngx_http_cleanup_t  *cln;

    cln = ngx_http_cleanup_add(r, 0);
    sr = ngx_palloc(r->pool, sizeof(ngx_svc_request_t));

    if (cln == NULL || sr == NULL) {
        return NULL;
    }

    /* the text of an error is not zeroed: it is written before it is read */

    ngx_memzero(sr, offsetof(ngx_svc_request_t, error.detail));

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_svc_common_module);

    sr->request = r;
    sr->surface = slcf->surface;

    cln->handler = ngx_svc_request_cleanup;
    cln->data = sr;

    ngx_http_set_ctx(r, sr, ngx_http_svc_common_module);

    /* else nginx would answer 412 after a change has been made */

    r->disable_not_modified = 1;

    return sr;
}


/*
 * Called when the client has gone, or all is done: no event and no op may call
 * back any more.
 */

static void
ngx_svc_request_cleanup(void *data)
{
    ngx_svc_request_t  *sr = data;

    if (sr->timer.timer_set) {
        ngx_del_timer(&sr->timer);
    }

    if (sr->ask) {
        ngx_svc_pg_cancel(sr->ask);
    }

    if (sr->op) {
        ngx_svc_pg_cancel(sr->op);
    }
}


static ngx_int_t
ngx_svc_request_admit(ngx_svc_request_t *sr)
{
    if (!(sr->route->flags & NGX_SVC_ROUTE_PUBLIC)) {
        return ngx_svc_auth_take(sr);
    }

    return (sr->route->flags & NGX_SVC_ROUTE_ORIGIN) ? ngx_svc_origin_check(sr)
                                                     : NGX_OK;
}


static ngx_int_t
ngx_svc_request_refuse(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_http_discard_request_body(sr->request);

    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_request_public(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    sr->reply = sr->route->reply;
    sr->op = ngx_svc_pg_op_create(sr->request->pool, ngx_svc_request_kind(sr),
                                  ngx_svc_request_done, sr);
    if (sr->op == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = sr->route->prepare(sr);

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (sr->op->ncalls == 0) {
        return rc == NGX_ERROR ? NGX_HTTP_INTERNAL_SERVER_ERROR : rc;
    }

    sr->request->main->count++;
    ngx_svc_request_submit(sr, rc);

    return NGX_DONE;
}


void
ngx_svc_request_public_again(ngx_svc_request_t *sr)
{
    ngx_int_t            rc;
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    rc = sr->route->prepare(sr);

    if (rc == NGX_DECLINED) {
        rc = ngx_svc_send_error(sr);

    } else if (sr->op->ncalls) {
        ngx_svc_request_submit(sr, rc);
        ngx_http_run_posted_requests(c);
        return;
    }

    ngx_http_finalize_request(r, rc);

    ngx_http_run_posted_requests(c);
}


/*
 * The caller has taken a reference of the request, which
 * ngx_svc_request_done() gives back.
 */

static void
ngx_svc_request_run(ngx_svc_request_t *sr)
{
    if (!(sr->route->flags & NGX_SVC_ROUTE_PUBLIC)) {
        ngx_svc_request_submit(sr, ngx_svc_request_op(sr));
        return;
    }

    ngx_http_finalize_request(sr->request, ngx_svc_request_body_public(sr));
}


/*
 * The caller gives its reference back: what waits, or is being sent, takes one
 * of its own.
 */

static ngx_int_t
ngx_svc_request_body_public(ngx_svc_request_t *sr)
{
    if (ngx_svc_request_json(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (sr->error.kind == NGX_SVC_E_NONE) {
        return ngx_svc_request_public(sr);
    }

    return ngx_svc_envelope_rejected(sr) == NGX_OK
           ? ngx_svc_send_error(sr) : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/* Returns NGX_OK also when it sets sr->error. */

static ngx_int_t
ngx_svc_request_json(ngx_svc_request_t *sr)
{
    static ngx_str_t  empty = ngx_string("{}");

    if (!(sr->route->flags & NGX_SVC_ROUTE_JSON)
        || sr->error.kind != NGX_SVC_E_NONE)
    {
        return NGX_OK;
    }

    return ngx_svc_json_parse(sr->request->pool,
                              sr->body.len == 0
                              && sr->route->flags & NGX_SVC_ROUTE_EMPTY
                              ? &empty : &sr->body,
                              &sr->json, &sr->error)
           == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/* rc: NGX_OK: the op is ready. */

static void
ngx_svc_request_submit(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_http_request_t  *r;

    r = sr->request;

    if (rc == NGX_OK) {
        rc = ngx_svc_submit(sr);
    }

    if (rc == NGX_OK) {

        /*
         * A part of the body may still be on its way, when the answer is 413.
         * A request with an idempotency key goes on when its client has gone:
         * the answer is kept for when the client comes back.
         */

        if (!r->reading_body) {
            r->read_event_handler = sr->idempotency_key.data || sr->goes_on
                                    ? ngx_http_block_reading
                                    : ngx_http_test_reading;
        }

        r->write_event_handler = ngx_http_request_empty_handler;
        return;
    }

    if (rc == NGX_BUSY) {
        rc = ngx_svc_send_busy(sr);

    } else {
        rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_finalize_request(r, rc);
}


static ngx_int_t
ngx_svc_request_op(ngx_svc_request_t *sr)
{
    ngx_int_t            rc, (*prepare)(ngx_svc_request_t *sr);
    ngx_svc_pg_pool_e    kind;
    ngx_http_request_t  *r;

    r = sr->request;

    if (ngx_svc_request_json(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    kind = ngx_svc_request_kind(sr);

    prepare = ngx_svc_route_runs(sr->route) ? ngx_svc_route_prepare
                                            : sr->route->prepare;

    sr->reply = sr->route->reply == NULL ? ngx_svc_route_reply
                : ngx_svc_route_runs(sr->route) ? ngx_svc_route_results
                                                : sr->route->reply;
    sr->op = ngx_svc_pg_op_create(r->pool, kind, ngx_svc_request_done, sr);

    if (sr->op == NULL || ngx_svc_auth_call(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    if (sr->error.kind != NGX_SVC_E_NONE || prepare == NULL) {
        return NGX_OK;
    }

    if (kind == NGX_SVC_PG_WRITE) {
        sr->op->committed = ngx_svc_request_committed;
    }

    rc = (sr->route->flags & NGX_SVC_ROUTE_CREATE)
         ? ngx_svc_idempotency_claim(sr) : NGX_OK;

    if (rc == NGX_OK) {
        rc = prepare(sr);
    }

    if (rc == NGX_DECLINED) {

        /* the credential's statements alone, which wait for no turn */

        sr->op->kind = NGX_SVC_PG_READ;
        sr->op->ncalls = sr->op->nhidden + 1;
        sr->op->committed = NULL;
        return NGX_OK;
    }

    return rc;
}


/* A request that is refused still has its credential checked, by a read. */

static ngx_svc_pg_pool_e
ngx_svc_request_kind(ngx_svc_request_t *sr)
{
    if (sr->error.kind != NGX_SVC_E_NONE) {
        return NGX_SVC_PG_READ;
    }

    if (sr->route->flags & NGX_SVC_ROUTE_WRITE_POOL) {
        return NGX_SVC_PG_WRITE;
    }

    return (sr->route->flags & NGX_SVC_ROUTE_SLOW_POOL) ? NGX_SVC_PG_SLOW
                                                        : NGX_SVC_PG_READ;
}


static void
ngx_svc_request_done(ngx_svc_pg_op_t *op)
{
    ngx_int_t            rc;
    ngx_connection_t    *c;
    ngx_svc_request_t   *sr;
    ngx_http_request_t  *r;

    sr = op->data;
    r = sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    rc = ngx_svc_request_reply(sr);

    /* the results end with this call: reply has copied what is needed later */

    ngx_http_finalize_request(r, rc);

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_request_reply(ngx_svc_request_t *sr)
{
    /* the change is made, whether its answer could be kept or not */

    if (sr->held) {
        return ngx_svc_idempotency_kept(sr);
    }

    switch (sr->op->status) {

    case NGX_SVC_PG_OK:
        return ngx_svc_request_answer(sr);

    case NGX_SVC_PG_FAILED:
        return ngx_svc_request_failed(sr);

    case NGX_SVC_PG_BUSY:
        return ngx_svc_send_busy(sr);

    case NGX_SVC_PG_LOST:
        return ngx_svc_send_unavailable(sr,
                       sr->op->kind == NGX_SVC_PG_WRITE
                       ? "The database did not answer: whether the change was "
                         "made is not known."
                       : "The database did not answer: try again.");

    default: /* NGX_SVC_PG_UNAVAILABLE */
        return ngx_svc_send_unavailable(sr,
                       "The database cannot be reached: nothing was done, "
                       "try again.");
    }
}


static ngx_int_t
ngx_svc_request_answer(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    if (!(sr->route->flags & NGX_SVC_ROUTE_PUBLIC)
        && ngx_svc_auth_check(sr) != NGX_OK)
    {
        return ngx_svc_send_error(sr);
    }

    if (sr->error.kind != NGX_SVC_E_NONE) {
        return ngx_svc_send_error(sr);
    }

    /* only the first round trip claims the key */

    if (sr->idempotency_key.data && sr->keep == NULL) {
        rc = ngx_svc_idempotency_reply(sr);

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    return sr->reply(sr);
}
