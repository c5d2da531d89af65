/*
 * Each tenant's share of a worker's buffer of events.
 */

#ifndef _NGX_SVC_WEBHOOK_SHARE_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_SHARE_H_INCLUDED_


#include "ngx_svc_common.h"


typedef struct {
    ngx_str_node_t   node;              /* by the tenant's id, behind it */
    ngx_uint_t       n;                 /* events */
    size_t           size;              /* bytes of them */
} ngx_svc_webhook_share_t;


void ngx_svc_webhook_share_init(void);

/*
 * That of a tenant, which may be a new one; NULL when memory runs out.  Until
 * an event has been added, ngx_svc_webhook_share_unused() frees it.
 */
ngx_svc_webhook_share_t *ngx_svc_webhook_share(const ngx_str_t *tenant);
void ngx_svc_webhook_share_unused(ngx_svc_webhook_share_t *share);

/* An event of so many bytes; with the last one the share is freed. */
void ngx_svc_webhook_share_add(ngx_svc_webhook_share_t *share, size_t size);
void ngx_svc_webhook_share_remove(ngx_svc_webhook_share_t *share, size_t size);


#endif /* _NGX_SVC_WEBHOOK_SHARE_H_INCLUDED_ */
