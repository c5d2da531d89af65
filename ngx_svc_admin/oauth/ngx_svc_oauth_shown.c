/*
 * A token that is shown to a write.
 */

#include "ngx_svc_oauth_shown.h"


static ngx_int_t ngx_svc_oauth_shown_reply(ngx_svc_request_t *sr);
static void ngx_svc_oauth_shown_forget(ngx_svc_oauth_t *o);


static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_key_public = {
    .name = "oauth_key_public",
    .text =
        "SELECT k.public FROM svc.oauth_key k"
        " WHERE k.tenant_id = " NGX_SVC_TENANT
            " AND k.kid BETWEEN $1 AND $1 AND k.revoked_at IS NULL"
        " ORDER BY k.kid LIMIT 1",
    NGX_SVC_PARAMS(ngx_svc_oauth_param(token.kid))
};

ngx_svc_pg_statements_t  ngx_svc_oauth_shown_statements[] = {
    &ngx_svc_sql_oauth_key_public,
    NULL
};


ngx_int_t
ngx_svc_oauth_shown(ngx_svc_oauth_t *o,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr))
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = o->sr;

    rc = ngx_svc_oauth_bearer_verify(&o->token);

    if (rc == NGX_ERROR) {
        return rc;
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_shown_forget(o);
    }

    if (rc != NGX_AGAIN) {
        return calls(sr);
    }

    o->shown_calls = calls;
    o->shown_reply = reply;
    sr->reply = ngx_svc_oauth_shown_reply;
    sr->op->kind = NGX_SVC_PG_READ;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_SYNC);

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_oauth_key_public, NULL) : rc;
}


/* Whether the client is known is judged by the round trip that follows. */

static ngx_int_t
ngx_svc_oauth_shown_reply(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_str_t         public;
    ngx_svc_oauth_t  *o;

    o = sr->data;
    res = ngx_svc_route_last(sr);
    rc = NGX_DECLINED;

    if (PQntuples(res)) {
        public = ngx_svc_row_value(res, 0, "public");

        rc = ngx_svc_oauth_bearer_verify_by(sr->request->pool, &o->token,
                                            &public);
        if (rc == NGX_ERROR) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_shown_forget(o);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE, o->shown_calls,
                                 o->shown_reply);
}


static void
ngx_svc_oauth_shown_forget(ngx_svc_oauth_t *o)
{
    o->token.kind = NGX_SVC_OAUTH_BEARER_NONE;

    ngx_str_null(&o->token.jti);
    ngx_str_null(&o->token.kid);
}
