/*
 * The endpoints of tenants, in the helper: kept for some seconds.
 */

#ifndef _NGX_SVC_WEBHOOK_ENDPOINT_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ENDPOINT_H_INCLUDED_


#include "ngx_svc_webhook.h"


typedef struct {
    ngx_str_t     id;
    ngx_str_t     url;              /* NUL-terminated */
    unsigned      enabled:1;
    unsigned      sealed:1;         /* the secret cannot be read */
    u_char        secret[NGX_SVC_WEBHOOK_SECRET];
} ngx_svc_webhook_endpoint_t;


/* The endpoints of the tenant can be asked for (again). */
typedef void (*ngx_svc_webhook_endpoint_pt)(ngx_str_t *tenant);


/* At the helper's start and end. */
ngx_int_t ngx_svc_webhook_endpoint_init(ngx_cycle_t *cycle,
    ngx_svc_webhook_endpoint_pt loaded);
void ngx_svc_webhook_endpoint_exit(void);

/* Is called when some tenant's have changed, on any node; or NULL. */
extern void  (*ngx_svc_webhook_endpoint_changed)(void);

/*
 * NGX_OK, with *endpoint until the event loop goes on; NGX_DECLINED: there is
 * none, or it is disabled, and so it was not before "since", a value of
 * ngx_current_msec; NGX_AGAIN: loaded will be called, never from within this
 * call; NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_endpoint(ngx_str_t *tenant, ngx_str_t *id,
    ngx_msec_t since, ngx_svc_webhook_endpoint_t **endpoint);


#endif /* _NGX_SVC_WEBHOOK_ENDPOINT_H_INCLUDED_ */
