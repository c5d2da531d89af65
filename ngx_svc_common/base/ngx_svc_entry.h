/*
 * Sealed entries in Redis:
 *
 *     <id> <tenant>\n<sealed>
 *
 * A reader of Redis must not be able to sign in: what follows the line is
 * sealed by the key of svc_key_file, for this kind of entry, id and tenant.
 */

#ifndef _NGX_SVC_ENTRY_H_INCLUDED_
#define _NGX_SVC_ENTRY_H_INCLUDED_


#include "ngx_svc_crypto.h"


#define NGX_SVC_ENTRY_ID        32      /* hexadecimal digits */
#define NGX_SVC_ENTRY_HEAD      (NGX_SVC_ENTRY_ID + 1 + NGX_SVC_UUID_TEXT_LEN)
#define NGX_SVC_ENTRY_OVERHEAD  (NGX_SVC_ENTRY_HEAD + 1                       \
                                 + NGX_SVC_SEAL_OVERHEAD)
#define NGX_SVC_ENTRY_NUMBER    8       /* bytes */
#define NGX_SVC_ENTRY_LEN       2       /* bytes before each text */


/*
 * Seals a text into out, which has len + NGX_SVC_ENTRY_OVERHEAD bytes, and sets
 * *out_len.  label: the kind, such as "svc.mail:".  Returns NGX_OK;
 * NGX_DECLINED: the tenant is no id; or NGX_ERROR: OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_entry_seal(const ngx_svc_keys_t *keys,
    const char *label, const u_char id[NGX_SVC_ENTRY_ID],
    const ngx_str_t *tenant, const u_char *plain, size_t len, u_char *out,
    size_t *out_len);

/*
 * Opens an entry.  plain has room for entry->len bytes; *tenant points into the
 * entry, whose id is its first NGX_SVC_ENTRY_ID bytes.  Returns NGX_OK;
 * NGX_DECLINED: this is no entry; NGX_ABORT: it is not authentic, or its key is
 * not in the file; or NGX_ERROR: OpenSSL fails.
 */
NGX_SVC_API ngx_int_t ngx_svc_entry_open(const ngx_svc_keys_t *keys,
    const char *label, const ngx_str_t *entry, u_char *plain, size_t *len,
    ngx_str_t *tenant);

/*
 * Writes a text, with its length, or a number.  Each returns what follows it,
 * or NULL when there is no room before end, or p is NULL.
 */
NGX_SVC_API u_char *ngx_svc_entry_write(u_char *p, u_char *end,
    const ngx_str_t *text);
NGX_SVC_API u_char *ngx_svc_entry_number(u_char *p, u_char *end,
    int64_t number);

/*
 * Reads such a text, which points into the plain one, or a number.  Each
 * returns what follows it, or NULL when it is not there, or p is NULL.
 */
NGX_SVC_API u_char *ngx_svc_entry_read(u_char *p, u_char *end,
    ngx_str_t *text);
NGX_SVC_API u_char *ngx_svc_entry_read_number(u_char *p, u_char *end,
    int64_t *number);


#endif /* _NGX_SVC_ENTRY_H_INCLUDED_ */
