/*
 * /v1/admin/webhooks/{id}/deliveries, /v1/admin/webhooks/{id}/test, and
 * /v1/admin/webhooks/{id}/deliveries/{deliveryId}/redeliver.
 */

#include "ngx_svc_outbound_target.h"
#include "ngx_svc_webhook_api.h"
#include "ngx_svc_webhook_emit.h"
#include "ngx_svc_webhook_event.h"

#include "ngx_svc_auth.h"


#define NGX_SVC_WEBHOOK_LOOKED  20000   /* events of the audit log that are
                                           looked at for one */

#define NGX_SVC_WEBHOOK_NO_QUEUE                                              \
    "Redis, which keeps deliveries, is down: nothing was sent, try again."

#define NGX_SVC_WEBHOOK_NOT_QUEUED                                            \
    "Redis, which keeps deliveries, has not confirmed this one: it may not be"\
    " sent, try again."

#define NGX_SVC_WEBHOOK_NO_PLACE                                              \
    "The queue of deliveries is full: nothing was sent, try again."

#define NGX_SVC_WEBHOOK_KNOWN_YET                                             \
    "The delivery is under way, or was so less than a minute ago: wait, and"  \
    " look at the deliveries."

#define NGX_SVC_WEBHOOK_NO_DELIVERY                                           \
    "The webhook has no delivery with this id."


static ngx_int_t ngx_svc_webhook_one_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_webhook_test_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_webhook_test_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_webhook_redeliver_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_webhook_redeliver_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_webhook_one_emit(ngx_svc_request_t *sr,
    const ngx_svc_event_t *event);
static void ngx_svc_webhook_one_enqueued(ngx_int_t rc, void *data);
static void ngx_svc_webhook_one_gone(void *data);
static ngx_int_t ngx_svc_webhook_one_answer(ngx_svc_request_t *sr,
    ngx_int_t rc);


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
      .path = ngx_string("/admin/webhooks/*/deliveries/*/redeliver"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .check = ngx_svc_webhook_one_check,
      .statements = { &ngx_svc_sql_webhook_redeliver },
      .reply = ngx_svc_webhook_redeliver_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/webhooks/*/test"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .check = ngx_svc_webhook_one_check,
      .statements = { &ngx_svc_sql_webhook_test },
      .reply = ngx_svc_webhook_test_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_webhook_one_check(ngx_svc_request_t *sr, void *body)
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
    ngx_svc_webhook_one_t  *one;

    one = ngx_palloc(sr->request->pool, sizeof(ngx_svc_webhook_one_t));

    if (one == NULL
        || ngx_svc_random_id(one->id) != NGX_OK
        || ngx_svc_random_id(one->event_id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, one->id, NGX_SVC_ID_DIGITS);
    sr->data = one;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_test_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_webhook_one_emit(sr, NULL);
}


/* Binds the id of the delivery, which is that of the path. */

static ngx_int_t
ngx_svc_webhook_redeliver_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char                  ch;
    ngx_str_t              *id;
    ngx_uint_t              i;
    ngx_svc_webhook_one_t  *one;

    id = &sr->params[1];

    if (id->len != NGX_SVC_ID_DIGITS) {
        goto unknown;
    }

    for (i = 0; i < id->len; i++) {
        ch = id->data[i];

        if ((ch < '0' || ch > '9') && (ch < 'a' || ch > 'f')) {
            goto unknown;
        }
    }

    one = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_webhook_one_t));
    if (one == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(one->id, id->data, NGX_SVC_ID_DIGITS);

    ngx_svc_pg_bind(call, one->id, NGX_SVC_ID_DIGITS);
    sr->data = one;

    return NGX_OK;

unknown:

    return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                        NGX_SVC_WEBHOOK_NO_DELIVERY);
}


/* Sends the event as the outbox would: with the data of the audit log. */

static ngx_int_t
ngx_svc_webhook_redeliver_reply(ngx_svc_request_t *sr)
{
    ngx_svc_event_t                  event;
    ngx_svc_webhook_one_t           *one;
    ngx_svc_row_webhook_redeliver_t  row;

    one = sr->data;

    ngx_svc_row_webhook_redeliver(&row,
                         ngx_svc_result(sr, &ngx_svc_sql_webhook_redeliver),
                         0);

    ngx_memzero(&event, sizeof(ngx_svc_event_t));

    if (row.event_id.len != NGX_SVC_ID_DIGITS
        || ngx_svc_webhook_event_kind(&row.action, &event.kind) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_memcpy(one->event_id, row.event_id.data, NGX_SVC_ID_DIGITS);

    event.tenant = ngx_svc_auth_tenant(sr->op->results);
    event.subscribers = row.endpoint_id;
    event.user = row.target_id;
    event.email = row.user_name;
    event.at = row.at;

    return ngx_svc_webhook_one_emit(sr, &event);
}


/*
 * Answers when Redis has confirmed that the delivery is queued: the outbox
 * does not have it.  event: NULL for a test.
 */

static ngx_int_t
ngx_svc_webhook_one_emit(ngx_svc_request_t *sr, const ngx_svc_event_t *event)
{
    ngx_int_t               rc;
    ngx_str_t               tenant;
    ngx_http_cleanup_t     *cln;
    ngx_svc_webhook_one_t  *one;

    one = sr->data;
    tenant = ngx_svc_auth_tenant(sr->op->results);

    cln = ngx_http_cleanup_add(sr->request, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    one->handler = ngx_svc_webhook_one_enqueued;
    one->data = sr;

    rc = event ? ngx_svc_webhook_emit_again(event, one)
               : ngx_svc_webhook_emit_test(&tenant, &sr->params[0], one);

    if (rc == NGX_DECLINED) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s",
                            NGX_SVC_WEBHOOK_NO_QUEUE);
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_webhook_one_gone;
    cln->data = one;

    sr->request->main->count++;

    return NGX_DONE;
}


static void
ngx_svc_webhook_one_enqueued(ngx_int_t rc, void *data)
{
    ngx_svc_request_t *sr = data;

    ngx_connection_t       *c;
    ngx_http_request_t     *r;
    ngx_svc_webhook_one_t  *one;

    one = sr->data;
    one->call = NULL;

    r = sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_webhook_one_answer(sr, rc));

    ngx_http_run_posted_requests(c);
}


static void
ngx_svc_webhook_one_gone(void *data)
{
    ngx_svc_webhook_one_t *one = data;

    if (one->call) {
        ngx_svc_webhook_enqueue_cancel(one->call);
    }
}


/* rc: as Redis has answered, see ngx_svc_webhook_enqueue.h. */

static ngx_int_t
ngx_svc_webhook_one_answer(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_svc_json_writer_t   w;
    ngx_svc_webhook_one_t  *one;

    one = sr->data;

    switch (rc) {

    case NGX_DECLINED:
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s",
                            NGX_SVC_WEBHOOK_NOT_QUEUED);
        return ngx_svc_send_error(sr);

    case NGX_BUSY:
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE, "%s",
                            NGX_SVC_WEBHOOK_NO_PLACE);
        return ngx_svc_send_error(sr);

    case NGX_DONE:
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CONFLICT, "%s",
                            NGX_SVC_WEBHOOK_KNOWN_YET);
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 128) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "id", one->id, NGX_SVC_ID_DIGITS);
    ngx_svc_json_plain(&w, "eventId", one->event_id, NGX_SVC_ID_DIGITS);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}
