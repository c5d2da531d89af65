/*
 * The keys that deliveries are signed with, as the database holds them.
 */

#ifndef _NGX_SVC_WEBHOOK_SECRET_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_SECRET_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_SEALED  (NGX_SVC_WEBHOOK_SECRET                       \
                                 + NGX_SVC_SEAL_OVERHEAD)   /* at most */


/*
 * What is sealed is the text of NGX_SVC_WEBHOOK_SECRET digits, which is the key
 * of the HMAC as it is.  It is sealed for the id of the endpoint (its UUID as
 * text): a worker that makes one learns of which tenant it is only when the
 * transaction is over, and the ids are as good as unique without it.
 *
 * seal: out has room for NGX_SVC_WEBHOOK_SEALED bytes, *len is set.  NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_webhook_secret_seal(const ngx_str_t *endpoint,
    const u_char *secret, u_char *out, size_t *len);

/*
 * column: as PostgreSQL writes bytea, "\x" and digits.  secret has room for
 * NGX_SVC_WEBHOOK_SECRET bytes.  NGX_OK; NGX_DECLINED when it is not authentic,
 * or the key file does not have its key any more; NGX_ERROR.
 */
ngx_int_t ngx_svc_webhook_secret_open(const ngx_str_t *endpoint,
    const ngx_str_t *column, u_char *secret);


#endif /* _NGX_SVC_WEBHOOK_SECRET_H_INCLUDED_ */
