/*
 * Whether a client's own token lives.
 */

#include "ngx_svc_oauth_own_live.h"
#include "ngx_svc_oauth_own_live.row.h"
#include "ngx_svc_oauth_presented.h"
#include "ngx_svc_pg_array.h"


static ngx_int_t ngx_svc_oauth_own_live_verify(ngx_svc_oauth_t *o,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_own_live_audience(ngx_svc_oauth_t *o,
    const ngx_svc_row_own_token_t *row);
static int64_t ngx_svc_oauth_own_live_ends(const ngx_svc_oauth_own_t *own,
    const ngx_svc_row_own_token_t *row);
static ngx_int_t ngx_svc_oauth_own_live_scope(ngx_svc_oauth_t *o,
    const ngx_svc_row_own_token_t *row, ngx_str_t *scope);
static ngx_int_t ngx_svc_oauth_own_bind_client(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_oauth_own_live.sql.h"


static ngx_int_t
ngx_svc_oauth_own_bind_client(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_oauth_t  *o;

    o = sr->data;

    ngx_svc_pg_bind_str(call, &o->token.own->client_id);

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_own_live_call(ngx_svc_oauth_t *o)
{
    if (ngx_svc_oauth_agent(&o->client.id)
        || ngx_svc_oauth_agent(&o->token.own->client_id))
    {
        o->statement = &ngx_svc_sql_oauth_own_agent;

    } else {
        o->statement = o->token.kid.data ? &ngx_svc_sql_oauth_own_jwt
                                         : &ngx_svc_sql_oauth_own_opaque;
    }

    return ngx_svc_route_call(o->sr, o->statement, NULL);
}


ngx_int_t
ngx_svc_oauth_own_live(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_oauth_own_today_t *today)
{
    ngx_int_t                   rc;
    ngx_svc_row_own_token_t     row;
    const ngx_svc_oauth_own_t  *own;

    own = o->token.own;

    ngx_svc_row_own_token(&row, res, 0, 0);

    today->slug = row.tenant_slug;
    today->ends = ngx_svc_oauth_own_live_ends(own, &row);

    if (row.state.data
        || !row.fresh
        || row.revoked
        || today->ends <= row.now
        || (own->tenant.data && o->tenant.data
            && ngx_memcmp(own->tenant.data, o->tenant.data, NGX_SVC_UUID_LEN)
               != 0))
    {
        return NGX_DECLINED;
    }

    rc = own->kid.data ? ngx_svc_oauth_own_live_verify(o, res) : NGX_OK;

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_own_live_audience(o, &row);
    }

    return rc == NGX_OK ? ngx_svc_oauth_own_live_scope(o, &row, &today->scope)
                        : rc;
}


static ngx_int_t
ngx_svc_oauth_own_live_verify(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_row_own_jwt_t  row;

    ngx_svc_row_own_jwt(&row, res, 0, 0);

    if (row.kid.data == NULL) {
        return NGX_DECLINED;
    }

    return ngx_svc_oauth_presented_verify(o, &o->token, &row.public);
}


/* Tells whether the client's ceiling still allows the audience. */

static ngx_int_t
ngx_svc_oauth_own_live_audience(ngx_svc_oauth_t *o,
    const ngx_svc_row_own_token_t *row)
{
    ngx_int_t           rc;
    ngx_str_t           key;
    ngx_svc_pg_array_t  allowed;

    if (row->allowed_audience_keys.data == NULL) {
        return NGX_OK;
    }

    key = o->token.own->audience_key;

    if (key.data == NULL) {
        key = ngx_svc_oauth_issuer(o->sr, &row->tenant_slug);
    }

    rc = key.data ? ngx_svc_pg_array_read(o->sr->request->pool,
                                          &row->allowed_audience_keys,
                                          &allowed)
                  : NGX_ERROR;

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_pg_array_has(&allowed, &key) ? NGX_OK : NGX_DECLINED;
}


static int64_t
ngx_svc_oauth_own_live_ends(const ngx_svc_oauth_own_t *own,
    const ngx_svc_row_own_token_t *row)
{
    ngx_int_t         ttl, n;
    ngx_uint_t        i;
    const ngx_str_t  *limits[] = { &row->access_token_ttl,
                                   &row->max_token_ttl };

    ttl = own->ttl;

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {

        if (limits[i]->data) {
            n = ngx_atoi(limits[i]->data, limits[i]->len);
            ttl = ngx_min(ttl, n);
        }
    }

    return own->ms + (int64_t) ttl * 1000;
}


/*
 * Sets *scope to the scopes that the token has today.  Returns NGX_OK;
 * NGX_DECLINED: it had some, and has none any more; or NGX_ERROR.
 */

static ngx_int_t
ngx_svc_oauth_own_live_scope(ngx_svc_oauth_t *o,
    const ngx_svc_row_own_token_t *row, ngx_str_t *scope)
{
    u_char                     *p, *end, *dst;
    ngx_str_t                   one;
    ngx_svc_pg_array_t          has, allowed;
    const ngx_svc_oauth_own_t  *own;

    own = o->token.own;

    scope->data = ngx_pnalloc(o->sr->request->pool, own->scope.len + 1);

    if (scope->data == NULL
        || ngx_svc_pg_array_read(o->sr->request->pool, &row->scopes, &has)
           != NGX_OK
        || ngx_svc_pg_array_read(o->sr->request->pool, &row->allowed_scopes,
                                 &allowed)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    dst = scope->data;
    end = own->scope.data + own->scope.len;

    for (p = own->scope.data; p < end; p = one.data + one.len + 1) {
        one.data = p;
        p = ngx_strlchr(p, end, ' ');
        one.len = (p ? p : end) - one.data;

        if (ngx_svc_pg_array_has(&has, &one)
            && (row->allowed_scopes.data == NULL
                || ngx_svc_pg_array_has(&allowed, &one)))
        {
            if (dst > scope->data) {
                *dst++ = ' ';
            }

            dst = ngx_cpymem(dst, one.data, one.len);
        }
    }

    scope->len = dst - scope->data;

    return scope->len || own->scope.len == 0 ? NGX_OK : NGX_DECLINED;
}


ngx_uint_t
ngx_svc_oauth_own_presented(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_row_own_token_t     row;
    const ngx_svc_oauth_own_t  *own;

    own = o->token.own;
    ngx_svc_row_own_token(&row, res, 0, 0);

    return own->audience_key.data == NULL
           || (own->client_id.len == o->client.id.len
               && ngx_memcmp(own->client_id.data, o->client.id.data,
                             own->client_id.len)
                  == 0)
           || (row.resource_key.len == own->audience_key.len
               && ngx_memcmp(row.resource_key.data, own->audience_key.data,
                             row.resource_key.len)
                  == 0);
}
