/*
 * In the helper: the endpoints of tenants, kept for some seconds.
 */

#ifndef _NGX_SVC_WEBHOOK_ENDPOINT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ENDPOINT_H_INCLUDED_


#include "ngx_svc_webhook.h"


typedef struct {
    ngx_str_t     id;
    ngx_str_t     url;              /* NUL-terminated */
    unsigned      enabled:1;
    unsigned      sealed:1;         /* the secret cannot be opened */
    u_char        secret[NGX_SVC_WEBHOOK_SECRET];
} ngx_svc_webhook_endpoint_t;


/* The endpoints of the tenant can be asked for now. */
typedef void (*ngx_svc_webhook_endpoint_pt)(ngx_str_t *tenant);


/* Called at the helper's start. */
ngx_int_t ngx_svc_webhook_endpoint_init(ngx_cycle_t *cycle,
    ngx_svc_webhook_endpoint_pt loaded);

/* Called at the helper's end. */
void ngx_svc_webhook_endpoint_exit(void);

/* Called when endpoints of any tenant have changed, on any node; or NULL. */
extern void  (*ngx_svc_webhook_endpoint_changed)(void);

/*
 * Finds an endpoint.  NGX_OK: *endpoint is valid in this iteration of the
 * event loop; NGX_DECLINED: endpoints that were read after "since", a value of
 * ngx_current_msec, do not have it, or it is disabled; NGX_AGAIN: loaded()
 * will be called, never from within this call; NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_webhook_endpoint(ngx_str_t *tenant, ngx_str_t *id,
    ngx_msec_t since, ngx_svc_webhook_endpoint_t **endpoint);


#endif /* _NGX_SVC_WEBHOOK_ENDPOINT_H_INCLUDED_ */
