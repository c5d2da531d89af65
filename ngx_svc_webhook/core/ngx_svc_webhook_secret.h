/*
 * The secrets that webhooks are signed with, as PostgreSQL has them.
 */

#ifndef _NGX_SVC_WEBHOOK_SECRET_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_SECRET_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_SEALED  (NGX_SVC_WEBHOOK_SECRET                       \
                                 + NGX_SVC_SEAL_OVERHEAD)   /* bytes, at most */


/*
 * A secret is a text of NGX_SVC_WEBHOOK_SECRET digits, which is used as the
 * HMAC's key as it is.  It is sealed for the id of the endpoint (its UUID as
 * text) and not for its tenant: a worker that makes an endpoint learns the
 * tenant only when the transaction has ended, and ids are unique anyway.
 *
 * Seals a secret.  out has room for NGX_SVC_WEBHOOK_SEALED bytes, *len is set.
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_webhook_secret_seal(const ngx_str_t *endpoint,
    const u_char *secret, u_char *out, size_t *len);

/*
 * Opens a secret.  column: a bytea as PostgreSQL writes it, "\x" and digits.
 * secret has room for NGX_SVC_WEBHOOK_SECRET bytes.  NGX_OK; NGX_DECLINED: it
 * is not authentic, or its key is not in the file any more; NGX_ERROR: OpenSSL
 * fails.
 */
ngx_int_t ngx_svc_webhook_secret_open(const ngx_str_t *endpoint,
    const ngx_str_t *column, u_char *secret);


#endif /* _NGX_SVC_WEBHOOK_SECRET_H_INCLUDED_ */
