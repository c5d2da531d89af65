/*
 * The request_uri of an authorization request that was pushed.
 */

#include "ngx_svc_oauth_request_uri.h"
#include "ngx_svc_base64.h"


#define NGX_SVC_OAUTH_REQUEST_SECRET  32    /* random bytes behind the URN */


static const ngx_str_t  ngx_svc_oauth_request_urn =
    ngx_string("urn:ietf:params:oauth:request_uri:");


static ngx_int_t ngx_svc_oauth_request_uri_digest(ngx_pool_t *pool,
    const ngx_str_t *uri, ngx_str_t *digest);


ngx_int_t
ngx_svc_oauth_request_uri_new(ngx_pool_t *pool, ngx_str_t *uri,
    ngx_str_t *digest)
{
    u_char  *p, bytes[NGX_SVC_OAUTH_REQUEST_SECRET];

    p = ngx_pnalloc(pool, ngx_svc_oauth_request_urn.len
                          + ngx_svc_base64url_len(sizeof(bytes)));

    if (p == NULL || ngx_svc_random(bytes, sizeof(bytes)) != NGX_OK) {
        return NGX_ERROR;
    }

    uri->data = p;
    p = ngx_cpymem(p, ngx_svc_oauth_request_urn.data,
                   ngx_svc_oauth_request_urn.len);
    p = ngx_svc_base64url(p, bytes, sizeof(bytes));
    uri->len = p - uri->data;

    ngx_explicit_memzero(bytes, sizeof(bytes));

    return ngx_svc_oauth_request_uri_digest(pool, uri, digest);
}


ngx_int_t
ngx_svc_oauth_request_uri_ours(ngx_pool_t *pool, const ngx_str_t *uri,
    ngx_str_t *digest)
{
    const ngx_str_t  *urn = &ngx_svc_oauth_request_urn;

    return uri->len >= urn->len
           && ngx_memcmp(uri->data, urn->data, urn->len) == 0
           ? ngx_svc_oauth_request_uri_digest(pool, uri, digest)
           : NGX_DECLINED;
}


/* Sets the digest of what is behind the URN. */

static ngx_int_t
ngx_svc_oauth_request_uri_digest(ngx_pool_t *pool, const ngx_str_t *uri,
    ngx_str_t *digest)
{
    digest->data = ngx_pnalloc(pool, NGX_SVC_SHA256_LEN);
    if (digest->data == NULL) {
        return NGX_ERROR;
    }

    digest->len = NGX_SVC_SHA256_LEN;

    return ngx_svc_sha256(uri->data + ngx_svc_oauth_request_urn.len,
                          uri->len - ngx_svc_oauth_request_urn.len,
                          digest->data);
}
