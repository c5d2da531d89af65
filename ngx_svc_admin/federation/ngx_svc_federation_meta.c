/*
 * What an issuer publishes: its metadata, and its keys.
 */

#include "ngx_svc_federation_meta.h"
#include "ngx_svc_federation.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_ask.h"
#include "ngx_svc_federation_fetch.h"
#include "ngx_svc_oidc_jwks.h"


#define NGX_SVC_FEDERATION_DOCUMENT  (128 * 1024)   /* bytes of an answer */
#define NGX_SVC_FEDERATION_JWKS      (256 * 1024)
#define NGX_SVC_FEDERATION_SOONEST   3600           /* s */
#define NGX_SVC_FEDERATION_LATEST    86400


static ngx_int_t ngx_svc_federation_meta_document(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_meta_kept(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_meta_urls(ngx_svc_federation_flow_t *flow,
    const ngx_svc_oidc_metadata_t *m);
static ngx_int_t ngx_svc_federation_meta_jwks(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_meta_keys(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_bind_max_age(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_federation_meta.sql.h"


ngx_int_t
ngx_svc_federation_meta(ngx_svc_federation_flow_t *flow,
    ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_str_t  issuer;

    flow->next = next;

    ngx_svc_federation_fetch_new(flow);

    if (ngx_svc_provider_discovery(flow->login.sr->request->pool,
                                   &flow->connection.settings,
                                   &flow->fetch.url, &issuer)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_federation_fetch(flow, NGX_SVC_FEDERATION_DOCUMENT,
                                    ngx_svc_federation_meta_document);
}


static ngx_int_t
ngx_svc_federation_meta_document(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t  rc;

    rc = ngx_svc_federation_meta_kept(flow);

    return rc == NGX_OK ? ngx_svc_federation_keys(flow, flow->next)
                        : ngx_svc_federation_declined(flow->login.sr, rc);
}


/* Takes what is kept of the document, which must be the issuer's own. */

static ngx_int_t
ngx_svc_federation_meta_kept(ngx_svc_federation_flow_t *flow)
{
    cJSON                    *json;
    ngx_int_t                 rc;
    ngx_str_t                 kept;
    ngx_svc_oidc_metadata_t   m;

    rc = ngx_svc_federation_fetched(flow, "metadata", &json);
    if (rc != NGX_OK) {
        return rc;
    }

    flow->connection.document = flow->fetch.answer;
    flow->max_age = flow->fetch.max_age;

    rc = ngx_svc_federation_document(flow, &m);

    if (rc == NGX_DECLINED) {
        return ngx_svc_federation_fail(flow, "metadata: %s", m.why);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_meta_urls(flow, &m);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oidc_metadata_keep(flow->login.sr->request->pool, &m,
                                        &kept);
        flow->connection.document = kept;
    }

    return rc;
}


/* What is asked later must be where a tenant may send us. */

static ngx_int_t
ngx_svc_federation_meta_urls(ngx_svc_federation_flow_t *flow,
    const ngx_svc_oidc_metadata_t *m)
{
    ngx_uint_t       i;
    ngx_svc_error_t  err;

    const struct {
        const char       *name;
        const ngx_str_t  *url;
    } urls[] = {
        { "token_endpoint", &m->token_endpoint },
        { "jwks_uri", &m->jwks_uri },
        { "userinfo_endpoint", &m->userinfo_endpoint }
    };

    for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        err.kind = NGX_SVC_E_NONE;

        if (urls[i].url->len
            && ngx_svc_federation_url(urls[i].url, urls[i].name, &err)
               != NGX_OK)
        {
            return ngx_svc_federation_fail(flow, "metadata: %*s", err.len,
                                           err.detail);
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_keys(ngx_svc_federation_flow_t *flow,
    ngx_int_t (*next)(ngx_svc_request_t *sr))
{
    ngx_svc_oidc_metadata_t  m;

    flow->next = next;

    if (ngx_svc_federation_document(flow, &m) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_federation_fetch_new(flow);
    flow->fetch.url = m.jwks_uri;

    return ngx_svc_federation_fetch(flow, NGX_SVC_FEDERATION_JWKS,
                                    ngx_svc_federation_meta_jwks);
}


static ngx_int_t
ngx_svc_federation_meta_jwks(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t  rc;

    rc = ngx_svc_federation_meta_keys(flow);

    return rc == NGX_OK ? flow->next(flow->login.sr)
                        : ngx_svc_federation_declined(flow->login.sr, rc);
}


static ngx_int_t
ngx_svc_federation_meta_keys(ngx_svc_federation_flow_t *flow)
{
    cJSON       *json;
    ngx_int_t    rc;
    const char  *why;

    rc = ngx_svc_federation_fetched(flow, "keys", &json);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_oidc_jwks_keep(flow->login.sr->request->pool,
                                &flow->fetch.answer, &flow->connection.jwks,
                                &why);

    return rc == NGX_DECLINED ? ngx_svc_federation_fail(flow, "keys: %s", why)
                              : rc;
}


static ngx_int_t
ngx_svc_federation_bind_max_age(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    time_t                      age;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    age = ngx_max(flow->max_age, NGX_SVC_FEDERATION_SOONEST);

    return ngx_svc_pg_bind_int(sr->op, call,
                               ngx_min(age, NGX_SVC_FEDERATION_LATEST));
}
