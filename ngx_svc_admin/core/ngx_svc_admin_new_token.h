/*
 * Bearer tokens that /v1 hands out: a row of svc.credential, its secret shown
 * once.
 */

#ifndef _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_
#define _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_


#include "ngx_svc_http.h"


/*
 * Of a route's statement: the SHA-256 of a new secret, which begins with the
 * prefix, a string; and what people know the token by, the beginning of that
 * secret.  The first one comes first, and makes sr->data.
 */

#define ngx_svc_param_new_token(prefix)                                       \
    { .bind = ngx_svc_admin_token_bind, .text = prefix }
#define ngx_svc_param_token_shown(prefix)                                     \
    { .bind = ngx_svc_admin_token_bind_shown,                                 \
      .n = sizeof(prefix "pX3a") - 1 }

ngx_int_t ngx_svc_admin_token_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_admin_token_bind_shown(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* The route's "more": the secret. */
void ngx_svc_admin_token_secret(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);


/* SQL: of a token whose it is: erased, it is of somebody without a name. */

#define NGX_SVC_ADMIN_TOKEN_MAKER                                             \
    " maker AS \"maker.id\", ("                                               \
        NGX_SVC_ROW("k.user_name", "svc.user_account", "maker")               \
    ") AS \"maker.email\", CASE WHEN maker IS NOT NULL THEN coalesce(("        \
        NGX_SVC_ROW("k.status = 'active'", "svc.user_account", "maker")       \
    "), false) END AS \"maker.active\", owner AS \"actsOnOwners\""

/* SQL: the tenant's tokens of a kind. */

#define NGX_SVC_ADMIN_TOKENS_OF(kind)                                         \
    " tenant_id = " NGX_SVC_TENANT " AND kind = '" kind "'"

/* SQL: revokes that with the id $1; action: of the audit log. */

#define NGX_SVC_ADMIN_TOKEN_REVOKE(kind, action)                              \
    "WITH o AS ("                                                             \
        "SELECT token_hash, id, name, revoked_at FROM svc.credential WHERE"   \
        NGX_SVC_ADMIN_TOKENS_OF(kind) " AND id BETWEEN $1 AND $1"             \
        " ORDER BY id LIMIT 1 FOR UPDATE"                                     \
    "), k AS ("                                                               \
        "UPDATE svc.credential SET revoked_at = now()"                        \
        " WHERE tenant_id = " NGX_SVC_TENANT " AND token_hash ="              \
            " (SELECT token_hash FROM o WHERE revoked_at IS NULL)"            \
    "), e AS ("                                                               \
        NGX_SVC_AUDIT(action, "id::text", "name", "'{}'",                     \
                      "FROM o WHERE revoked_at IS NULL")                      \
    ")"                                                                       \
    " SELECT id FROM o"


#endif /* _NGX_SVC_ADMIN_NEW_TOKEN_H_INCLUDED_ */
