/*
 * Secrets that a tenant configures, sealed under svc_key_file.
 */

#ifndef _NGX_SVC_SEALED_H_INCLUDED_
#define _NGX_SVC_SEALED_H_INCLUDED_


#include "ngx_svc_bind.h"


#define NGX_SVC_SEALED_TEXT  4096   /* bytes of what is opened, at most */


/*
 * A member of the body, sealed: a bytea, NULL when it is absent or null.  It is
 * sealed for what it is, a string, and for the new id of the request, which is
 * kept beside it and comes before it (ngx_svc_param_new_id()): a worker learns
 * of which tenant it is only when the transaction is over, and the ids are as
 * good as unique without that.  Without a key: 503.
 */

#define ngx_svc_param_sealed(type, field, what)                               \
    { .bind = ngx_svc_sealed_bind, .offset = offsetof(type, field),           \
      .text = what }

/* Likewise, for the id that is the n-th "*" of the path. */

#define ngx_svc_param_sealed_path(type, field, what, i)                       \
    { .bind = ngx_svc_sealed_bind_path, .offset = offsetof(type, field),      \
      .text = what, .n = i }

ngx_svc_bind_function(ngx_svc_sealed_bind);
ngx_svc_bind_function(ngx_svc_sealed_bind_path);

/*
 * Likewise, of bytes, for sr->new_id: *sealed is of the request's pool.
 * NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_sealed_make(ngx_svc_request_t *sr,
    const char *what, const ngx_str_t *secret, ngx_str_t *sealed);

/* NGX_OK; NGX_DECLINED with sr->error: there is no key to seal with. */
NGX_SVC_API ngx_int_t ngx_svc_sealed_able(ngx_svc_request_t *sr);

/*
 * Says in the log what could not be unsealed, as "the password of a user", and
 * why: by the key that it names.  tenant: 16 bytes, or NULL.
 */
NGX_SVC_API void ngx_svc_sealed_lost(ngx_svc_request_t *sr, const char *what,
    const u_char *tenant, const u_char *sealed, size_t len);

/* The same of a MAC under a key that is not there; and whether it is. */
NGX_SVC_API ngx_uint_t ngx_svc_sealed_key_there(const ngx_str_t *id);
NGX_SVC_API void ngx_svc_sealed_key_lost(ngx_svc_request_t *sr,
    const char *what, const u_char *tenant, const ngx_str_t *id);

/*
 * Without a request, for an id as text.  seal: out has room for the secret and
 * NGX_SVC_SEAL_OVERHEAD, *len is set.  NGX_OK or NGX_ERROR.
 *
 * open: column as PostgreSQL writes a bytea, "\x" and digits.  *len: how many
 * bytes out has room for, at most NGX_SVC_SEALED_TEXT, and then how many there
 * are.  NGX_OK; NGX_DECLINED when it is longer, or not authentic, or the key
 * file does not have its key any more; NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_sealed_seal(const char *what,
    const ngx_str_t *id, const ngx_str_t *secret, u_char *out, size_t *len);
NGX_SVC_API ngx_int_t ngx_svc_sealed_open(const char *what,
    const ngx_str_t *id, const ngx_str_t *column, u_char *out, size_t *len);


#endif /* _NGX_SVC_SEALED_H_INCLUDED_ */
