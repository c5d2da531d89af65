/*
 * A client's row, on which the grant types decide.
 */

#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_grant.h"


#define NGX_SVC_OAUTH_CLIENT_PRESENTED  20  /* values of a ceiling in an
                                               anomaly */


static ngx_int_t ngx_svc_oauth_client_row_presented(ngx_svc_oauth_t *o,
    const ngx_svc_pg_array_t *array, ngx_str_t *json);


ngx_int_t
ngx_svc_oauth_client_row_read(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_client_row_t *row)
{
    ngx_str_t   text;
    ngx_uint_t  i;

    const struct {
        ngx_svc_oauth_client_column_e   column;
        ngx_svc_pg_array_t             *array;
    } arrays[] = {
        { NGX_SVC_OAUTH_CLIENT_GRANTS, &row->grants },
        { NGX_SVC_OAUTH_CLIENT_SCOPES, &row->scopes },
        { NGX_SVC_OAUTH_CLIENT_ALLOWED_SCOPES, &row->allowed_scopes },
        { NGX_SVC_OAUTH_CLIENT_ALLOWED, &row->allowed },
        { NGX_SVC_OAUTH_CLIENT_ALLOWED_KEYS, &row->allowed_keys }
    };

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        text = ngx_svc_pg_value(res, 0, arrays[i].column);

        if (ngx_svc_pg_array_read(o->sr->request->pool, &text,
                                  arrays[i].array)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    row->res = res;
    row->slug = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_CLIENT_SLUG);
    row->state = PQgetisnull(res, 0, NGX_SVC_OAUTH_CLIENT_STATE)
                 ? NULL : PQgetvalue(res, 0, NGX_SVC_OAUTH_CLIENT_STATE);
    row->public = (ngx_strcmp(PQgetvalue(res, 0, NGX_SVC_OAUTH_CLIENT_METHOD),
                              "none")
                   == 0);
    row->suspended = ngx_svc_pg_true(res, 0, NGX_SVC_OAUTH_CLIENT_SUSPENDED);
    row->dpop = ngx_svc_pg_true(res, 0, NGX_SVC_OAUTH_CLIENT_DPOP);
    row->scope_ceiling = !PQgetisnull(res, 0,
                                      NGX_SVC_OAUTH_CLIENT_ALLOWED_SCOPES);
    row->audience_ceiling = !PQgetisnull(res, 0,
                                         NGX_SVC_OAUTH_CLIENT_ALLOWED_KEYS);
    row->ignores = 0;
    ngx_str_null(&row->refused);

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
ngx_svc_oauth_client_row_ttl(const ngx_svc_oauth_client_row_t *row)
{
    ngx_int_t   ttl, n;
    ngx_str_t   text;
    ngx_uint_t  i;

    static const ngx_svc_oauth_client_column_e  limits[] = {
        NGX_SVC_OAUTH_CLIENT_MAX_TTL, NGX_SVC_OAUTH_CLIENT_TTL_LEFT
    };

    text = ngx_svc_pg_value(row->res, 0, NGX_SVC_OAUTH_CLIENT_TTL);
    ttl = ngx_atoi(text.data, text.len);

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        text = ngx_svc_pg_value(row->res, 0, limits[i]);

        if (text.data) {
            n = ngx_atoi(text.data, text.len);
            ttl = ngx_min(ttl, n);
        }
    }

    return ttl;
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
