/*
 * /v1/tenants/{slug}/federation/{key}/callback: the browser comes back from the
 * provider.
 *
 * One round trip takes the flow, with all that its connection needs, and the
 * provider is asked only then: a state that is not good costs no call.
 */

#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_ask.h"
#include "ngx_svc_federation_callback.row.h"
#include "ngx_svc_federation_exchange.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_form.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_pg_array.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_FEDERATION_CODE  2048   /* bytes */
#define NGX_SVC_FEDERATION_TOLD  200    /* bytes of what a provider says */


static ngx_int_t ngx_svc_federation_callback_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_callback_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_callback_form(
    ngx_svc_federation_flow_t *flow, const ngx_str_t *text);
static ngx_int_t ngx_svc_federation_callback_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_callback_tenant(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_callback_row(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_callback_mac(
    ngx_svc_federation_flow_t *flow, const ngx_str_t *hex);
static ngx_int_t ngx_svc_federation_callback_connection(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_callback_settings(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_callback_secrets(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_callback_open(
    ngx_svc_federation_flow_t *flow, const char *what, const ngx_str_t *id,
    const ngx_str_t *column, ngx_str_t *text);
static ngx_int_t ngx_svc_federation_callback_path(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_callback_refused(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_callback_check(
    ngx_svc_federation_flow_t *flow);


#include "ngx_svc_federation_callback.sql.h"


const ngx_svc_route_t  ngx_svc_federation_callback[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/tenants/*/federation/*/callback"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_PAGE,
      .statements = { &ngx_svc_sql_federation_tenant,
                      &ngx_svc_sql_federation_take },
      .prepare = ngx_svc_federation_callback_prepare,
      .reply = ngx_svc_federation_callback_reply },

    ngx_svc_null_route
};


/*
 * Without a state or a cookie nothing is counted: any page can have browsers
 * get this, and their address would be kept from signing in.
 */

static ngx_int_t
ngx_svc_federation_callback_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    sr->failed = ngx_svc_federation_refuse;

    if (sr->data) {
        return ngx_svc_login_admitted(sr->data);
    }

    login = ngx_svc_login_create(sr, sizeof(ngx_svc_federation_flow_t),
                                 &ngx_svc_federation_login_method,
                                 ngx_svc_federation_callback_take);
    if (login == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (login->invalid) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_login_limit(login);

    return rc == NGX_OK ? ngx_svc_login_admitted(login) : rc;
}


static ngx_int_t
ngx_svc_federation_callback_take(ngx_svc_login_t *login)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = login->sr->data;
    flow->key = login->sr->params[1];

    rc = ngx_svc_federation_callback_form(flow, &login->sr->request->args);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_flow_state(flow);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_flow_cookie(flow);
    }

    if (rc == NGX_OK && flow->cookie.data == NULL) {
        rc = NGX_DECLINED;
    }

    if (ngx_svc_login_take_client(login, NULL) != NGX_OK
        || ngx_svc_login_take_session(login) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return rc == NGX_DECLINED ? ngx_svc_federation_over(login->sr) : rc;
}


/* A parameter other than the state that is there twice is as one that is not. */

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
        { "error_description", &flow->refusal_text }
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
    ngx_int_t                       rc;
    PGresult                       *res;
    ngx_svc_federation_flow_t      *flow;
    ngx_svc_row_federation_take_t   row;

    flow = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_federation_take);

    rc = ngx_svc_federation_callback_tenant(flow);

    if (rc == NGX_OK) {
        ngx_svc_row_federation_take(&row, res, 0);

        rc = PQntuples(res) ? ngx_svc_federation_callback_row(flow, &row)
                            : ngx_svc_federation_over(sr);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_callback_path(flow);
    }

    if (rc == NGX_OK) {
        rc = flow->refusal.len ? ngx_svc_federation_callback_refused(flow)
                               : ngx_svc_federation_callback_check(flow);
    }

    return rc == NGX_OK ? ngx_svc_federation_exchange(flow)
                        : ngx_svc_federation_declined(sr, rc);
}


static ngx_int_t
ngx_svc_federation_callback_tenant(ngx_svc_federation_flow_t *flow)
{
    PGresult                    *res;
    ngx_svc_row_login_tenant_t   row;

    res = ngx_svc_result(flow->login.sr, &ngx_svc_sql_federation_tenant);

    if (PQntuples(res) == 0) {
        return ngx_svc_federation_over(flow->login.sr);
    }

    ngx_svc_row_login_tenant(&row, res, 0, 0);

    return ngx_svc_login_copy(&flow->login, &flow->login.asked.slug, row.slug)
           == NGX_OK ? ngx_svc_login_tenant(&flow->login, res) : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_callback_row(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row)
{
    ngx_svc_login_t  *login;

    login = &flow->login;

    if (ngx_svc_federation_flow_id(flow, &flow->id, &row->id) != NGX_OK
        || ngx_svc_login_copy(login, &flow->nonce, row->nonce) != NGX_OK
        || ngx_svc_login_copy(login, &flow->return_to, row->return_to)
           != NGX_OK
        || ngx_svc_federation_callback_mac(flow, &row->email_mac) != NGX_OK
        || ngx_svc_login_begun(login, &row->login_begun) != NGX_OK
        || ngx_svc_federation_callback_connection(flow, row) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_federation_callback_secrets(flow, row);
}


/* The address that the flow has counted has its hit given back, too. */

static ngx_int_t
ngx_svc_federation_callback_mac(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *hex)
{
    ngx_str_t  *mac;

    if (hex->data == NULL) {
        return NGX_OK;
    }

    mac = &flow->login.asked.mac;

    mac->len = NGX_SVC_LIMIT_MAC_LEN;
    mac->data = ngx_pnalloc(flow->login.sr->request->pool,
                            NGX_SVC_LIMIT_MAC_LEN);

    return mac->data ? ngx_svc_hex_bytea(hex, mac->data, &mac->len)
                     : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_callback_connection(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row)
{
    ngx_uint_t                        i;
    ngx_svc_federation_connection_t  *connection;

    connection = &flow->connection;
    connection->trust_mfa = row->trust_mfa;

    const struct {
        ngx_str_t  *text;
        ngx_str_t   value;
    } columns[] = {
        { &connection->key, row->provider },
        { &connection->client_id, row->client_id },
        { &connection->settings.issuer, row->issuer },
        { &connection->settings.tenant_id, row->directory },
        { &connection->mapping, row->mapping },
        { &connection->document, row->document },
        { &connection->jwks, row->jwks }
    };

    for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        if (ngx_svc_login_copy(&flow->login, columns[i].text,
                               columns[i].value)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_svc_federation_callback_settings(flow, row) == NGX_OK
           ? ngx_svc_federation_flow_id(flow, &connection->id,
                                        &row->connection_id)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_callback_settings(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row)
{
    ngx_pool_t                   *pool;
    ngx_svc_pg_array_t            allowed, owned;
    ngx_svc_provider_settings_t  *settings;

    pool = flow->login.sr->request->pool;
    settings = &flow->connection.settings;

    if (ngx_svc_pg_array_read(pool, &row->allowed, &allowed) != NGX_OK
        || ngx_svc_pg_array_read(pool, &row->owned, &owned) != NGX_OK)
    {
        return NGX_ERROR;
    }

    settings->provider = ngx_svc_provider(&row->provider);
    settings->tids = allowed.elts;
    settings->ntids = allowed.n;
    settings->domains = owned.elts;
    settings->ndomains = owned.n;
    settings->trust_email = row->trust_email;

    return settings->provider ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_callback_secrets(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row)
{
    ngx_int_t  rc;

    rc = ngx_svc_federation_callback_open(flow, "federation", &row->id,
                                          &row->sealed, &flow->verifier);

    return rc == NGX_OK && row->client_secret.data
           ? ngx_svc_federation_callback_open(flow, "social", &row->secret_id,
                                              &row->client_secret,
                                              &flow->connection.secret)
           : rc;
}


static ngx_int_t
ngx_svc_federation_callback_open(ngx_svc_federation_flow_t *flow,
    const char *what, const ngx_str_t *id, const ngx_str_t *column,
    ngx_str_t *text)
{
    u_char      *p;
    ngx_int_t    rc;
    ngx_pool_t  *pool;

    pool = flow->login.sr->request->pool;

    p = ngx_pnalloc(pool, NGX_SVC_SEALED_TEXT);

    if (p == NULL
        || ngx_svc_wipe_later(pool, p, NGX_SVC_SEALED_TEXT) != NGX_OK)
    {
        return NGX_ERROR;
    }

    text->data = p;
    text->len = NGX_SVC_SEALED_TEXT;

    rc = ngx_svc_sealed_open(what, id, column, text->data, &text->len);

    if (rc == NGX_DECLINED) {
        ngx_svc_sealed_lost(flow->login.sr, "a secret of a connection",
                            flow->login.row.tenant, NULL, 0);
    }

    return rc == NGX_OK ? NGX_OK : NGX_ERROR;
}


/*
 * A provider that takes part in another connection's flow, perhaps of another
 * tenant's, leads the browser to the path of its own: what it has issued is
 * sent nowhere (RFC 9700, 4.4.2.2).
 */

static ngx_int_t
ngx_svc_federation_callback_path(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_same(&flow->login.sr->params[0], &flow->login.asked.slug)
           && ngx_svc_same(&flow->key, &flow->connection.key)
           ? NGX_OK
           : ngx_svc_federation_fail(flow, "the redirect URI is that of "
                                     "another connection");
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

    rc = flow->connection.document.data ? ngx_svc_federation_document(flow, &m)
                                        : NGX_DECLINED;
    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_DECLINED) {
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
