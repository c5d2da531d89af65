/*
 * A user's decision on the page.
 *
 * The page's policy keeps its script from posting to other sites.  So it sends
 * the browser back here, and the answer is a page that posts.  The code goes
 * that way in the address, which logs and histories keep: it is sealed for the
 * session that has decided, whose cookie the browser presents.
 */

#include "ngx_svc_oauth_decided.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_oauth_outcome.h"


#define NGX_SVC_OAUTH_DECIDED_SECONDS  60       /* as long as a code is good */
#define NGX_SVC_OAUTH_DECIDED_SLUG     63
#define NGX_SVC_OAUTH_DECIDED_DIGITS   16       /* of the time when it ends */

/*
 * What is sealed: that time in seconds, as hex digits; the code, or as many
 * zero bytes; and the slug.
 */
#define NGX_SVC_OAUTH_DECIDED_FIXED                                           \
    (NGX_SVC_OAUTH_DECIDED_DIGITS + NGX_SVC_OAUTH_CODE)
#define NGX_SVC_OAUTH_DECIDED_TEXT                                            \
    (NGX_SVC_OAUTH_DECIDED_FIXED + NGX_SVC_OAUTH_DECIDED_SLUG)
#define NGX_SVC_OAUTH_DECIDED_SEALED                                          \
    (NGX_SVC_OAUTH_DECIDED_TEXT + NGX_SVC_SEAL_OVERHEAD)

#define NGX_SVC_OAUTH_DECIDED_KIND     "oauth_decided"
#define NGX_SVC_OAUTH_DECIDED_AAD                                             \
    (sizeof(NGX_SVC_OAUTH_DECIDED_KIND) - 1 + NGX_SVC_SHA256_LEN)


static ngx_int_t ngx_svc_oauth_decided_seal(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, u_char *sealed, size_t *len);
static ngx_int_t ngx_svc_oauth_decided_open(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value, u_char *text, size_t *len);
static ngx_int_t ngx_svc_oauth_decided_aad(ngx_svc_oauth_request_t *ar,
    u_char aad[NGX_SVC_OAUTH_DECIDED_AAD]);
static const ngx_svc_keys_t *ngx_svc_oauth_decided_keys(
    ngx_svc_oauth_request_t *ar);


