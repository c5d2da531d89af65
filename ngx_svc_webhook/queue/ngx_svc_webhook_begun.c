/*
 * Attempts that are to begin.
 */

#include "ngx_svc_webhook_begun.h"
#include "ngx_svc_webhook_own.h"


typedef struct {
    ngx_svc_webhook_delivery_t   *delivery;
    ngx_svc_webhook_begun_pt      handler;
    void                         *data;
} ngx_svc_webhook_begin_t;


/* What an attempt has in Redis, but for the delivery's id. */

typedef struct {
    u_char                        name[NGX_SVC_WEBHOOK_ID + 1];
    ngx_svc_webhook_number_t      number;
} ngx_svc_webhook_begun_text_t;


/* One call to Redis; of the deliveries nothing is used behind it. */

typedef struct {
    ngx_uint_t                    n;
    ngx_svc_webhook_begin_t       begins[NGX_SVC_WEBHOOK_BATCH];
} ngx_svc_webhook_begins_t;


static void ngx_svc_webhook_begun_send(void);
static ngx_uint_t ngx_svc_webhook_begun_args(ngx_svc_webhook_begins_t *begins,
    ngx_str_t *args, ngx_svc_webhook_begun_text_t *texts);
static void ngx_svc_webhook_begun_answered(redisReply *reply, void *data);
static void ngx_svc_webhook_begun_known(ngx_svc_webhook_begins_t *begins,
    ngx_uint_t known);


static ngx_svc_webhook_begins_t  *ngx_svc_webhook_begins;
static ngx_uint_t                 ngx_svc_webhook_begins_sent;  /* calls */
static uint64_t                   ngx_svc_webhook_begun_last;   /* number */


ngx_int_t
ngx_svc_webhook_begun(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_begun_pt handler, void *data)
{
    ngx_svc_webhook_begin_t   *begin;
    ngx_svc_webhook_begins_t  *begins;

    begins = ngx_svc_webhook_begins;

    if (begins == NULL) {
        begins = ngx_alloc(sizeof(ngx_svc_webhook_begins_t), ngx_cycle->log);
        if (begins == NULL) {
            return NGX_ERROR;
        }

        begins->n = 0;
        ngx_svc_webhook_begins = begins;
    }

    begin = &begins->begins[begins->n++];
    begin->delivery = d;
    begin->handler = handler;
    begin->data = data;

    if (begins->n == NGX_SVC_WEBHOOK_BATCH) {
        ngx_svc_webhook_begun_send();
    }

    return NGX_OK;
}


/* What is added while a call is on its way goes together, behind it. */

void
ngx_svc_webhook_begun_tell(void)
{
    if (ngx_svc_webhook_begins_sent == 0) {
        ngx_svc_webhook_begun_send();
    }
}


static void
ngx_svc_webhook_begun_send(void)
{
    ngx_str_t                      args[1 + 4 * NGX_SVC_WEBHOOK_BATCH];
    ngx_uint_t                     n;
    ngx_svc_webhook_begins_t      *begins;
    ngx_svc_webhook_begun_text_t   texts[NGX_SVC_WEBHOOK_BATCH];

    begins = ngx_svc_webhook_begins;

    if (begins == NULL) {
        return;
    }

    ngx_svc_webhook_begins = NULL;

    n = ngx_svc_webhook_begun_args(begins, args, texts);

    ngx_svc_webhook_begins_sent++;

    if (ngx_svc_redis_call(&ngx_svc_webhook_begin_script, args, n, 1,
                           ngx_svc_webhook_begun_answered, begins)
        != NGX_OK)
    {
        ngx_svc_webhook_begun_answered(NULL, begins);
    }
}


static ngx_uint_t
ngx_svc_webhook_begun_args(ngx_svc_webhook_begins_t *begins, ngx_str_t *args,
    ngx_svc_webhook_begun_text_t *texts)
{
    u_char                        *p;
    ngx_uint_t                     i, n;
    ngx_svc_webhook_delivery_t    *d;
    ngx_svc_webhook_begun_text_t  *text;

    static u_char  digits[] = "0123";

    n = 0;
    args[n++] = *ngx_svc_webhook_own_hash();

    for (i = 0; i < begins->n; i++) {
        d = begins->begins[i].delivery;

        text = &texts[i];

        args[n++] = d->id;
        args[n].data = &digits[d->attempts + 1];
        args[n++].len = 1;

        d->begun = ++ngx_svc_webhook_begun_last;

        p = ngx_cpymem(text->name, d->id.data, NGX_SVC_WEBHOOK_ID);
        *p = NGX_SVC_WEBHOOK_NUMBER[0];

        args[n].data = text->name;
        args[n++].len = sizeof(text->name);
        args[n].data = text->number;
        args[n++].len = ngx_sprintf(text->number, "%uL", d->begun)
                        - text->number;
    }

    return n;
}


static void
ngx_svc_webhook_begun_answered(redisReply *reply, void *data)
{
    ngx_uint_t  known;

    ngx_svc_webhook_begins_sent--;

    known = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer;

    if (reply == NULL) {
        ngx_svc_webhook_own_stuck();
    }

    ngx_svc_webhook_begun_known(data, known);
    ngx_svc_webhook_begun_tell();
}


static void
ngx_svc_webhook_begun_known(ngx_svc_webhook_begins_t *begins, ngx_uint_t known)
{
    ngx_uint_t                i;
    ngx_svc_webhook_begin_t  *begin;

    for (i = 0; i < begins->n; i++) {
        begin = &begins->begins[i];
        begin->handler(begin->data, known);
    }

    ngx_free(begins);
}
