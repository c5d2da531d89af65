/*
 * A flow: its secrets, and the browser's cookie.
 */

#include "ngx_svc_federation_flow.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_cookie.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_FEDERATION_BYTES   32       /* of a secret */
#define NGX_SVC_FEDERATION_AGE     600      /* s, of the cookie */


static ngx_int_t ngx_svc_federation_flow_text(ngx_svc_federation_flow_t *flow,
    ngx_str_t *text);
static ngx_int_t ngx_svc_federation_flow_bind(ngx_svc_federation_flow_t *flow);


const ngx_str_t  ngx_svc_federation_purposes[] = {
    ngx_string("sign_in"),
    ngx_string("link"),
    ngx_string("step_up"),
    ngx_string("invite"),
    ngx_string("test"),
    ngx_null_string
};


static const ngx_str_t  ngx_svc_federation_cookie = ngx_string("svc_fed");


ngx_int_t
ngx_svc_federation_bind_purpose(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind_str(call, &ngx_svc_federation_purposes[flow->purpose]);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_bind_mailed(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind_bool(call, flow->mailed);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_bind_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind(call, sr->session ? sr->token_hash : NULL,
                    NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_flow_new(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;
    sr->new_id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);

    if (sr->new_id == NULL || ngx_svc_uuid_new(sr->new_id) != NGX_OK
        || ngx_svc_federation_flow_text(flow, &flow->state) != NGX_OK
        || ngx_svc_federation_flow_text(flow, &flow->nonce) != NGX_OK
        || ngx_svc_federation_flow_text(flow, &flow->verifier) != NGX_OK
        || ngx_svc_federation_flow_state(flow) != NGX_OK
        || ngx_svc_federation_flow_cookie(flow) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (flow->cookie.data == NULL
        && ngx_svc_federation_flow_text(flow, &flow->cookie) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_federation_flow_bind(flow) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_sealed_make(sr, "federation", &flow->verifier,
                               &flow->verifier_sealed);
}


/* Makes a random text, which is wiped with the request's pool. */

static ngx_int_t
ngx_svc_federation_flow_text(ngx_svc_federation_flow_t *flow, ngx_str_t *text)
{
    u_char       bytes[NGX_SVC_FEDERATION_BYTES];
    ngx_pool_t  *pool;

    pool = flow->login.sr->request->pool;

    text->len = NGX_SVC_FEDERATION_TEXT;
    text->data = ngx_pnalloc(pool, NGX_SVC_FEDERATION_TEXT);

    if (text->data == NULL || ngx_svc_random(bytes, sizeof(bytes)) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(text->data, bytes, sizeof(bytes));
    ngx_explicit_memzero(bytes, sizeof(bytes));

    return ngx_svc_wipe_later(pool, text->data, text->len);
}


/* The cookie counts for this row alone: a browser may have several flows. */

static ngx_int_t
ngx_svc_federation_flow_bind(ngx_svc_federation_flow_t *flow)
{
    u_char              text[NGX_SVC_FEDERATION_TEXT + NGX_SVC_UUID_LEN];
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;

    flow->cookie_hash.len = NGX_SVC_SHA256_LEN;
    flow->cookie_hash.data = ngx_pnalloc(sr->request->pool,
                                         NGX_SVC_SHA256_LEN);
    if (flow->cookie_hash.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(text, flow->cookie.data, NGX_SVC_FEDERATION_TEXT),
               sr->new_id, NGX_SVC_UUID_LEN);

    rc = ngx_svc_sha256(text, sizeof(text), flow->cookie_hash.data);
    ngx_explicit_memzero(text, sizeof(text));

    return rc;
}


ngx_int_t
ngx_svc_federation_flow_cookie(ngx_svc_federation_flow_t *flow)
{
    size_t              len;
    u_char              bytes[NGX_SVC_FEDERATION_BYTES];
    ngx_str_t           name, value;
    ngx_svc_request_t  *sr;

    static const ngx_str_t  host = ngx_string("__Host-svc_fed");

    sr = flow->login.sr;
    name = ngx_svc_cookie_secure(sr) ? host : ngx_svc_federation_cookie;

    if (ngx_svc_cookie(sr->request, &name, &value) == NGX_OK
        && value.len == NGX_SVC_FEDERATION_TEXT
        && ngx_svc_base64url_decode(value.data, value.len, bytes, &len)
           == NGX_OK)
    {
        flow->cookie = value;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_flow_set_cookie(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_cookie_set(flow->login.sr, &ngx_svc_federation_cookie,
                              &flow->cookie, NGX_SVC_FEDERATION_AGE,
                              NGX_SVC_COOKIE_HTTP_ONLY);
}


ngx_int_t
ngx_svc_federation_flow_state(ngx_svc_federation_flow_t *flow)
{
    size_t  len;
    u_char  bytes[NGX_SVC_FEDERATION_BYTES];

    if (flow->state.len != NGX_SVC_FEDERATION_TEXT
        || ngx_svc_base64url_decode(flow->state.data, flow->state.len, bytes,
                                    &len)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    flow->state_hash.len = NGX_SVC_SHA256_LEN;
    flow->state_hash.data = ngx_pnalloc(flow->login.sr->request->pool,
                                        NGX_SVC_SHA256_LEN);

    return flow->state_hash.data
           ? ngx_svc_sha256(flow->state.data, flow->state.len,
                            flow->state_hash.data)
           : NGX_ERROR;
}


ngx_int_t
ngx_svc_federation_flow_renew(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_federation_flow_text(flow, &flow->state) == NGX_OK
           && ngx_svc_federation_flow_state(flow) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_federation_flow_id(ngx_svc_federation_flow_t *flow, ngx_str_t *id,
    const ngx_str_t *text)
{
    id->len = NGX_SVC_UUID_LEN;
    id->data = ngx_pnalloc(flow->login.sr->request->pool, NGX_SVC_UUID_LEN);

    return id->data
           && ngx_svc_uuid_parse(text->data, text->len, id->data) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


ngx_str_t
ngx_svc_federation_flow_redirect(ngx_svc_federation_flow_t *flow)
{
    ngx_str_t           uri, *key, *slug;
    const ngx_str_t    *base;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;
    base = ngx_svc_base_url(sr);
    slug = &flow->login.asked.slug;
    key = &flow->connection.key;

    uri.len = base->len + sizeof("/v1/tenants//federation//callback") - 1
              + slug->len + key->len;
    uri.data = ngx_pnalloc(sr->request->pool, uri.len);

    if (uri.data) {
        (void) ngx_sprintf(uri.data, "%V/v1/tenants/%V/federation/%V/callback",
                           base, slug, key);
    }

    return uri;
}
