/*
 * Connections that a path names: /v1/tenants/{slug}/federation/{connection}/...
 */

#include "ngx_svc_federation_named.h"
#include "ngx_svc_federation_named.row.h"
#include "ngx_svc_pg_array.h"


static ngx_uint_t ngx_svc_federation_named_is(const ngx_str_t *text,
    size_t max);
static ngx_int_t ngx_svc_federation_named_none(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_named_copy(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_named_t *row);


#include "ngx_svc_federation_named.sql.h"


ngx_int_t
ngx_svc_federation_named_take(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_login_t  *login;

    login = &flow->login;

    if (ngx_svc_login_take_client(login, NULL) != NGX_OK) {
        return NGX_ERROR;
    }

    login->asked.slug = login->sr->params[0];
    flow->key = login->sr->params[1];

    return ngx_svc_federation_named_is(&login->asked.slug, NGX_SVC_ADMIN_SLUG)
           && ngx_svc_federation_named_is(&flow->key, NGX_SVC_FEDERATION_KEY)
           ? NGX_OK : ngx_svc_federation_named_none(flow);
}


/* Other texts name nothing, and need not be UTF-8. */

static ngx_uint_t
ngx_svc_federation_named_is(const ngx_str_t *text, size_t max)
{
    size_t  i;
    u_char  c;

    for (i = 0; i < text->len; i++) {
        c = text->data[i];

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
            return 0;
        }
    }

    return text->len <= max;
}


static ngx_int_t
ngx_svc_federation_named_none(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_fail(&flow->login.sr->error, NGX_SVC_E_NOT_FOUND,
                        "There is no such connection.");
}


ngx_int_t
ngx_svc_federation_named(ngx_svc_federation_flow_t *flow)
{
    PGresult                                *res;
    ngx_svc_request_t                       *sr;
    ngx_svc_row_federation_named_t           row;
    ngx_svc_row_federation_named_tenant_t    tenant;

    sr = flow->login.sr;

    ngx_svc_row_federation_named_tenant(&tenant,
                  ngx_svc_result(sr, &ngx_svc_sql_federation_named_tenant), 0);

    res = ngx_svc_result(sr, &ngx_svc_sql_federation_named);

    if (tenant.id.data == NULL || PQntuples(res) == 0) {
        return ngx_svc_federation_named_none(flow);
    }

    if (ngx_svc_uuid_parse(tenant.id.data, tenant.id.len,
                           flow->login.row.tenant)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memcpy(sr->tenant, flow->login.row.tenant, NGX_SVC_UUID_LEN);
    sr->tenant_known = 1;

    ngx_svc_row_federation_named(&row, res, 0);

    return ngx_svc_federation_named_copy(flow, &row);
}


static ngx_int_t
ngx_svc_federation_named_copy(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_named_t *row)
{
    ngx_uint_t                        i;
    ngx_svc_pg_array_t                allowed;
    ngx_svc_federation_connection_t  *connection;

    connection = &flow->connection;

    const struct {
        ngx_str_t  *text;
        ngx_str_t   value;
    } columns[] = {
        { &connection->key, row->provider },
        { &connection->client_id, row->client_id },
        { &connection->settings.issuer, row->issuer },
        { &connection->settings.tenant_id, row->directory },
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

    if (ngx_svc_pg_array_read(flow->login.sr->request->pool, &row->allowed,
                              &allowed)
        != NGX_OK
        || ngx_svc_federation_flow_id(flow, &connection->id, &row->id)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    connection->settings.tids = allowed.elts;
    connection->settings.ntids = allowed.n;
    connection->settings.provider = ngx_svc_provider(&row->provider);

    /* GitHub signs nothing */

    return connection->settings.provider == NULL ? NGX_ERROR
           : connection->settings.provider->oauth
             ? ngx_svc_federation_named_none(flow) : NGX_OK;
}
