/*
 * /v1/admin/webhooks/{id}/deliveries and /v1/admin/webhooks/{id}/test.
 */

#include "ngx_svc_outbound_target.h"
#include "ngx_svc_webhook_api.h"
#include "ngx_svc_webhook_emit.h"

#include "ngx_svc_auth.h"


#define NGX_SVC_WEBHOOK_NO_QUEUE                                              \
    "Redis, which keeps deliveries, is down: nothing was sent, try again."

#define NGX_SVC_WEBHOOK_NOT_QUEUED                                            \
    "Redis, which keeps deliveries, has not confirmed this one: it may not be"\
    " sent, try again."


static ngx_int_t ngx_svc_webhook_test_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_webhook_test_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_webhook_test_reply(ngx_svc_request_t *sr);
static void ngx_svc_webhook_test_enqueued(ngx_int_t rc, void *data);
static void ngx_svc_webhook_test_gone(void *data);
static ngx_int_t ngx_svc_webhook_test_answer(ngx_svc_request_t *sr);


#include "ngx_svc_webhook_deliveries.sql.h"


const ngx_svc_route_t  ngx_svc_webhook_deliveries[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/webhooks/*/deliveries"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_webhook_attempts_total,
                      &ngx_svc_sql_webhook_attempts },
      .list = "deliveries",
      .total = &ngx_svc_sql_webhook_attempts_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/webhooks/*/test"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .check = ngx_svc_webhook_test_check,
      .statements = { &ngx_svc_sql_webhook_test },
      .reply = ngx_svc_webhook_test_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_webhook_test_check(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_redis_ready() ? NGX_OK
                                 : ngx_svc_fail(&sr->error,
                                                NGX_SVC_E_UNAVAILABLE, "%s",
                                                NGX_SVC_WEBHOOK_NO_QUEUE);
}


/* Binds the id of the delivery. */

static ngx_int_t
ngx_svc_webhook_test_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_webhook_test_t  *test;

    test = ngx_palloc(sr->request->pool, sizeof(ngx_svc_webhook_test_t));

    if (test == NULL
        || ngx_svc_random_id(test->id) != NGX_OK
        || ngx_svc_random_id(test->event_id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, test->id, NGX_SVC_ID_DIGITS);
    sr->data = test;

    return NGX_OK;
}


/*
 * Answers when Redis has confirmed that the test is queued: the outbox does
 * not have it.
 */

static ngx_int_t
ngx_svc_webhook_test_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_str_t                tenant;
    ngx_http_cleanup_t      *cln;
    ngx_svc_webhook_test_t  *test;

    test = sr->data;
    tenant = ngx_svc_auth_tenant(sr->op->results);

    cln = ngx_http_cleanup_add(sr->request, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    test->handler = ngx_svc_webhook_test_enqueued;
    test->data = sr;

    rc = ngx_svc_webhook_emit_test(&tenant, &sr->params[0], test);

    if (rc == NGX_DECLINED) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s",
                            NGX_SVC_WEBHOOK_NO_QUEUE);
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_webhook_test_gone;
    cln->data = test;

    sr->request->main->count++;

    return NGX_DONE;
}


static void
ngx_svc_webhook_test_enqueued(ngx_int_t rc, void *data)
{
    ngx_svc_request_t *sr = data;

    ngx_connection_t        *c;
    ngx_http_request_t      *r;
    ngx_svc_webhook_test_t  *test;

    test = sr->data;
    test->call = NULL;

    r = sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    if (rc == NGX_OK) {
        rc = ngx_svc_webhook_test_answer(sr);

    } else {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s",
                            NGX_SVC_WEBHOOK_NOT_QUEUED);
        rc = ngx_svc_send_error(sr);
    }

    ngx_http_finalize_request(r, rc);

    ngx_http_run_posted_requests(c);
}


static void
ngx_svc_webhook_test_gone(void *data)
{
    ngx_svc_webhook_test_t *test = data;

    if (test->call) {
        ngx_svc_webhook_enqueue_cancel(test->call);
    }
}


static ngx_int_t
ngx_svc_webhook_test_answer(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t    w;
    ngx_svc_webhook_test_t  *test;

    test = sr->data;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 128) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "id", test->id, NGX_SVC_ID_DIGITS);
    ngx_svc_json_plain(&w, "eventId", test->event_id, NGX_SVC_ID_DIGITS);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}
