/*
 * The row of one client's own token, which is stored at once, for statements of
 * the same op that look for it.
 */

#include "ngx_svc_oauth_kept.h"


#define ngx_svc_oauth_kept_or_null(str)  ((str)->data ? (str) : NULL)


#include "ngx_svc_oauth_kept_row.sql.h"


ngx_int_t
ngx_svc_oauth_kept_call(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_bearer_t *bearer)
{
    const ngx_svc_oauth_own_t  *own;

    static const ngx_str_t  unknown = ngx_null_string;

    own = bearer->own;

    if (own == NULL || *bearer->unverified.data
        || own->ms / 1000 + own->ttl < ngx_time())
    {
        return NGX_OK;
    }

    return ngx_svc_oauth_kept_row(o, own, &unknown, &unknown);
}


ngx_int_t
ngx_svc_oauth_kept_row(ngx_svc_oauth_t *o, const ngx_svc_oauth_own_t *own,
    const ngx_str_t *ip, const ngx_str_t *country)
{
    ngx_str_t           ms;
    ngx_svc_pg_call_t  *call;

    call = ngx_svc_pg_call(o->sr->op, &ngx_svc_sql_oauth_kept_row);
    ms.data = ngx_pnalloc(o->sr->request->pool, NGX_INT64_LEN);

    if (call == NULL || ms.data == NULL) {
        return NGX_ERROR;
    }

    ms.len = ngx_sprintf(ms.data, "%L", own->ms) - ms.data;

    ngx_svc_pg_bind_str(call, &own->client_id);
    ngx_svc_pg_bind(call, own->jti, NGX_SVC_UUID_LEN);
    ngx_svc_pg_bind_str(call, &ms);
    ngx_svc_pg_bind_str(call, &own->scope);
    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(&own->audience));
    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(&own->audience_key));
    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(&own->secret_hash));
    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(&own->kid));
    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(&own->jkt));

    if (ngx_svc_pg_bind_int(o->sr->op, call, own->ttl) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(&own->tenant));
    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(ip));
    ngx_svc_pg_bind_str(call, ngx_svc_oauth_kept_or_null(country));

    return NGX_OK;
}
