/*
 * A client's row, on which the grant types decide.
 */

#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_grant.h"


#define NGX_SVC_OAUTH_CLIENT_PRESENTED  20  /* values of a ceiling in an
                                               anomaly */


static ngx_int_t ngx_svc_oauth_client_row_arrays(ngx_pool_t *pool,
    const ngx_svc_row_grant_client_t *columns,
    ngx_svc_oauth_client_row_t *row);
static ngx_int_t ngx_svc_oauth_client_row_presented(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *array, ngx_str_t *json);


ngx_int_t
ngx_svc_oauth_client_row_read(ngx_svc_oauth_t *o,
    const ngx_svc_row_grant_client_t *columns, ngx_svc_oauth_client_row_t *row)
{
    static const ngx_str_t  none = ngx_string("none");

    row->slug = columns->tenant_slug;
    row->format = columns->access_token_format;
    row->kid = columns->signing_kid;
    row->now = columns->now;
    row->state = (char *) columns->state.data;
    row->public = ngx_svc_same(&columns->auth_method, &none);
    row->suspended = columns->suspended;
    row->dpop = columns->require_dpop;
    row->scope_ceiling = (columns->allowed_scopes.data != NULL);
    row->audience_ceiling = (columns->allowed_audience_keys.data != NULL);
    row->ignores = 0;
    row->ttl = columns->access_token_ttl;
    ngx_str_null(&row->refused);

    if (columns->max_token_ttl != -1) {
        row->ttl = ngx_min(row->ttl, columns->max_token_ttl);
    }

    row->ttl = ngx_min(row->ttl, columns->ttl_left);

    return ngx_svc_oauth_client_row_arrays(o->sr->request->pool, columns, row);
}


