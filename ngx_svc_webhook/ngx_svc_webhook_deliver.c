/*
 * The helper's scheduler.
 */

#include "ngx_svc_webhook_deliver.h"
#include "ngx_svc_webhook_queue.h"


ngx_int_t
ngx_svc_webhook_deliver_init(ngx_cycle_t *cycle)
{
    return NGX_OK;
}


void
ngx_svc_webhook_deliver_exit(void)
{
}


void
ngx_svc_webhook_deliver(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_queue_done(d);
}


void
ngx_svc_webhook_deliver_pause(ngx_uint_t pause)
{
}


void
ngx_svc_webhook_deliver_forget(void)
{
}


void
ngx_svc_webhook_deliver_drain(void (*done)(void))
{
    done();
}
