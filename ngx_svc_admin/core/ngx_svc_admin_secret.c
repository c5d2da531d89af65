/*
 * Secrets that are shown once, and of which the database has the digest.
 */

#include "ngx_svc_admin_secret.h"


ngx_svc_admin_secret_t *
ngx_svc_admin_secret_new(ngx_svc_request_t *sr, const char *prefix)
{
    u_char                   random[NGX_SVC_ADMIN_SECRET_BYTES];
    size_t                   len;
    ngx_str_t                src, dst;
    ngx_svc_admin_secret_t  *secret;

    len = ngx_strlen(prefix);

    secret = ngx_palloc(sr->request->pool, sizeof(ngx_svc_admin_secret_t));
    if (secret == NULL || ngx_svc_random(random, sizeof(random)) != NGX_OK) {
        return NULL;
    }

    secret->text.data = ngx_pnalloc(sr->request->pool,
                          len + ngx_base64_encoded_length(sizeof(random)));
    if (secret->text.data == NULL) {
        return NULL;
    }

    src.data = random;
    src.len = sizeof(random);
    dst.data = ngx_cpymem(secret->text.data, prefix, len);

    ngx_encode_base64url(&dst, &src);
    ngx_explicit_memzero(random, sizeof(random));

    secret->text.len = len + dst.len;

    if (ngx_svc_wipe_later(sr->request->pool, secret->text.data,
                           secret->text.len)
        != NGX_OK
        || ngx_svc_sha256(secret->text.data, secret->text.len, secret->hash)
           != NGX_OK)
    {
        return NULL;
    }

    return secret;
}
