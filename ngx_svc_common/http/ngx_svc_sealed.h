/*
 * Secrets that a tenant configures, sealed under svc_key_file.
 */

#ifndef _NGX_SVC_SEALED_H_INCLUDED_
#define _NGX_SVC_SEALED_H_INCLUDED_


#include "ngx_svc_bind.h"


#define NGX_SVC_SEALED_TEXT  4096   /* bytes of a secret, at most */
#define NGX_SVC_SEALED_MAX   16384  /* bytes of any unsealed text */


/*
 * A member of the body, sealed, as a bytea; NULL when it is absent or null.  It
 * is sealed for "what", which names the kind of secret, and for the new id of
 * the request, which the row has, too, and whose parameter comes first
 * (ngx_svc_param_new_id()).  It is not sealed for the tenant: a worker learns
 * the tenant only when the transaction is over, and the ids are as good as
 * unique without it.  Without a key to seal with the answer is 503.
 */

#define ngx_svc_param_sealed(type, field, what)                               \
    { .bind = ngx_svc_sealed_bind, .offset = offsetof(type, field),           \
      .text = what }

/* The same, sealed for the id that is the i-th "*" of the path. */

#define ngx_svc_param_sealed_path(type, field, what, i)                       \
    { .bind = ngx_svc_sealed_bind_path, .offset = offsetof(type, field),      \
      .text = what, .n = i }

ngx_svc_bind_function(ngx_svc_sealed_bind);
ngx_svc_bind_function(ngx_svc_sealed_bind_path);

/*
 * Seals bytes for "what" and for sr->new_id; *sealed is of the request's pool.
 * Returns NGX_OK; NGX_DECLINED with sr->error set; or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_sealed_make(ngx_svc_request_t *sr,
    const char *what, const ngx_str_t *secret, ngx_str_t *sealed);

/*
 * Returns NGX_OK, or NGX_DECLINED with sr->error set when there is no key to
 * seal with.
 */
NGX_SVC_API ngx_int_t ngx_svc_sealed_able(ngx_svc_request_t *sr);

/*
 * Logs what could not be unsealed, such as "the password of a user", and
 * whether the key that the sealed text names is missing.  tenant: 16 bytes, or
 * NULL.
 */
NGX_SVC_API void ngx_svc_sealed_lost(ngx_svc_request_t *sr, const char *what,
    const u_char *tenant, const u_char *sealed, size_t len);

/* Returns 1 if the key with that id is in svc_key_file. */
NGX_SVC_API ngx_uint_t ngx_svc_sealed_key_there(const ngx_str_t *id);

/* Logs that the key with that id is missing, for a MAC made under it. */
NGX_SVC_API void ngx_svc_sealed_key_lost(ngx_svc_request_t *sr,
    const char *what, const u_char *tenant, const ngx_str_t *id);

/*
 * Seals a secret without a request, for an id as text.  out has room for the
 * secret and NGX_SVC_SEAL_OVERHEAD; *len is set.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_sealed_seal(const char *what,
    const ngx_str_t *id, const ngx_str_t *secret, u_char *out, size_t *len);

/*
 * Unseals a column as PostgreSQL writes a bytea, "\x" and digits.  *len: the
 * room in out, of which at most NGX_SVC_SEALED_MAX is used, and then the
 * length of the secret.  Returns NGX_OK; NGX_DECLINED when the secret is longer
 * or not authentic, or its key is not in svc_key_file any more; or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_sealed_open(const char *what,
    const ngx_str_t *id, const ngx_str_t *column, u_char *out, size_t *len);

/*
 * Unseals a column into the pool, which wipes it.  sr: the request that the log
 * names; NULL: none.  name is that of the log, such as "a secret of a
 * connection"; tenant: 16 bytes.  Returns NGX_OK; NGX_DECLINED, with a line in
 * the log, when it cannot be unsealed; or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_sealed_text(ngx_svc_request_t *sr,
    ngx_pool_t *pool, const char *what, const ngx_str_t *id,
    const ngx_str_t *column, const char *name, const u_char *tenant,
    ngx_str_t *text);


#endif /* _NGX_SVC_SEALED_H_INCLUDED_ */
