/*
 * The flow of a browser that comes back.
 */

#include "ngx_svc_federation_take.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_take.row.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_pg_array.h"
#include "ngx_svc_sealed.h"


static ngx_int_t ngx_svc_federation_take_tenant(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_take_row(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_take_mac(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *hex);
static ngx_int_t ngx_svc_federation_take_connection(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_take_settings(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_take_secrets(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row);
static ngx_int_t ngx_svc_federation_take_open(ngx_svc_federation_flow_t *flow,
    const char *what, const ngx_str_t *id, const ngx_str_t *column,
    ngx_str_t *text);
static ngx_int_t ngx_svc_federation_bind_finishes(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_federation_take.sql.h"


/*
 * Without a state or a cookie nothing is counted: any page can have browsers
 * come here, and their address would be kept from signing in.  A form counts
 * for nothing either way: its state costs a fetch once, and was counted when
 * the flow began.
 */

ngx_int_t
ngx_svc_federation_take_prepare(ngx_svc_request_t *sr,
    ngx_int_t (*take)(ngx_svc_login_t *login))
{
    ngx_int_t                   rc;
    ngx_svc_login_t            *login;
    ngx_svc_federation_flow_t  *flow;

    sr->failed = ngx_svc_federation_refuse;

    if (sr->data) {
        return ngx_svc_login_admitted(sr->data);
    }

    login = ngx_svc_login_create(sr, sizeof(ngx_svc_federation_flow_t),
                                 &ngx_svc_federation_login_method, take);
    if (login == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (login->invalid) {
        return NGX_DECLINED;
    }

    flow = sr->data;
    rc = flow->posted ? NGX_OK : ngx_svc_login_limit(login);

    return rc == NGX_OK ? ngx_svc_login_admitted(login) : rc;
}


ngx_int_t
ngx_svc_federation_take_client(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = &flow->login;

    rc = ngx_svc_federation_flow_state(flow);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_flow_cookie(flow);
    }

    if (rc == NGX_OK && flow->cookie.data == NULL && !flow->posted) {
        rc = NGX_DECLINED;
    }

    if (ngx_svc_login_take_client(login, NULL) != NGX_OK
        || ngx_svc_login_take_session(login) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return rc == NGX_DECLINED ? ngx_svc_federation_over(login->sr) : rc;
}


ngx_int_t
ngx_svc_federation_bind_posted(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind_bool(call, flow->posted);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_federation_bind_finishes(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind_bool(call, flow->finishes);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_taken(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                       rc;
    PGresult                       *res;
    ngx_svc_request_t              *sr;
    ngx_svc_row_federation_take_t   row;

    sr = flow->login.sr;
    res = ngx_svc_result(sr, &ngx_svc_sql_federation_take);

    rc = ngx_svc_federation_take_tenant(flow);

    if (rc != NGX_OK) {
        return rc;
    }

    ngx_svc_row_federation_take(&row, res, 0);

    return PQntuples(res) ? ngx_svc_federation_take_row(flow, &row)
                          : ngx_svc_federation_over(sr);
}


static ngx_int_t
ngx_svc_federation_take_tenant(ngx_svc_federation_flow_t *flow)
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
ngx_svc_federation_take_row(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row)
{
    ngx_uint_t        i;
    ngx_svc_login_t  *login;

    login = &flow->login;
    flow->asked = row->asked;

    for (i = 0; !ngx_svc_same(&row->purpose, &ngx_svc_federation_purposes[i]);
         i++)
    {
        if (ngx_svc_federation_purposes[i].len == 0) {
            return ngx_svc_federation_over(login->sr);
        }
    }

    flow->purpose = i;

    if (ngx_svc_federation_flow_id(flow, &flow->id, &row->id) != NGX_OK
        || ngx_svc_login_copy(login, &flow->nonce, row->nonce) != NGX_OK
        || ngx_svc_login_copy(login, &flow->return_to, row->return_to)
           != NGX_OK
        || ngx_svc_federation_take_mac(flow, &row->email_mac) != NGX_OK
        || ngx_svc_login_begun(login, &row->login_begun) != NGX_OK
        || ngx_svc_federation_take_connection(flow, row) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_federation_take_secrets(flow, row);
}


/* The address that the flow has counted has its hit given back, too. */

static ngx_int_t
ngx_svc_federation_take_mac(ngx_svc_federation_flow_t *flow,
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
ngx_svc_federation_take_connection(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row)
{
    ngx_uint_t                        i;
    ngx_svc_federation_connection_t  *connection;

    connection = &flow->connection;
    connection->trust_mfa = row->trust_mfa;
    connection->maps_groups = row->maps_groups;
    connection->grouped = row->grouped;

    const struct {
        ngx_str_t  *text;
        ngx_str_t   value;
    } columns[] = {
        { &connection->key, row->provider },
        { &connection->client_id, row->client_id },
        { &connection->team_id, row->team_id },
        { &connection->key_id, row->key_id },
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

    return ngx_svc_federation_take_settings(flow, row) == NGX_OK
           ? ngx_svc_federation_flow_id(flow, &connection->id,
                                        &row->connection_id)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_take_settings(ngx_svc_federation_flow_t *flow,
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
ngx_svc_federation_take_secrets(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_take_t *row)
{
    ngx_int_t  rc;

    rc = ngx_svc_federation_take_open(flow, "federation", &row->id,
                                      &row->sealed,
                                      flow->finishes ? &flow->kept
                                                     : &flow->verifier);

    return rc == NGX_OK && row->client_secret.data
           ? ngx_svc_federation_take_open(flow, "social", &row->secret_id,
                                          &row->client_secret,
                                          &flow->connection.secret)
           : rc;
}


static ngx_int_t
ngx_svc_federation_take_open(ngx_svc_federation_flow_t *flow,
    const char *what, const ngx_str_t *id, const ngx_str_t *column,
    ngx_str_t *text)
{
    return ngx_svc_sealed_text(flow->login.sr,
                               flow->login.sr->request->pool, what, id, column,
                               "a secret of a connection",
                               flow->login.row.tenant, text)
           == NGX_OK ? NGX_OK : NGX_ERROR;
}
