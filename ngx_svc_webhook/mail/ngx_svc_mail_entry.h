/*
 * A mail as an entry in Redis:
 *
 *     <id> <tenant>\n<sealed>
 *
 * A reader of Redis must not be able to sign in: what follows the line is
 * sealed by the key of svc_key_file, for this id and tenant.
 */

#ifndef _NGX_SVC_MAIL_ENTRY_H_INCLUDED_
#define _NGX_SVC_MAIL_ENTRY_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_mail.h"


#define NGX_SVC_MAIL_ID         32      /* hexadecimal digits */
#define NGX_SVC_MAIL_HEAD       (NGX_SVC_MAIL_ID + 1 + NGX_SVC_UUID_TEXT_LEN)
#define NGX_SVC_MAIL_PLAIN_MAX  8192    /* bytes that are sealed, at most */
#define NGX_SVC_MAIL_ENTRY_MAX  (NGX_SVC_MAIL_HEAD + 1                        \
                                 + NGX_SVC_MAIL_PLAIN_MAX                     \
                                 + NGX_SVC_SEAL_OVERHEAD)


/*
 * Seals a mail into out, which has NGX_SVC_MAIL_ENTRY_MAX bytes, and sets
 * *len.  NGX_OK; NGX_DECLINED: the mail is too long, or its tenant is no id;
 * NGX_ERROR: OpenSSL fails.
 */
ngx_int_t ngx_svc_mail_entry_seal(const ngx_svc_keys_t *keys,
    const ngx_svc_mail_t *mail, const u_char id[NGX_SVC_MAIL_ID], u_char *out,
    size_t *len);

/*
 * Opens an entry.  plain has room for entry->len bytes; the mail's texts point
 * into it, and its tenant points into the entry.  Control characters become
 * blanks.  NGX_OK; NGX_DECLINED: this is no entry; NGX_ABORT: it is not
 * authentic, or its key is not in the file; NGX_ERROR: OpenSSL fails.
 */
ngx_int_t ngx_svc_mail_entry_open(const ngx_svc_keys_t *keys,
    const ngx_str_t *entry, u_char *plain, ngx_svc_mail_t *mail);


#endif /* _NGX_SVC_MAIL_ENTRY_H_INCLUDED_ */
