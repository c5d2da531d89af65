/*
 * Who somebody is at GitHub, which has no ID tokens: its API is asked.
 */

#include "ngx_svc_federation_github.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_attributes.h"
#include "ngx_svc_federation_fetch.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_federation_read.h"


#define NGX_SVC_FEDERATION_GITHUB  (64 * 1024)  /* bytes of an answer */


static ngx_int_t ngx_svc_federation_github_ask(
    ngx_svc_federation_flow_t *flow, const ngx_str_t *url,
    ngx_int_t (*done)(ngx_svc_federation_flow_t *flow));
static ngx_int_t ngx_svc_federation_github_user(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_github_emails(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_github_person(
    ngx_svc_federation_flow_t *flow);


ngx_int_t
ngx_svc_federation_github(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_federation_github_ask(flow,
                            &flow->connection.settings.provider->user_endpoint,
                            ngx_svc_federation_github_user);
}


static ngx_int_t
ngx_svc_federation_github_ask(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *url, ngx_int_t (*done)(ngx_svc_federation_flow_t *flow))
{
    static const ngx_str_t  accept =
                             ngx_string("Accept: application/vnd.github+json");

    ngx_svc_federation_fetch_new(flow);

    flow->fetch.url = *url;
    flow->fetch.headers[flow->fetch.nheaders++] = accept;

    if (ngx_svc_federation_fetch_bearer(flow) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_federation_fetch(flow, NGX_SVC_FEDERATION_GITHUB, done);
}


static ngx_int_t
ngx_svc_federation_github_user(ngx_svc_federation_flow_t *flow)
{
    cJSON      *json;
    ngx_int_t   rc;

    rc = ngx_svc_federation_fetched(flow, "the user", &json);

    if (rc != NGX_OK) {
        return ngx_svc_federation_declined(flow->login.sr, rc);
    }

    flow->profile = flow->fetch.answer;

    return ngx_svc_federation_github_ask(flow,
                          &flow->connection.settings.provider->emails_endpoint,
                          ngx_svc_federation_github_emails);
}


static ngx_int_t
ngx_svc_federation_github_emails(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t  rc;

    rc = ngx_svc_federation_answered(flow, "the addresses");

    if (rc == NGX_OK) {
        rc = flow->fetch.status == NGX_HTTP_OK
             ? ngx_svc_federation_github_person(flow)
             : ngx_svc_federation_fetch_status(flow, "the addresses", NULL);
    }

    return rc == NGX_OK ? ngx_svc_federation_read(flow)
                        : ngx_svc_federation_declined(flow->login.sr, rc);
}


static ngx_int_t
ngx_svc_federation_github_person(ngx_svc_federation_flow_t *flow)
{
    cJSON                      *json;
    ngx_int_t                   rc;
    ngx_pool_t                 *pool;
    ngx_svc_error_t             err;
    ngx_svc_provider_person_t   person;

    pool = flow->login.sr->request->pool;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_provider_github(pool, &flow->profile, &flow->fetch.answer,
                                 &person);

    if (rc == NGX_DECLINED) {
        return ngx_svc_federation_fail(flow, "GitHub %s", person.why);
    }

    if (rc != NGX_OK
        || ngx_svc_json_parse(pool, &flow->profile, &json, &err) != NGX_OK
        || ngx_svc_federation_proof_person(flow, &person, json) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_federation_attributes(flow, json);

    return rc == NGX_AGAIN ? NGX_OK : rc;
}