static ngx_int_t
ngx_svc_oauth_client_row_arrays(ngx_pool_t *pool,
    const ngx_svc_row_grant_client_t *columns, ngx_svc_oauth_client_row_t *row)
{
    ngx_uint_t  i;

    const struct {
        const ngx_str_t     *text;
        ngx_svc_pg_array_t  *array;
    } arrays[] = {
        { &columns->grant_types, &row->grants },
        { &columns->scopes, &row->scopes },
        { &columns->allowed_scopes, &row->allowed_scopes },
        { &columns->allowed_audiences, &row->allowed },
        { &columns->allowed_audience_keys, &row->allowed_keys }
    };

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (ngx_svc_pg_array_read(pool, arrays[i].text, arrays[i].array)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


const char *
ngx_svc_oauth_client_row_judge(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row)
{
    if (row->public != *o->client.public.data) {
        return "client";
    }

    if (row->suspended) {
        return "suspended";
    }

    if (row->state) {
        return row->state;
    }

    if (!ngx_svc_pg_array_has(&row->grants, &o->grant->name)) {
        return "grant_type";
    }

    if (o->assertion_seen) {
        return "client";
    }

    if (row->dpop && o->jkt.data == NULL) {
        return "proof";
    }

    return o->proof_seen ? "proof_seen" : NULL;
}


ngx_uint_t
ngx_svc_oauth_client_row_wider(ngx_svc_oauth_t *o)
{
    return o->resource_key.data
           || (ngx_svc_application_id(&o->client.id)
               && ngx_svc_oauth_agent(&o->client.id));
}


ngx_uint_t
ngx_svc_oauth_client_row_of_users(const ngx_str_t *scope)
{
    static ngx_str_t  scopes[] = {
        ngx_string("openid"),
        ngx_string("profile"),
        ngx_string("email"),
        ngx_string("groups"),
        ngx_string("roles"),
        ngx_string("offline_access")
    };

    static const ngx_svc_pg_array_t  users = {
        scopes, sizeof(scopes) / sizeof(scopes[0])
    };

    return ngx_svc_pg_array_has(&users, scope);
}


/*
 * "address" and "phone" are scopes of OpenID Connect Core, 5.4, for which we
 * have no claims.
 */

ngx_int_t
ngx_svc_oauth_client_row_ignore(ngx_svc_oauth_client_row_t *row,
    ngx_svc_pg_array_t *asked, const ngx_svc_pg_array_t *given)
{
    ngx_str_t   scope, unknown;
    ngx_uint_t  i, n;

    static ngx_str_t  scopes[] = {
        ngx_string("address"),
        ngx_string("phone")
    };

    static ngx_str_t  offline = ngx_string("offline_access");

    static const ngx_svc_pg_array_t  standard = {
        scopes, sizeof(scopes) / sizeof(scopes[0])
    };

    static const ngx_svc_pg_array_t  always = { &offline, 1 };

    ngx_str_null(&unknown);
    n = 0;

    for (i = 0; i < asked->n; i++) {
        scope = asked->elts[i];

        if (ngx_svc_pg_array_has(&standard, &scope)) {
            if (!ngx_svc_pg_array_has(given, &scope)) {
                continue;
            }

        } else if (row->ignores && !ngx_svc_pg_array_has(&row->scopes, &scope)
                   && !ngx_svc_pg_array_has(&always, &scope))
        {
            unknown = scope;
            continue;
        }

        asked->elts[n++] = scope;
    }

    asked->n = n;

    if (n || unknown.data == NULL) {
        return NGX_OK;
    }

    row->refused = unknown;

    return NGX_DECLINED;
}


ngx_uint_t
ngx_svc_oauth_client_row_fault(ngx_svc_oauth_t *o, const char *fault)
{
    return o->fault.len == ngx_strlen(fault)
           && ngx_memcmp(o->fault.data, fault, o->fault.len) == 0;
}


ngx_int_t
ngx_svc_oauth_client_row_scope(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *scopes, ngx_str_t *text)
{
    if (ngx_svc_pg_array_join(o->sr->request->pool, scopes, text) != NGX_OK) {
        return NGX_ERROR;
    }

    return text->len > NGX_SVC_OAUTH_SCOPE_MAX ? NGX_DECLINED : NGX_OK;
}


ngx_int_t
ngx_svc_oauth_client_row_issuer(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row, const ngx_str_t *key)
{
    ngx_str_t  issuer;

    issuer = ngx_svc_oauth_issuer(o->sr, &row->slug);

    return issuer.data ? ngx_svc_same(key, &issuer) : NGX_ERROR;
}


ngx_int_t
ngx_svc_oauth_client_row_refuse(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_client_row_t *row, const char *verdict)
{
    ngx_int_t   rc;
    ngx_str_t   text, allowed;
    ngx_uint_t  ceiling;

    rc = NGX_OK;
    ngx_str_null(&allowed);

    ceiling = (ngx_strcmp(verdict, "scope_ceiling") == 0);

    if (ceiling) {
        rc = ngx_svc_oauth_client_row_presented(o, &row->allowed_scopes,
                                                &allowed);

    } else if (ngx_strcmp(verdict, "audience") == 0) {
        rc = ngx_svc_oauth_client_row_presented(o, &row->allowed, &allowed);
    }

    text.data = ngx_pnalloc(o->sr->request->pool,
                            ngx_strlen(verdict) + 1 + row->refused.len);

    if (rc != NGX_OK || text.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    text.len = ngx_sprintf(text.data, ceiling || row->refused.len ? "%s %V"
                                                                  : "%s",
                           verdict, &row->refused)
               - text.data;

    return ngx_svc_oauth_grant_refused(o, &text, &allowed);
}


static ngx_int_t
ngx_svc_oauth_client_row_presented(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *array, ngx_str_t *json)
{
    ngx_uint_t             i;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    for (i = 0; i < array->n && i < NGX_SVC_OAUTH_CLIENT_PRESENTED; i++) {
        ngx_svc_json_string(&w, NULL, array->elts[i].data, array->elts[i].len);
    }

    ngx_svc_json_close(&w, ']');

    json->data = w.start;
    json->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}
