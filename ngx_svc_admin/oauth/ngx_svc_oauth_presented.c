/*
 * Tokens that are presented.
 */

#include "ngx_svc_oauth_presented.h"
#include "ngx_svc_oauth_client_take.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_key.row.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_refusal.h"


static ngx_int_t ngx_svc_oauth_presented_reply(ngx_svc_request_t *sr);


ngx_int_t
ngx_svc_oauth_presented_take(ngx_svc_request_t *sr, ngx_svc_oauth_t **o)
{
    ngx_int_t  rc;
    ngx_str_t  token;

    ngx_str_null(&token);

    rc = ngx_svc_oauth_begin(sr, o);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_needed(*o, "token", &token);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_client_take(*o);
    }

    return rc == NGX_OK ? ngx_svc_oauth_bearer_read(sr, &token, &(*o)->token)
                        : rc;
}


ngx_int_t
ngx_svc_oauth_presented_answer(ngx_svc_oauth_t *o, PGresult *res,
    ngx_int_t (*send)(ngx_svc_oauth_t *o, PGresult *res))
{
    ngx_int_t  rc;
    PGresult  *login;

    login = ngx_svc_oauth_client_result(o);

    rc = ngx_svc_oauth_client_known(o, login);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_oauth_once_take(o);

    if (rc != NGX_OK || o->assertion_seen || PQntuples(res) == 0
        || ngx_svc_row_value(res, 0, "_verdict").data)
    {
        return ngx_svc_oauth_refuse_client(o, login);
    }

    return send(o, res);
}


ngx_int_t
ngx_svc_oauth_presented_verify(ngx_svc_oauth_t *o,
    ngx_svc_oauth_bearer_t *bearer, const ngx_str_t *jwk)
{
    ngx_int_t  rc;

    rc = ngx_svc_oauth_bearer_verify(bearer);

    if (rc != NGX_AGAIN) {
        return rc;
    }

    return jwk->data ? ngx_svc_oauth_bearer_verify_by(o->sr->request->pool,
                                                      bearer, jwk)
                     : NGX_DECLINED;
}


void
ngx_svc_oauth_presented_forget(ngx_svc_oauth_bearer_t *bearer)
{
    static const ngx_str_t  no = { 1, (u_char *) "\0" };

    ngx_memzero(bearer, sizeof(ngx_svc_oauth_bearer_t));

    bearer->unverified = no;
}


ngx_int_t
ngx_svc_oauth_presented(ngx_svc_oauth_t *o,
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
        ngx_svc_oauth_presented_forget(&o->token);
    }

    if (rc != NGX_AGAIN) {
        return calls(sr);
    }

    o->presented_calls = calls;
    o->presented_reply = reply;
    sr->reply = ngx_svc_oauth_presented_reply;
    sr->op->kind = NGX_SVC_PG_READ;

    return ngx_svc_oauth_client_call_then(o, &ngx_svc_sql_oauth_key_public);
}


/*
 * Verifies the token by the key that has come.  The round trip that follows
 * judges whether the client is known.
 */

static ngx_int_t
ngx_svc_oauth_presented_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                        rc;
    ngx_svc_oauth_t                 *o;
    ngx_svc_row_oauth_key_public_t   row;

    o = sr->data;

    ngx_svc_row_oauth_key_public(&row,
                            ngx_svc_result(sr, &ngx_svc_sql_oauth_key_public),
                            0);

    rc = ngx_svc_oauth_presented_verify(o, &o->token, &row.public);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_oauth_presented_forget(&o->token);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE, o->presented_calls,
                                 o->presented_reply);
}
