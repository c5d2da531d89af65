/*
 * Where a flow leads: the authorization request.
 */

#include "ngx_svc_federation_ask.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_federation.h"


#define NGX_SVC_FEDERATION_FIELDS  16


typedef struct {
    const char                *name;
    ngx_str_t                  value;
} ngx_svc_federation_field_t;


static ngx_int_t ngx_svc_federation_ask_fields(
    ngx_svc_federation_flow_t *flow, ngx_svc_federation_field_t *fields);
static ngx_svc_federation_field_t *ngx_svc_federation_ask_again(
    ngx_svc_federation_flow_t *flow, ngx_svc_federation_field_t *fields);
static ngx_int_t ngx_svc_federation_ask_challenge(
    ngx_svc_federation_flow_t *flow, ngx_str_t *challenge);


ngx_int_t
ngx_svc_federation_ask(ngx_svc_federation_flow_t *flow, ngx_str_t *url)
{
    u_char                      *p, *end;
    size_t                       size;
    ngx_uint_t                   i;
    ngx_svc_oidc_metadata_t      m;
    ngx_svc_federation_field_t   fields[NGX_SVC_FEDERATION_FIELDS];

    if (ngx_svc_federation_document(flow, &m) != NGX_OK
        || ngx_svc_federation_ask_fields(flow, fields) != NGX_OK)
    {
        return NGX_ERROR;
    }

    size = m.authorization_endpoint.len;

    for (i = 0; fields[i].name; i++) {
        size += 2 + ngx_strlen(fields[i].name) + 3 * fields[i].value.len;
    }

    p = ngx_pnalloc(flow->login.sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    url->data = p;
    end = ngx_cpymem(p, m.authorization_endpoint.data,
                     m.authorization_endpoint.len);
    p = ngx_strlchr(p, end, '?') ? end : NULL;

    for (i = 0; fields[i].name; i++) {

        if (fields[i].value.data == NULL) {
            continue;
        }

        *end++ = p ? '&' : '?';
        p = end;
        end = ngx_sprintf(end, "%s=", fields[i].name);
        end = (u_char *) ngx_escape_uri(end, fields[i].value.data,
                                        fields[i].value.len,
                                        NGX_ESCAPE_URI_COMPONENT);
    }

    url->len = end - url->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_federation_ask_fields(ngx_svc_federation_flow_t *flow,
    ngx_svc_federation_field_t *fields)
{
    ngx_str_t                  redirect;
    const ngx_svc_provider_t  *provider;

    static const ngx_str_t  code = ngx_string("code");
    static const ngx_str_t  form = ngx_string("form_post");
    static const ngx_str_t  method = ngx_string("S256");

    provider = flow->connection.settings.provider;
    redirect = ngx_svc_federation_flow_redirect(flow);

    if (redirect.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(fields, NGX_SVC_FEDERATION_FIELDS
                        * sizeof(ngx_svc_federation_field_t));

    *fields++ = (ngx_svc_federation_field_t) { "response_type", code };
    *fields++ = (ngx_svc_federation_field_t) {
                    "client_id", flow->connection.client_id };
    *fields++ = (ngx_svc_federation_field_t) { "redirect_uri", redirect };
    *fields++ = (ngx_svc_federation_field_t) { "scope", provider->scope };
    *fields++ = (ngx_svc_federation_field_t) { "state", flow->state };
    *fields++ = (ngx_svc_federation_field_t) { "login_hint", flow->hint };

    fields = ngx_svc_federation_ask_again(flow, fields);

    if (!provider->oauth) {
        *fields++ = (ngx_svc_federation_field_t) { "nonce", flow->nonce };
    }

    if (provider->form_post) {
        *fields++ = (ngx_svc_federation_field_t) { "response_mode", form };
    }

    if (provider->no_pkce) {
        return NGX_OK;
    }

    *fields++ = (ngx_svc_federation_field_t) {
                    "code_challenge_method", method };
    fields->name = "code_challenge";

    return ngx_svc_federation_ask_challenge(flow, &fields->value);
}


/* Who must date a sign-in does so when max_age is asked for (3.1.2.1). */

static ngx_svc_federation_field_t *
ngx_svc_federation_ask_again(ngx_svc_federation_flow_t *flow,
    ngx_svc_federation_field_t *fields)
{
    ngx_str_t                  age;
    const ngx_svc_provider_t  *provider;

    static const ngx_str_t  now = ngx_string("0");

    provider = flow->connection.settings.provider;
    age = flow->again ? now : flow->max_age;

    if (flow->again && provider->again.len) {
        *fields++ = (ngx_svc_federation_field_t) { "prompt",
                                                   provider->again };
    }

    if (provider->dates) {
        *fields++ = (ngx_svc_federation_field_t) { "max_age", age };
        *fields++ = (ngx_svc_federation_field_t) { "acr_values",
                                                   flow->acr_values };
    }

    return fields;
}


/* RFC 7636, 4.2. */

static ngx_int_t
ngx_svc_federation_ask_challenge(ngx_svc_federation_flow_t *flow,
    ngx_str_t *challenge)
{
    u_char  digest[NGX_SVC_SHA256_LEN];

    challenge->len = NGX_SVC_FEDERATION_TEXT;
    challenge->data = ngx_pnalloc(flow->login.sr->request->pool,
                                  NGX_SVC_FEDERATION_TEXT);

    if (challenge->data == NULL
        || ngx_svc_sha256(flow->verifier.data, flow->verifier.len, digest)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(challenge->data, digest, sizeof(digest));

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_document(ngx_svc_federation_flow_t *flow,
    ngx_svc_oidc_metadata_t *m)
{
    ngx_str_t    url, issuer;
    ngx_pool_t  *pool;

    pool = flow->login.sr->request->pool;

    if (ngx_svc_provider_metadata(flow->connection.settings.provider, m)
        == NGX_OK)
    {
        return NGX_OK;
    }

    m->why = "is none";

    return ngx_svc_provider_discovery(pool, &flow->connection.settings, &url,
                                      &issuer)
           == NGX_OK
           ? ngx_svc_oidc_metadata_read(pool, &flow->connection.document,
                                        &issuer, ngx_svc_federation_plain(), m)
           : NGX_ERROR;
}
