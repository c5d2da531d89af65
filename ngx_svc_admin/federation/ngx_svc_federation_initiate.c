/*
 * /v1/tenants/{slug}/federation/{connection}/initiate: another site has
 * somebody sign in by a connection (OpenID Connect Core 1.0, 4).
 *
 * Anybody may send a browser here: nothing begins, and nothing is counted.  The
 * page says whose connection it is, and waits for a click.
 */

#include "ngx_svc_base_url.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_named.h"
#include "ngx_svc_form.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_url.h"


static ngx_int_t ngx_svc_federation_initiate_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_initiate_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_initiate_form(
    ngx_svc_federation_flow_t *flow, const ngx_str_t *text);
static void ngx_svc_federation_initiate_target(
    ngx_svc_federation_flow_t *flow, ngx_str_t *target);
static ngx_int_t ngx_svc_federation_initiate_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_initiate_issuer(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_initiate_lead(
    ngx_svc_federation_flow_t *flow);


const ngx_svc_route_t  ngx_svc_federation_initiate[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/tenants/*/federation/*/initiate"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_PAGE,
      .statements = { &ngx_svc_sql_federation_named_tenant,
                      &ngx_svc_sql_federation_named },
      .prepare = ngx_svc_federation_initiate_prepare,
      .reply = ngx_svc_federation_initiate_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/tenants/*/federation/*/initiate"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_PAGE,
      .statements = { &ngx_svc_sql_federation_named_tenant,
                      &ngx_svc_sql_federation_named },
      .prepare = ngx_svc_federation_initiate_prepare,
      .reply = ngx_svc_federation_initiate_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_federation_initiate_prepare(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    sr->failed = ngx_svc_federation_refuse;

    login = ngx_svc_login_create(sr, sizeof(ngx_svc_federation_flow_t), NULL,
                                 ngx_svc_federation_initiate_take);

    return login ? ngx_svc_login_admitted(login)
                 : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_federation_initiate_take(ngx_svc_login_t *login)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = login->sr;

    rc = ngx_svc_federation_named_take(sr->data);

    /* nothing of another path is told to the page */

    if (rc == NGX_DECLINED) {
        ngx_str_null(&login->asked.slug);
    }

    return rc == NGX_OK
           ? ngx_svc_federation_initiate_form(sr->data,
                                      sr->request->method == NGX_HTTP_POST
                                      ? &sr->body : &sr->request->args)
           : rc;
}


static ngx_int_t
ngx_svc_federation_initiate_form(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *text)
{
    ngx_int_t           rc;
    ngx_str_t           target;
    ngx_svc_form_t      form;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;

    rc = ngx_svc_form_parse(sr->request->pool, text, &form, &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_form_value(&form, "iss", &flow->issuer, &sr->error);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_form_value(&form, "login_hint", &flow->hint, &sr->error);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_form_value(&form, "target_link_uri", &target, &sr->error);
    }

    if (rc == NGX_OK && target.data) {
        ngx_svc_federation_initiate_target(flow, &target);
    }

    return rc;
}


/*
 * A page of this server, by its path, or its URL at svc_base_url or at the host
 * where the browser is: it stays at that one.  Others lead nowhere.
 */

static void
ngx_svc_federation_initiate_target(ngx_svc_federation_flow_t *flow,
    ngx_str_t *target)
{
    const ngx_str_t    *base;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;
    base = ngx_svc_base_url(sr);

    if (ngx_svc_base_url_domain(sr) && target->len > sr->domain_url.len
        && ngx_memcmp(target->data, sr->domain_url.data, sr->domain_url.len)
           == 0)
    {
        base = &sr->domain_url;
    }

    if (target->len > base->len
        && ngx_memcmp(target->data, base->data, base->len) == 0)
    {
        target->data += base->len;
        target->len -= base->len;
    }

    if (ngx_svc_login_url_leads(target)) {
        flow->return_to = *target;
    }
}


static ngx_int_t
ngx_svc_federation_initiate_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    rc = ngx_svc_federation_named(flow);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_initiate_issuer(flow);
    }

    if (rc == NGX_OK) {
        return ngx_svc_federation_initiate_lead(flow);
    }

    return rc == NGX_DECLINED ? ngx_svc_send_error(sr)
                              : ngx_svc_federation_declined(sr, rc);
}


static ngx_int_t
ngx_svc_federation_initiate_issuer(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                      rc;
    ngx_str_t                      url;
    ngx_uint_t                     i;
    ngx_svc_id_token_expected_t    expected;
    ngx_svc_provider_settings_t   *settings;

    settings = &flow->connection.settings;

    ngx_memzero(&expected, sizeof(ngx_svc_id_token_expected_t));

    ngx_svc_provider_expect(settings, &expected);

    rc = ngx_svc_provider_discovery(flow->login.sr->request->pool, settings,
                                    &url, &expected.issuer);
    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (flow->issuer.len
        && (ngx_svc_same(&flow->issuer, &expected.issuer)
            || ngx_svc_same(&flow->issuer, &expected.issuer_too)))
    {
        return NGX_OK;
    }

    for (i = 0; expected.tenant && i < expected.ntids; i++) {
        if (ngx_svc_id_token_issued(&expected.issuer, &expected.tids[i],
                                    &flow->issuer))
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(&flow->login.sr->error, NGX_SVC_E_FEDERATION,
                        "\"iss\" is not the issuer of that connection.");
}


static ngx_int_t
ngx_svc_federation_initiate_lead(ngx_svc_federation_flow_t *flow)
{
    u_char     *p;
    ngx_str_t   fragment, *key, *hint;

    key = &flow->connection.key;
    hint = &flow->hint;

    /* a hint may be anything (Core, 4), and an address is what start takes */

    if (hint->len > NGX_SVC_EMAIL_MAX
        || ngx_strlchr(hint->data, hint->data + hint->len, '@') == NULL)
    {
        ngx_str_null(hint);
    }

    p = ngx_pnalloc(flow->login.sr->request->pool,
                    sizeof("connection=&login_hint=") + key->len
                    + 3 * hint->len);
    if (p == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    fragment.data = p;
    p = ngx_sprintf(p, "connection=%V", key);

    if (hint->len) {
        p = ngx_cpymem(p, "&login_hint=", sizeof("&login_hint=") - 1);
        p = (u_char *) ngx_escape_uri(p, hint->data, hint->len,
                                      NGX_ESCAPE_URI_COMPONENT);
    }

    fragment.len = p - fragment.data;

    return ngx_svc_federation_page(flow->login.sr, &fragment);
}
