/*
 * /v1/tenants/{slug}/federation/{connection}/callback: the browser comes back
 * from the provider.
 *
 * One round trip takes the flow, with all that its connection needs, and the
 * provider is asked only then: a state that is not good costs no call.
 */

#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_ask.h"
#include "ngx_svc_federation_exchange.h"
#include "ngx_svc_federation_own.h"
#include "ngx_svc_federation_take.h"
#include "ngx_svc_federation_test.h"
#include "ngx_svc_form.h"


#define NGX_SVC_FEDERATION_CODE  2048   /* bytes */
#define NGX_SVC_FEDERATION_TOLD  200    /* bytes of what a provider says */


static ngx_int_t ngx_svc_federation_callback_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_callback_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_callback_form(
    ngx_svc_federation_flow_t *flow, const ngx_str_t *text);
static ngx_int_t ngx_svc_federation_callback_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_callback_path(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_callback_refused(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_callback_check(
    ngx_svc_federation_flow_t *flow);


const ngx_svc_route_t  ngx_svc_federation_callback[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/tenants/*/federation/*/callback"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_PAGE,
      .statements = { &ngx_svc_sql_federation_tenant,
                      &ngx_svc_sql_federation_take },
      .prepare = ngx_svc_federation_callback_prepare,
      .reply = ngx_svc_federation_callback_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/tenants/*/federation/*/callback"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_PAGE
               |NGX_SVC_ROUTE_FORM,
      .statements = { &ngx_svc_sql_federation_tenant,
                      &ngx_svc_sql_federation_take },
      .prepare = ngx_svc_federation_callback_prepare,
      .reply = ngx_svc_federation_callback_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_federation_callback_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_federation_take_prepare(sr,
                                           ngx_svc_federation_callback_take);
}


static ngx_int_t
ngx_svc_federation_callback_take(ngx_svc_login_t *login)
{
    ngx_int_t                   rc;
    ngx_svc_request_t          *sr;
    ngx_svc_federation_flow_t  *flow;

    sr = login->sr;
    flow = sr->data;
    flow->key = sr->params[1];
    flow->posted = (sr->route->flags & NGX_SVC_ROUTE_FORM) != 0;

    rc = ngx_svc_federation_callback_form(flow, flow->posted
                                                ? &sr->body
                                                : &sr->request->args);

    /* what cannot be read has no state */

    if (rc == NGX_DECLINED) {
        ngx_str_null(&flow->state);
    }

    return rc == NGX_ERROR ? rc : ngx_svc_federation_take_client(flow);
}


/*
 * A parameter other than the state that is there twice is as one that is not.
 */

static ngx_int_t
ngx_svc_federation_callback_form(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *text)
{
    ngx_int_t         rc;
    ngx_uint_t        i;
    ngx_svc_form_t    form;
    ngx_svc_error_t   err;

    const struct {
        const char   *name;
        ngx_str_t    *value;
    } parameters[] = {
        { "code", &flow->code },
        { "iss", &flow->issuer },
        { "error", &flow->refusal },
        { "error_description", &flow->refusal_text },
        { "user", &flow->user }
    };

    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_form_parse(flow->login.sr->request->pool, text, &form, &err);

    if (rc == NGX_OK) {
        rc = ngx_svc_form_value(&form, "state", &flow->state, &err);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        if (ngx_svc_form_value(&form, parameters[i].name, parameters[i].value,
                               &err)
            != NGX_OK)
        {
            ngx_str_null(parameters[i].value);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_federation_callback_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    rc = ngx_svc_federation_taken(flow);

    if (rc == NGX_OK) {
        flow->step = NGX_SVC_FEDERATION_AT_AUTHORIZATION;
        flow->ended = flow->purpose == NGX_SVC_FEDERATION_TEST
                      ? ngx_svc_federation_test_failed : NULL;
        rc = ngx_svc_federation_callback_path(flow);
    }

    if (rc == NGX_OK && !flow->posted) {
        rc = ngx_svc_federation_own_return(flow);
    }

    if (rc == NGX_OK) {
        rc = flow->refusal.len ? ngx_svc_federation_callback_refused(flow)
                               : ngx_svc_federation_callback_check(flow);
    }

    return rc == NGX_OK ? ngx_svc_federation_exchange(flow)
                        : ngx_svc_federation_declined(sr, rc);
}


/*
 * A provider that takes part in another connection's flow, perhaps of another
 * tenant's, leads the browser to the path of its own: what it has issued is
 * sent nowhere (RFC 9700, 4.4.2.2).  No form is taken that was not asked for:
 * it has come without the cookie.
 */

static ngx_int_t
ngx_svc_federation_callback_path(ngx_svc_federation_flow_t *flow)
{
    if (!ngx_svc_same(&flow->login.sr->params[0], &flow->login.asked.slug)
        || !ngx_svc_same(&flow->key, &flow->connection.key))
    {
        return ngx_svc_federation_fail(flow, "the redirect URI is that of "
                                       "another connection");
    }

    return !flow->posted || flow->connection.settings.provider->form_post
           ? NGX_OK
           : ngx_svc_federation_fail(flow, "a form was not asked for");
}


/* What the provider says itself is not shown to the browser. */

static ngx_int_t
ngx_svc_federation_callback_refused(ngx_svc_federation_flow_t *flow)
{
    ngx_uint_t  i;
    ngx_str_t   code, text;

    static const ngx_str_t  denied[] = {
        ngx_string("access_denied"),
        ngx_string("login_required"),
        ngx_string("interaction_required"),
        ngx_string("user_cancelled_authorize"),
        ngx_string("user_cancelled_login"),
        ngx_null_string
    };

    code = flow->refusal;
    text = flow->refusal_text;

    for (i = 0; denied[i].len; i++) {
        if (ngx_svc_same(&code, &denied[i])) {
            (void) ngx_svc_fail(&flow->login.sr->error,
                                NGX_SVC_E_FEDERATION_DENIED, "%s",
                                "The identity provider has not signed the "
                                "user in.");
        }
    }

    code.len = ngx_min(code.len, NGX_SVC_FEDERATION_TOLD);
    text.len = ngx_min(text.len, NGX_SVC_FEDERATION_TOLD);

    return ngx_svc_federation_fail(flow, "%V: %V", &code, &text);
}


/* The issuer comes first: a code of another one is sent nowhere (RFC 9207). */

static ngx_int_t
ngx_svc_federation_callback_check(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                rc;
    ngx_svc_oidc_metadata_t  m;

    rc = ngx_svc_federation_document(flow, &m);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_DECLINED) {
        flow->step = NGX_SVC_FEDERATION_AT_METADATA;
        return ngx_svc_federation_fail(flow, "the metadata are too old");
    }

    if (flow->issuer.len ? !ngx_svc_same(&flow->issuer, &m.issuer) : m.iss) {
        return ngx_svc_federation_fail(flow, "\"iss\" is not the issuer");
    }

    if (flow->code.len == 0 || flow->code.len > NGX_SVC_FEDERATION_CODE) {
        return ngx_svc_federation_fail(flow, "there is no \"code\" of at most "
                                       "%d bytes", NGX_SVC_FEDERATION_CODE);
    }

    return NGX_OK;
}
