/*
 * GET /v1/auth/options: what a sign-in page may offer.
 */

#include "ngx_svc_admin_tenant.h"
#include "ngx_svc_ceremony.h"


#define NGX_SVC_OPTIONS_TENANT  0       /* the results */
#define NGX_SVC_OPTIONS_ROW     1


static ngx_int_t ngx_svc_admin_signin_options_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_signin_options_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_signin_options_passkey(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/* What a tenant has switched on, and is not there yet, is not offered. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_signin_options = {
    .name = "signin_options",
    .text =
        "SELECT t.slug AS \"tenant.slug\", t.name AS \"tenant.name\","
            " t.branding ||" NGX_SVC_ADMIN_LOGO_URL("t.slug", "t.logo_etag")
                " AS branding,"
            " true AS \"methods.password\","
            " $2::bool OR EXISTS (SELECT FROM svc.domain d"
                " WHERE d.tenant_id = g.tenant_id AND d.domain = $3"
                " AND d.verified_at IS NOT NULL) AS \"methods.passkey\","
            " false AS \"methods.passwordless\","
            " false AS \"methods.signup\","
            " false AS \"methods.organizations\","
            " g.min_length AS \"passwordPolicy.minLength\","
            " g.require_lower AS \"passwordPolicy.requireLower\","
            " g.require_upper AS \"passwordPolicy.requireUpper\","
            " g.require_digit AS \"passwordPolicy.requireDigit\","
            " g.require_symbol AS \"passwordPolicy.requireSymbol\","
            " g.reject_breached AS \"passwordPolicy.rejectBreached\","
            " g.reject_contextual AS \"passwordPolicy.rejectContextual\""
        " FROM svc.governance g, svc.public_tenant(("
            "SELECT k.slug FROM svc.tenant k"
            " WHERE k.id = " NGX_SVC_TENANT ")) t"
        " WHERE g.tenant_id = " NGX_SVC_TENANT,
    NGX_SVC_PARAMS(ngx_svc_param_base_url(),
                   ngx_svc_param_call(ngx_svc_admin_signin_options_passkey),
                   ngx_svc_login_param(host))
};


const ngx_svc_route_t  ngx_svc_admin_signin_options[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/options"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_signin_tenant,
                      &ngx_svc_sql_signin_options },
      .prepare = ngx_svc_admin_signin_options_prepare,
      .reply = ngx_svc_admin_signin_options_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_signin_options_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t               rc;
    ngx_svc_value_t         tenant;
    ngx_svc_login_t        *login;

    static const ngx_svc_member_t  slug = ngx_svc_null_member;

    ngx_memzero(&tenant, sizeof(ngx_svc_value_t));

    login = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_login_t));
    if (login == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    login->sr = sr;
    sr->data = login;

    rc = ngx_svc_argument(sr, "tenant", &tenant.str);

    if (rc == NGX_OK && tenant.str.data) {
        tenant.set = 1;

        rc = tenant.str.len && tenant.str.len <= NGX_SVC_ADMIN_SLUG
             ? ngx_svc_login_slug(&slug, &tenant, "tenant", &sr->error)
             : ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"tenant\" must be the slug of a tenant, such as "
                            "\"acme\".");
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_login_take_client(login, &tenant);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_login_admitted(login);
    }

    return rc == NGX_ERROR ? NGX_HTTP_INTERNAL_SERVER_ERROR : rc;
}


static ngx_int_t
ngx_svc_admin_signin_options_reply(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_svc_login_t  *login;

    login = sr->data;
    res = sr->results[NGX_SVC_OPTIONS_ROW];

    rc = ngx_svc_login_tenant(login, sr->results[NGX_SVC_OPTIONS_TENANT]);

    if (rc == NGX_OK && PQntuples(res) == 0) {
        rc = ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND,
                          "There is no such tenant.");
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK || ngx_svc_signin_no_store(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_row(sr, res);
}


static ngx_int_t
ngx_svc_admin_signin_options_passkey(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_bool(call, ngx_svc_ceremony_possible(sr));

    return NGX_OK;
}
