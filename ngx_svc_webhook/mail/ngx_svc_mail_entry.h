/*
 * A mail as a sealed entry in Redis.
 */

#ifndef _NGX_SVC_MAIL_ENTRY_H_INCLUDED_
#define _NGX_SVC_MAIL_ENTRY_H_INCLUDED_


#include "ngx_svc_entry.h"
#include "ngx_svc_mail.h"


#define NGX_SVC_MAIL_PLAIN_MAX  8192    /* bytes that are sealed, at most */
#define NGX_SVC_MAIL_ENTRY_MAX  (NGX_SVC_MAIL_PLAIN_MAX                       \
                                 + NGX_SVC_ENTRY_OVERHEAD)


/*
 * Seals a mail into out, which has NGX_SVC_MAIL_ENTRY_MAX bytes, and sets
 * *len.  NGX_OK; NGX_DECLINED: the mail is too long, or its tenant is no id;
 * NGX_ERROR: OpenSSL fails.
 */
ngx_int_t ngx_svc_mail_entry_seal(const ngx_svc_keys_t *keys,
    const ngx_svc_mail_t *mail, const u_char id[NGX_SVC_ENTRY_ID], u_char *out,
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
