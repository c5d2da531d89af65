/*
 * /v1/admin/webhooks/{id}/deliveries and /v1/admin/webhooks/{id}/test.
 */

#include "ngx_svc_webhook_api.h"
#include "ngx_svc_webhook_emit.h"
#include "ngx_svc_webhook_target.h"


#define NGX_SVC_WEBHOOK_ATTEMPT_SIZE  320   /* first guess, in bytes */

#define NGX_SVC_WEBHOOK_NO_QUEUE                                              \
    "Redis, which keeps deliveries, is down: nothing was sent, try again."


/* What a test makes up, until its reply. */

typedef struct {
    u_char    id[NGX_SVC_WEBHOOK_ID];
    u_char    event_id[NGX_SVC_WEBHOOK_ID];
} ngx_svc_webhook_test_t;


static void ngx_svc_webhook_attempt_write(ngx_svc_json_writer_t *w,
    PGresult *res, int row);


#define NGX_SVC_WEBHOOK_ATTEMPTS_OF                                           \
    " FROM svc.webhook_attempt a WHERE a.tenant_id = " NGX_SVC_TENANT         \
    " AND a.endpoint_id = $1 AND a.created_at >= now() - interval '7 days'"

#define NGX_SVC_WEBHOOK_OF                                                    \
    " FROM svc.webhook_endpoint w WHERE w.tenant_id = " NGX_SVC_TENANT        \
    " AND w.id = $1"

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_attempts = {
    .name = "webhook_attempts",
    .text =
        "SELECT a.delivery_id, a.event_id, a.event, a.attempt, a.outcome,"
            " a.status, a.duration_ms, a.error, a.created_at"
        NGX_SVC_WEBHOOK_ATTEMPTS_OF
        " ORDER BY a.created_at DESC, a.delivery_id DESC, a.attempt DESC"
        " LIMIT $2::int4 OFFSET $3::int4",
    .nparams = 3
};

/* no row: there is no such endpoint */

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_attempts_total = {
    .name = "webhook_attempts_total",
    .text =
        "SELECT (SELECT count(*)" NGX_SVC_WEBHOOK_ATTEMPTS_OF ")"
        NGX_SVC_WEBHOOK_OF,
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_webhook_test = {
    .name = "webhook_test",
    .text =
        "WITH w AS ("
            "SELECT w.id, w.url, w.enabled" NGX_SVC_WEBHOOK_OF
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " target_name, details)"
            " SELECT 'webhook.tested', 'webhook', w.id::text, "
                NGX_SVC_WEBHOOK_HOST_OF("w.url") ","
                " jsonb_build_object('deliveryId', $2::text)"
            " FROM w WHERE w.enabled"
        ")"
        " SELECT w.enabled FROM w",
    .nparams = 2
};

ngx_svc_pg_statements_t  ngx_svc_webhook_deliveries_statements[] = {
    &ngx_svc_sql_webhook_attempts,
    &ngx_svc_sql_webhook_attempts_total,
    &ngx_svc_sql_webhook_test,
    NULL
};


ngx_int_t
ngx_svc_webhook_deliveries_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_pg_call_t  *call;

    rc = ngx_svc_page_create(sr);
    if (rc != NGX_OK) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_attempts);

    rc = ngx_svc_param_uuid(sr, 0, call, NGX_SVC_WEBHOOK_NONE);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_page_bind(sr, call) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_param_uuid(sr, 0,
                              ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_attempts_total),
                              NGX_SVC_WEBHOOK_NONE);
}


ngx_int_t
ngx_svc_webhook_deliveries_reply(ngx_svc_request_t *sr)
{
    if (PQntuples(sr->results[1]) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_WEBHOOK_NONE);
    }

    return ngx_svc_page_send(sr, "deliveries", NGX_SVC_WEBHOOK_ATTEMPT_SIZE,
                             sr->results[0], sr->results[1],
                             ngx_svc_webhook_attempt_write);
}


ngx_int_t
ngx_svc_webhook_test_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_svc_pg_call_t       *call;
    ngx_svc_webhook_test_t  *test;

    if (!ngx_svc_redis_ready()) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s",
                            NGX_SVC_WEBHOOK_NO_QUEUE);
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_webhook_test);

    rc = ngx_svc_param_uuid(sr, 0, call, NGX_SVC_WEBHOOK_NONE);
    if (rc != NGX_OK) {
        return rc;
    }

    test = ngx_palloc(sr->request->pool, sizeof(ngx_svc_webhook_test_t));

    if (test == NULL
        || ngx_svc_webhook_id(test->id) != NGX_OK
        || ngx_svc_webhook_id(test->event_id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, test->id, NGX_SVC_WEBHOOK_ID);
    sr->data = test;

    return NGX_OK;
}


ngx_int_t
ngx_svc_webhook_test_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_str_t                tenant;
    ngx_svc_json_writer_t    w;
    ngx_svc_webhook_test_t  *test;

    test = sr->data;

    if (PQntuples(sr->results[0]) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_WEBHOOK_NONE);
    }

    if (!ngx_svc_column_true(sr->results[0], 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The webhook is disabled: enable it first, with "
                            "PATCH and {\"enabled\":true}.");
        return ngx_svc_send_error(sr);
    }

    tenant = ngx_svc_pg_value(sr->op->results[0], 0, 0);

    rc = ngx_svc_webhook_emit_test(&tenant, &sr->params[0], test->id,
                                   test->event_id);

    if (rc == NGX_DECLINED) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s",
                            NGX_SVC_WEBHOOK_NO_QUEUE);
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 128) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "id", test->id, NGX_SVC_WEBHOOK_ID);
    ngx_svc_json_plain(&w, "eventId", test->event_id, NGX_SVC_WEBHOOK_ID);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}


static void
ngx_svc_webhook_attempt_write(ngx_svc_json_writer_t *w, PGresult *res, int row)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_column_text(w, "id", res, row, 0);
    ngx_svc_column_text(w, "eventId", res, row, 1);
    ngx_svc_column_text(w, "event", res, row, 2);
    ngx_svc_column_raw(w, "attempt", res, row, 3);
    ngx_svc_column_text(w, "outcome", res, row, 4);
    ngx_svc_column_raw(w, "status", res, row, 5);
    ngx_svc_column_raw(w, "durationMs", res, row, 6);
    ngx_svc_column_text(w, "error", res, row, 7);
    ngx_svc_column_time(w, "createdAt", res, row, 8);
    ngx_svc_json_close(w, '}');
}
