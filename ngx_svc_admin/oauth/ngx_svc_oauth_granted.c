/*
 * Tokens of what a user has granted.
 */

#include "ngx_svc_oauth_granted.h"
#include "ngx_svc_oauth_id_token.h"
#include "ngx_svc_oauth_refusal.h"


ngx_svc_oauth_granted_t *
ngx_svc_oauth_granted_new(ngx_svc_oauth_t *o)
{
    ngx_pool_t               *pool;
    ngx_svc_oauth_granted_t  *granted;

    pool = o->sr->request->pool;

    granted = ngx_pcalloc(pool, sizeof(ngx_svc_oauth_granted_t));

    if (granted == NULL
        || ngx_svc_wipe_later(pool, (u_char *) &granted->tokens,
                              sizeof(granted->tokens))
           != NGX_OK)
    {
        return NULL;
    }

    granted->digest.data = ngx_pnalloc(pool, NGX_SVC_SHA256_LEN);
    if (granted->digest.data == NULL) {
        return NULL;
    }

    granted->digest.len = NGX_SVC_SHA256_LEN;
    o->data = granted;

    return granted;
}


ngx_int_t
ngx_svc_oauth_granted_shown(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_needed(o, name, value);

    if (rc == NGX_OK && value->len > NGX_SVC_OAUTH_SHOWN_MAX) {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The parameter '%s' has more than %d bytes.", name,
                            NGX_SVC_OAUTH_SHOWN_MAX);
    }

    return rc;
}


ngx_int_t
ngx_svc_oauth_granted_more(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w)
{
    ngx_int_t                 n;
    ngx_str_t                 refresh;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;
    refresh = ngx_svc_row_value(res, 0, "refresh");

    if (refresh.data) {
        n = ngx_atoi(refresh.data, refresh.len);

        if (n < 1 || n > (ngx_int_t) granted->tokens.n) {
            return NGX_ERROR;
        }

        ngx_svc_oauth_refresh_token_write(w, &granted->tokens, n - 1);
    }

    return ngx_svc_row_true(res, 0, "openid")
           ? ngx_svc_oauth_id_token_write(o, res, w) : NGX_OK;
}


/* Who follows the audit log hears of it. */

ngx_int_t
ngx_svc_oauth_granted_refuse(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_request_committed(o->sr->results);

    return ngx_svc_oauth_refuse(o, res);
}
