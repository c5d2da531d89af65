/*
 * A delivery as text, as it is in Redis:
 *
 *     <attempts> <delivery id> <event id> <tenant> <endpoint> <event>\n<body>
 */

#ifndef _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_UUID       36
#define NGX_SVC_WEBHOOK_EVENT_MAX  64
#define NGX_SVC_WEBHOOK_BODY_MAX   65536


/* The length of an entry; and its text, of which it returns the end. */
size_t ngx_svc_webhook_entry_len(const ngx_svc_webhook_delivery_t *d);
u_char *ngx_svc_webhook_entry_write(u_char *p,
    const ngx_svc_webhook_delivery_t *d);

/*
 * NGX_OK: *d is a delivery, to be freed with ngx_free().  NGX_DECLINED: this is
 * no entry.  NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_entry_read(const u_char *text, size_t len,
    ngx_log_t *log, ngx_svc_webhook_delivery_t **d);


#endif /* _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_ */
