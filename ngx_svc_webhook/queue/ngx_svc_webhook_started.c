/*
 * Started attempts: Redis records each attempt before it starts.
 */

#include "ngx_svc_webhook_started.h"
#include "ngx_svc_webhook_ack.h"
#include "ngx_svc_webhook_inflight.h"


typedef struct {
    ngx_svc_webhook_delivery_t   *delivery;
    ngx_svc_webhook_started_pt    handler;
    void                         *data;
} ngx_svc_webhook_start_t;


/* The texts of an attempt for Redis, except the delivery's id. */

typedef struct {
    u_char                        name[NGX_SVC_ID_DIGITS + 1];
    ngx_svc_webhook_number_t      number;
} ngx_svc_webhook_start_text_t;


/* One call to Redis.  The deliveries are not used after their handlers. */

typedef struct {
    ngx_uint_t                    n;
    ngx_svc_webhook_start_t       starts[NGX_SVC_WEBHOOK_BATCH];
} ngx_svc_webhook_starts_t;


static void ngx_svc_webhook_started_send(void);
static ngx_uint_t ngx_svc_webhook_started_args(
    ngx_svc_webhook_starts_t *starts, ngx_str_t *args,
    ngx_svc_webhook_start_text_t *texts);
static void ngx_svc_webhook_started_answered(redisReply *reply, void *data);
static void ngx_svc_webhook_started_done(ngx_svc_webhook_starts_t *starts,
    ngx_uint_t recorded);


static ngx_svc_webhook_starts_t  *ngx_svc_webhook_starts;
static ngx_uint_t                 ngx_svc_webhook_starts_sent;  /* calls under
                                                                   way */
static uint64_t                   ngx_svc_webhook_started_last; /* number of the
                                                                   last
                                                                   attempt */


ngx_int_t
ngx_svc_webhook_started(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_started_pt handler, void *data)
{
    ngx_svc_webhook_start_t   *start;
    ngx_svc_webhook_starts_t  *starts;

    starts = ngx_svc_webhook_starts;

    if (starts == NULL) {
        starts = ngx_alloc(sizeof(ngx_svc_webhook_starts_t), ngx_cycle->log);
        if (starts == NULL) {
            return NGX_ERROR;
        }

        starts->n = 0;
        ngx_svc_webhook_starts = starts;
    }

    start = &starts->starts[starts->n++];
    start->delivery = d;
    start->handler = handler;
    start->data = data;

    if (starts->n == NGX_SVC_WEBHOOK_BATCH) {
        ngx_svc_webhook_started_send();
    }

    return NGX_OK;
}


/* Attempts added while a call is under way go into the next one. */

void
ngx_svc_webhook_started_flush(void)
{
    if (ngx_svc_webhook_starts_sent == 0) {
        ngx_svc_webhook_started_send();
    }
}


static void
ngx_svc_webhook_started_send(void)
{
    ngx_str_t                      args[1 + 4 * NGX_SVC_WEBHOOK_BATCH];
    ngx_uint_t                     n;
    ngx_svc_webhook_starts_t      *starts;
    ngx_svc_webhook_start_text_t   texts[NGX_SVC_WEBHOOK_BATCH];

    starts = ngx_svc_webhook_starts;

    if (starts == NULL) {
        return;
    }

    ngx_svc_webhook_starts = NULL;

    n = ngx_svc_webhook_started_args(starts, args, texts);

    ngx_svc_webhook_starts_sent++;

    if (ngx_svc_redis_call(&ngx_svc_webhook_started_script, args, n, 1,
                           ngx_svc_webhook_started_answered, starts)
        != NGX_OK)
    {
        ngx_svc_webhook_started_answered(NULL, starts);
    }
}


static ngx_uint_t
ngx_svc_webhook_started_args(ngx_svc_webhook_starts_t *starts, ngx_str_t *args,
    ngx_svc_webhook_start_text_t *texts)
{
    u_char                        *p;
    ngx_uint_t                     i, n;
    ngx_svc_webhook_delivery_t    *d;
    ngx_svc_webhook_start_text_t  *text;

    static u_char  digits[] = "0123";

    n = 0;
    args[n++] = *ngx_svc_webhook_inflight_hash();

    for (i = 0; i < starts->n; i++) {
        d = starts->starts[i].delivery;

        text = &texts[i];

        args[n++] = d->id;
        args[n].data = &digits[d->attempts + 1];
        args[n++].len = 1;

        d->started = ++ngx_svc_webhook_started_last;

        p = ngx_cpymem(text->name, d->id.data, NGX_SVC_ID_DIGITS);
        *p = NGX_SVC_WEBHOOK_NUMBER[0];

        args[n].data = text->name;
        args[n++].len = sizeof(text->name);
        args[n].data = text->number;
        args[n++].len = ngx_sprintf(text->number, "%uL", d->started)
                        - text->number;
    }

    return n;
}


static void
ngx_svc_webhook_started_answered(redisReply *reply, void *data)
{
    ngx_uint_t  recorded;

    ngx_svc_webhook_starts_sent--;

    recorded = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer;

    if (reply == NULL) {
        ngx_svc_webhook_ack_failed();
    }

    ngx_svc_webhook_started_done(data, recorded);
    ngx_svc_webhook_started_flush();
}


static void
ngx_svc_webhook_started_done(ngx_svc_webhook_starts_t *starts,
    ngx_uint_t recorded)
{
    ngx_uint_t                i;
    ngx_svc_webhook_start_t  *start;

    for (i = 0; i < starts->n; i++) {
        start = &starts->starts[i];
        start->handler(start->data, recorded);
    }

    ngx_free(starts);
}