ngx_int_t
ngx_svc_oauth_decided_location(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug, ngx_str_t *location)
{
    u_char     *p, sealed[NGX_SVC_OAUTH_DECIDED_SEALED];
    size_t      len;
    ngx_str_t   query;

    static const ngx_str_t  as_it_was = ngx_null_string;

    if (ngx_svc_oauth_decided_seal(ar, slug, sealed, &len) != NGX_OK
        || ngx_svc_oauth_request_query(ar, &as_it_was, &query) != NGX_OK)
    {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(ar->oauth.sr->request->pool,
                    sizeof(NGX_SVC_OAUTH_AUTHORIZE "?&"
                           NGX_SVC_OAUTH_DECIDED "=")
                    + query.len + ngx_svc_base64url_len(len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    location->data = p;
    p = ngx_sprintf(p, NGX_SVC_OAUTH_AUTHORIZE "?%V&"
                    NGX_SVC_OAUTH_DECIDED "=", &query);
    p = ngx_svc_base64url(p, sealed, len);
    location->len = p - location->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_decided_seal(ngx_svc_oauth_request_t *ar, const ngx_str_t *slug,
    u_char *sealed, size_t *len)
{
    u_char     *p, text[NGX_SVC_OAUTH_DECIDED_TEXT];
    u_char      aad[NGX_SVC_OAUTH_DECIDED_AAD];
    ngx_int_t   rc;

    if (slug->len > NGX_SVC_OAUTH_DECIDED_SLUG
        || ngx_svc_oauth_decided_aad(ar, aad) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(text, sizeof(text));

    (void) ngx_sprintf(text, "%016xL",
                       (uint64_t) ngx_time() + NGX_SVC_OAUTH_DECIDED_SECONDS);

    p = text + NGX_SVC_OAUTH_DECIDED_DIGITS;

    if (ar->oauth.sr->error.kind == NGX_SVC_E_NONE) {
        ngx_memcpy(p, ar->code.data, NGX_SVC_OAUTH_CODE);
    }

    p = ngx_cpymem(p + NGX_SVC_OAUTH_CODE, slug->data, slug->len);

    rc = ngx_svc_seal(ngx_svc_oauth_decided_keys(ar), text, p - text, aad,
                      sizeof(aad), sealed, len);

    ngx_explicit_memzero(text, sizeof(text));

    return rc;
}


ngx_int_t
ngx_svc_oauth_decided(ngx_svc_oauth_request_t *ar, ngx_str_t *slug)
{
    u_char     *text;
    size_t      len;
    ngx_int_t   rc, until;

    if (ar->mode != NGX_SVC_OAUTH_MODE_FORM_POST || ar->digest.data == NULL
        || ar->fault.data || ar->decided.data == NULL)
    {
        return NGX_DECLINED;
    }

    text = ngx_pnalloc(ar->oauth.sr->request->pool,
                       NGX_SVC_OAUTH_DECIDED_SEALED);
    if (text == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_decided_open(ar, &ar->decided, text, &len);

    if (rc != NGX_OK) {
        return rc;
    }

    until = ngx_hextoi(text, NGX_SVC_OAUTH_DECIDED_DIGITS);

    if (until == NGX_ERROR || until < ngx_time()) {
        return NGX_DECLINED;
    }

    slug->data = text + NGX_SVC_OAUTH_DECIDED_FIXED;
    slug->len = len - NGX_SVC_OAUTH_DECIDED_FIXED;

    if (text[NGX_SVC_OAUTH_DECIDED_DIGITS] == 0) {
        return ngx_svc_oauth_outcome_denied(ar);
    }

    ar->code.data = text + NGX_SVC_OAUTH_DECIDED_DIGITS;
    ar->code.len = NGX_SVC_OAUTH_CODE;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_decided_open(ngx_svc_oauth_request_t *ar, const ngx_str_t *value,
    u_char *text, size_t *len)
{
    u_char     sealed[NGX_SVC_OAUTH_DECIDED_SEALED];
    u_char     aad[NGX_SVC_OAUTH_DECIDED_AAD];
    ngx_int_t  rc;

    if (value->len > ngx_svc_base64url_len(sizeof(sealed))
        || ngx_svc_base64url_decode(value->data, value->len, sealed, len)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_oauth_decided_aad(ar, aad) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_unseal(ngx_svc_oauth_decided_keys(ar), sealed, *len, aad,
                        sizeof(aad), text, len);

    return rc == NGX_OK && *len < NGX_SVC_OAUTH_DECIDED_FIXED ? NGX_DECLINED
                                                              : rc;
}


/*
 * Binds it to the session and to the request.  A 0 ends each parameter, and
 * none has one.
 */

static ngx_int_t
ngx_svc_oauth_decided_aad(ngx_svc_oauth_request_t *ar,
    u_char aad[NGX_SVC_OAUTH_DECIDED_AAD])
{
    u_char     *p, *start;
    size_t      size;
    ngx_uint_t  i;

    const ngx_str_t *const  parts[] = {
        &ar->oauth.client.id, &ar->redirect_uri, &ar->state
    };

    size = ar->digest.len;

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size += parts[i]->len + 1;
    }

    start = ngx_pnalloc(ar->oauth.sr->request->pool, size);
    if (start == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(start, ar->digest.data, ar->digest.len);

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        p = ngx_cpymem(p, parts[i]->data, parts[i]->len);
        *p++ = 0;
    }

    return ngx_svc_sha256(start, p - start,
                          ngx_cpymem(aad, NGX_SVC_OAUTH_DECIDED_KIND,
                                     sizeof(NGX_SVC_OAUTH_DECIDED_KIND) - 1));
}


static const ngx_svc_keys_t *
ngx_svc_oauth_decided_keys(ngx_svc_oauth_request_t *ar)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(ar->oauth.sr->request,
                                         ngx_http_svc_common_module);

    return &smcf->keys;
}
