/*
 * A delivery as text, as it is in Redis:
 *
 *     <key id>:<MAC> <attempts> <delivery id> <event id> <tenant> <endpoint>
 *     <event>\n<body>
 *
 * with a blank between all words.  The MAC is of all that is behind its blank,
 * under a key that is derived from that of svc_key_file: who can write to Redis
 * cannot make an entry, nor change one, its attempts neither.
 */

#ifndef _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_


#include "ngx_svc_mac.h"
#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_ENTRY_LABEL  "svc.webhook.entry"
#define NGX_SVC_WEBHOOK_UUID         36
#define NGX_SVC_WEBHOOK_EVENT_MAX    64
#define NGX_SVC_WEBHOOK_BODY_MAX     65536


/* NGX_OK, or NGX_ERROR when OpenSSL fails.  Its end. */
ngx_int_t ngx_svc_webhook_entry_init(const ngx_svc_keys_t *keys);
void ngx_svc_webhook_entry_exit(void);

/*
 * The length of an entry; and its text, of which it returns the end, or NULL
 * when OpenSSL fails.
 */
size_t ngx_svc_webhook_entry_len(const ngx_svc_webhook_delivery_t *d);
u_char *ngx_svc_webhook_entry_write(u_char *p,
    const ngx_svc_webhook_delivery_t *d);

/*
 * NGX_OK: *d is a delivery, to be freed with ngx_free().  NGX_DECLINED: this is
 * no entry.  NGX_ABORT: it is not authentic, or its key is not in the file.
 * NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_webhook_entry_read(const u_char *text, size_t len,
    ngx_log_t *log, ngx_svc_webhook_delivery_t **d);

/*
 * What begins an entry that was read, up to its attempts, with those of the
 * delivery as it is now: d->head, without the mark before it.  NGX_ERROR when
 * OpenSSL fails.
 */
ngx_int_t ngx_svc_webhook_entry_sign(ngx_svc_webhook_delivery_t *d);


#endif /* _NGX_SVC_WEBHOOK_ENTRY_H_INCLUDED_ */
