/*
 * The statements that write rows of the delivery log, and audit events.
 */

#include "ngx_svc_webhook_record_write.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_outbound_target.h"


static void ngx_svc_webhook_row_write(ngx_svc_json_writer_t *w,
    ngx_svc_webhook_row_t *row);


#include "ngx_svc_webhook_record_write.sql.h"


static const char  *ngx_svc_webhook_outcomes[] = {
    "acknowledged", "retried", "abandoned", "refused", "abandoned"
};


ngx_int_t
ngx_svc_webhook_record_bind(ngx_svc_webhook_batch_t *batch, ngx_svc_pg_op_t *op)
{
    ngx_queue_t            *q;
    ngx_svc_pg_call_t      *call;
    ngx_svc_json_writer_t   w;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_webhook_record);

    if (call == NULL
        || ngx_svc_json_writer_init(&w, op->pool, batch->nsent * 400)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    for (q = ngx_queue_head(&batch->sent);
         q != ngx_queue_sentinel(&batch->sent);
         q = ngx_queue_next(q))
    {
        ngx_svc_webhook_row_write(&w, ngx_queue_data(q, ngx_svc_webhook_row_t,
                                                     queue));
    }

    ngx_svc_json_close(&w, ']');

    if (w.failed) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, w.start, w.last - w.start);

    return NGX_OK;
}


static void
ngx_svc_webhook_row_write(ngx_svc_json_writer_t *w, ngx_svc_webhook_row_t *row)
{
    const char  *outcome;

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "endpoint", row->endpoint, sizeof(row->endpoint));
    ngx_svc_json_boolean(w, "audit", row->audit);

    if (row->more) {
        ngx_svc_json_integer(w, "more", row->more);
        ngx_svc_json_close(w, '}');
        return;
    }

    outcome = ngx_svc_webhook_outcomes[row->outcome];

    ngx_svc_json_integer(w, "began", row->began);
    ngx_svc_json_plain(w, "delivery", row->id, sizeof(row->id));
    ngx_svc_json_integer(w, "attempt", row->attempt);
    ngx_svc_json_plain(w, "event_id", row->event_id, sizeof(row->event_id));
    ngx_svc_json_plain(w, "event", row->event, row->event_len);
    ngx_svc_json_plain(w, "outcome", (u_char *) outcome, ngx_strlen(outcome));
    ngx_svc_json_integer(w, "duration", row->duration);

    if (row->status) {
        ngx_svc_json_integer(w, "status", row->status);
    }

    if (row->error_len) {
        ngx_svc_json_string(w, "error", row->error, row->error_len);
    }

    ngx_svc_json_close(w, '}');
}
