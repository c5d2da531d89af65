/*
 * A mail as it is in Redis:
 *
 *     <id> <tenant>\n<sealed>
 *
 * Whoever reads Redis must not be able to sign in: what is behind the line is
 * sealed under the key of svc_key_file, for that id and tenant.
 */

#ifndef _NGX_SVC_MAIL_ENTRY_H_INCLUDED_
#define _NGX_SVC_MAIL_ENTRY_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_mail.h"


#define NGX_SVC_MAIL_ID         32      /* hexadecimal digits */
#define NGX_SVC_MAIL_HEAD       (NGX_SVC_MAIL_ID + 1 + NGX_SVC_UUID_TEXT_LEN)
#define NGX_SVC_MAIL_PLAIN_MAX  8192    /* bytes, of what is sealed */
#define NGX_SVC_MAIL_ENTRY_MAX  (NGX_SVC_MAIL_HEAD + 1                        \
                                 + NGX_SVC_MAIL_PLAIN_MAX                     \
                                 + NGX_SVC_SEAL_OVERHEAD)


/*
 * out has room for NGX_SVC_MAIL_ENTRY_MAX bytes, *len is set.  NGX_OK;
 * NGX_DECLINED: the mail is too long, or its tenant is no id; NGX_ERROR when
 * OpenSSL fails.
 */
ngx_int_t ngx_svc_mail_entry_seal(const ngx_svc_keys_t *keys,
    const ngx_svc_mail_t *mail, const u_char id[NGX_SVC_MAIL_ID], u_char *out,
    size_t *len);

/*
 * plain has room for entry->len bytes, into which the mail points; so its
 * tenant does into the entry.  Control characters have become blanks.
 * NGX_OK; NGX_DECLINED: this is no entry; NGX_ABORT: it is not authentic, or
 * its key is not in the file; NGX_ERROR.
 */
ngx_int_t ngx_svc_mail_entry_open(const ngx_svc_keys_t *keys,
    const ngx_str_t *entry, u_char *plain, ngx_svc_mail_t *mail);


#endif /* _NGX_SVC_MAIL_ENTRY_H_INCLUDED_ */
