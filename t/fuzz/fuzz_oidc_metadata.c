/*
 * Metadata of other identity providers, whose issuer is the expected one.  What
 * is kept of them is kept the same once more; endpoints are https, and have
 * nothing that a header or a log would break at.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_oidc_metadata.h"


static ngx_str_t fuzz_issuer(ngx_pool_t *pool, const ngx_str_t *text);
static void fuzz_kept(ngx_pool_t *pool, const ngx_str_t *issuer,
    const ngx_svc_oidc_metadata_t *m);
static void fuzz_url(const ngx_str_t *url, int required);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_int_t    rc;
    ngx_str_t    text, issuer;
    ngx_pool_t  *pool;

    ngx_svc_oidc_metadata_t  m;

    pool = fuzz_pool(4096);

    text.data = ngx_palloc(pool, size + 1);
    text.len = size;
    memcpy(text.data, data, size);

    issuer = fuzz_issuer(pool, &text);

    rc = ngx_svc_oidc_metadata_read(pool, &text, &issuer, 0, &m);

    if (rc == NGX_OK) {
        fuzz_assert(m.why == NULL && issuer.len > 0 && (m.basic || m.post));

        fuzz_url(&m.authorization_endpoint, 1);
        fuzz_url(&m.token_endpoint, 1);
        fuzz_url(&m.jwks_uri, 1);
        fuzz_url(&m.userinfo_endpoint, 0);
        fuzz_url(&m.end_session_endpoint, 0);

        fuzz_kept(pool, &issuer, &m);

        /* a byte more or less is another issuer */

        issuer.len--;
        fuzz_assert(ngx_svc_oidc_metadata_read(pool, &text, &issuer, 0, &m)
                    == NGX_DECLINED);

    } else {
        fuzz_assert(rc == NGX_DECLINED && m.why != NULL);
    }

    ngx_destroy_pool(pool);

    return 0;
}


static ngx_str_t
fuzz_issuer(ngx_pool_t *pool, const ngx_str_t *text)
{
    cJSON            *json;
    ngx_str_t         issuer, copy;
    const char       *is;
    ngx_svc_error_t   err;

    ngx_str_null(&issuer);

    copy = *text;
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, &copy, &json, &err) == NGX_OK) {
        is = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json,
                                                                 "issuer"));
        issuer.data = (u_char *) is;
        issuer.len = is ? strlen(is) : 0;
    }

    return issuer;
}


static void
fuzz_kept(ngx_pool_t *pool, const ngx_str_t *issuer,
    const ngx_svc_oidc_metadata_t *m)
{
    ngx_str_t  kept, again;

    ngx_svc_oidc_metadata_t  n;

    fuzz_assert(ngx_svc_oidc_metadata_keep(pool, m, &kept) == NGX_OK);
    fuzz_assert(ngx_svc_oidc_metadata_read(pool, &kept, issuer, 0, &n)
                == NGX_OK);
    fuzz_assert(n.algs == m->algs && n.basic == m->basic && n.post == m->post
                && n.iss == m->iss);
    fuzz_assert(ngx_svc_oidc_metadata_keep(pool, &n, &again) == NGX_OK);
    fuzz_assert(ngx_svc_same(&kept, &again));
}


static void
fuzz_url(const ngx_str_t *url, int required)
{
    size_t  i;

    if (url->data == NULL) {
        fuzz_assert(!required);
        return;
    }

    fuzz_assert(url->len > 8 && url->len <= NGX_SVC_OIDC_URL_MAX
                && ngx_strncasecmp(url->data, (u_char *) "https://", 8) == 0);

    for (i = 0; i < url->len; i++) {
        fuzz_assert(url->data[i] > ' ' && url->data[i] < 0x7f
                    && url->data[i] != '#' && url->data[i] != '"');
    }
}
