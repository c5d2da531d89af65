/*
 * A delivery as an entry in Redis:
 *
 *     <key id>:<MAC> <attempts> <delivery id> <event id> <tenant> <endpoint>
 *     <event>\n<body>
 *
 * All words are separated by one blank.  The MAC covers all that follows it
 * and its blank, under a key that is derived from that of svc_key_file: a
 * writer to Redis cannot make an entry, nor change one, not even its attempts.
 */

#ifndef _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_


#include "ngx_svc_mac.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_ENTRY_LABEL  "svc.webhook.entry"
#define NGX_SVC_WEBHOOK_UUID         36
#define NGX_SVC_WEBHOOK_EVENT_MAX    64
#define NGX_SVC_WEBHOOK_BODY_MAX     65536


/* Returns NGX_OK, or NGX_ERROR: OpenSSL fails. */
ngx_int_t ngx_svc_webhook_entry_init(const ngx_svc_keys_t *keys);

/* Called at the process' end. */
void ngx_svc_webhook_entry_exit(void);

/* Returns the length of an entry. */
size_t ngx_svc_webhook_entry_len(const ngx_svc_webhook_delivery_t *d);

/* Writes an entry, and returns its end.  NULL: OpenSSL fails. */
u_char *ngx_svc_webhook_entry_write(u_char *p,
    const ngx_svc_webhook_delivery_t *d);

/*
 * Reads an entry.  NGX_OK: *d is a delivery, to be freed with ngx_free().
 * NGX_DECLINED: this is no entry.  NGX_ABORT: it is not authentic, or its key
 * is not in the file.  NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_webhook_entry_read(const u_char *text, size_t len,
    ngx_log_t *log, ngx_svc_webhook_delivery_t **d);

/*
 * Writes the beginning of an entry that was read, with the delivery's attempts
 * as they are now and a new MAC, into d->head.  NGX_ERROR: OpenSSL fails.
 */
ngx_int_t ngx_svc_webhook_entry_sign(ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_ */
