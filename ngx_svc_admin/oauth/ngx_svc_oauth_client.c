/*
 * The statement that finds a client.
 */

#include "ngx_svc_oauth_client.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_bind_client.h"
#include "ngx_svc_hex.h"


static ngx_uint_t ngx_svc_oauth_client_secret(const ngx_str_t *secret);
static ngx_int_t ngx_svc_oauth_client_bind_type(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_oauth_client.sql.h"


/*
 * Each login for any tenant, and for the tenant of the location, path or
 * assertion.
 */

static const ngx_svc_pg_statement_t *const
    ngx_svc_oauth_logins[][2] = {

    [NGX_SVC_OAUTH_LOGIN_SYNC] = { &ngx_svc_sql_oauth_login,
                                   &ngx_svc_sql_oauth_login_pinned },
    [NGX_SVC_OAUTH_LOGIN_ASYNC] = { &ngx_svc_sql_oauth_login_async,
                                    &ngx_svc_sql_oauth_login_async_pinned },
    [NGX_SVC_OAUTH_LOGIN_ANY] = { &ngx_svc_sql_oauth_login_any,
                                  &ngx_svc_sql_oauth_login_any }
};


ngx_int_t
ngx_svc_oauth_client_public(ngx_svc_oauth_t *o, const ngx_str_t *id)
{
    static const ngx_str_t  none = ngx_string("");

    o->client.id = *id;

    return ngx_svc_oauth_client_digest(o, NGX_SVC_APPLICATION_LOGIN_ID, &none);
}


ngx_int_t
ngx_svc_oauth_client_digest(ngx_svc_oauth_t *o,
    ngx_svc_application_login_e kind, const ngx_str_t *secret)
{
    static const ngx_str_t  no = { 1, (u_char *) "\0" };
    static const ngx_str_t  yes = { 1, (u_char *) "\1" };

    o->client.public = (kind == NGX_SVC_APPLICATION_LOGIN_ID) ? yes : no;

    if (!ngx_svc_application_id(&o->client.id)
        || (kind == NGX_SVC_APPLICATION_LOGIN_SECRET
            && !ngx_svc_oauth_client_secret(secret)))
    {
        return NGX_OK;
    }

    o->client.digest.data = ngx_pnalloc(o->sr->request->pool,
                                        NGX_SVC_SHA256_LEN);
    if (o->client.digest.data == NULL) {
        return NGX_ERROR;
    }

    o->client.digest.len = NGX_SVC_SHA256_LEN;

    return ngx_svc_application_digest(kind, &o->client.id, secret,
                                      o->client.digest.data);
}


static ngx_uint_t
ngx_svc_oauth_client_secret(const ngx_str_t *secret)
{
    u_char  c;
    size_t  i;

    for (i = 0; i < secret->len; i++) {
        c = secret->data[i];

        if ((c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
            && (c < '0' || c > '9') && c != '-' && c != '_')
        {
            return 0;
        }
    }

    return secret->len == NGX_SVC_ADMIN_SECRET_TEXT;
}


/*
 * The tenant is not known yet, so the op waits in a backlog of the client's.
 * Its key is the random part of the clientId, which is as long as a tenant's
 * id.
 */

ngx_int_t
ngx_svc_oauth_client_call(ngx_svc_oauth_t *o,
    ngx_svc_oauth_login_e login)
{
    ngx_uint_t                 pinned;
    ngx_svc_admin_loc_conf_t  *alcf;

    if (o->client.digest.len == 0) {
        return ngx_svc_oauth_client_refuse(o);
    }

    if (ngx_svc_hex(o->client.id.data + NGX_SVC_APPLICATION_PREFIX,
                    NGX_SVC_APPLICATION_RANDOM, o->sr->tenant)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* no UUID has this version: it is no tenant's backlog */

    o->sr->tenant[6] |= 0xf0;

    alcf = ngx_http_get_module_loc_conf(o->sr->request,
                                        ngx_http_svc_admin_module);

    pinned = alcf->tenant || ngx_svc_oauth_slug(o->sr).len
             || o->client.slug.len;

    o->login = ngx_svc_oauth_logins[login][pinned];

    return ngx_svc_route_call(o->sr, o->login, NULL);
}


ngx_int_t
ngx_svc_oauth_client_call_then(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_SYNC);

    return rc == NGX_OK ? ngx_svc_route_call(o->sr, statement, NULL) : rc;
}


ngx_int_t
ngx_svc_oauth_client_tenant(ngx_svc_oauth_t *o)
{
    return ngx_svc_route_call(o->sr, &ngx_svc_sql_oauth_tenant, NULL);
}


ngx_int_t
ngx_svc_oauth_client_known(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_row_login_found_t  row;

    ngx_svc_row_login_found(&row, res, 0, 0);

    if (row.tenant.len == 0) {
        return NGX_DECLINED;
    }

    o->tenant.data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_UUID_LEN);
    if (o->tenant.data == NULL) {
        return NGX_ERROR;
    }

    o->tenant.len = NGX_SVC_UUID_LEN;

    return ngx_svc_uuid_parse(row.tenant.data, row.tenant.len, o->tenant.data)
           == NGX_OK ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_oauth_client_refuse(ngx_svc_oauth_t *o)
{
    static const ngx_str_t  basic = ngx_string("Basic realm=\"oauth\"");

    o->sr->challenge = basic;

    return ngx_svc_fail(&o->sr->error,
                        o->client.basic ? NGX_SVC_E_CLIENT_BASIC
                                        : NGX_SVC_E_CLIENT,
                        o->client.asserted
                        ? "The client is unknown, or its assertion is not "
                          "good."
                        : "The client is unknown, or does not prove itself as "
                          "it must.");
}


ngx_int_t
ngx_svc_oauth_client_pinned(ngx_svc_request_t *sr, ngx_str_t *slug)
{
    ngx_str_t                  path;
    ngx_svc_admin_loc_conf_t  *alcf;

    static const ngx_str_t     nobody = ngx_string("/");

    alcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_admin_module);

    path = ngx_svc_oauth_slug(sr);
    ngx_str_null(slug);

    if (alcf->tenant
        && ngx_http_complex_value(sr->request, alcf->tenant, slug) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (slug->len == 0) {
        *slug = path;

    } else if (path.len && (path.len != slug->len
                            || ngx_memcmp(path.data, slug->data, path.len)
                               != 0))
    {
        *slug = nobody;
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_client_bind_tenant(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t         slug;
    ngx_svc_oauth_t  *o;

    o = sr->data;

    if (ngx_svc_oauth_client_pinned(sr, &slug) != NGX_OK) {
        return NGX_ERROR;
    }

    if (slug.len == 0) {
        slug = o->client.slug;
    }

    ngx_svc_pg_bind_str(call, slug.len ? &slug : NULL);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_client_bind_type(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_oauth_t  *o;

    static const ngx_str_t  agent = ngx_string("agent");
    static const ngx_str_t  application = ngx_string("application");

    o = sr->data;

    ngx_svc_pg_bind_str(call, ngx_svc_oauth_agent(&o->client.id)
                              ? &agent : &application);

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_client_bind_from(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    return param->n == 0 ? ngx_svc_bind_client(sr, call) : NGX_OK;
}
