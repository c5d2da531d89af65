/*
 * POST /oauth/token.
 *
 * What can be told from the form alone is told first; then one round trip finds
 * the client, judges, and stores the token.  The first JWT of a tenant takes
 * another one, which makes the key.
 */

#include "ngx_svc_oauth_token.h"
#include "ngx_svc_oauth_delegation.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_proof.h"
#include "ngx_svc_oauth_refusal.h"


static ngx_int_t ngx_svc_oauth_token_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_token_grant(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_token_calls(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *before);
static ngx_int_t ngx_svc_oauth_token_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_token_key(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_token_refuse(ngx_svc_oauth_t *o, PGresult *res);
static ngx_int_t ngx_svc_oauth_token_retry(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_token_again(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_token_send(ngx_svc_oauth_t *o, PGresult *res);


static const ngx_svc_oauth_grant_t *const  ngx_svc_oauth_grants[] = {
    &ngx_svc_oauth_client_credentials,
    &ngx_svc_oauth_exchange,
    &ngx_svc_oauth_code,
    &ngx_svc_oauth_refresh,
    NULL
};


const ngx_svc_route_t  ngx_svc_oauth_token[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/token"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_token_prepare,
      .reply = ngx_svc_oauth_token_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_token_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    o = NULL;

    rc = ngx_svc_oauth_proof_nonce(sr);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_begin(sr, &o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_token_grant(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_client_take(o);
    }

    if (rc == NGX_OK) {
        rc = o->grant->check(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_proof(o, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_caller(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_issue_new(o);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_token_calls(o, NULL);
    }

    if (rc == NGX_DECLINED && o && o->grant && o->client.digest.len) {
        ngx_svc_metric_add(o->grant->metric + 1, 1);
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_token_grant(ngx_svc_oauth_t *o)
{
    ngx_int_t                            rc;
    ngx_str_t                            name;
    const ngx_svc_oauth_grant_t *const  *grant;

    rc = ngx_svc_oauth_needed(o, "grant_type", &name);
    if (rc != NGX_OK) {
        return rc;
    }

    for (grant = ngx_svc_oauth_grants; *grant; grant++) {
        if ((*grant)->name.len == name.len
            && ngx_memcmp((*grant)->name.data, name.data, name.len) == 0)
        {
            o->grant = *grant;
            return NGX_OK;
        }
    }

    return ngx_svc_fail(&o->sr->error, NGX_SVC_E_GRANT_TYPE,
                        "The grant type is not one of those that are in the "
                        "metadata, 'grant_types_supported'.");
}


static ngx_int_t
ngx_svc_oauth_token_calls(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *before)
{
    ngx_int_t                     rc;
    const ngx_svc_pg_statement_t  *statement;

    statement = o->acting ? o->grant->acting : o->grant->statement;

    rc = ngx_svc_oauth_client_call(o, o->grant->login);

    if (rc == NGX_OK && before) {
        rc = ngx_svc_route_call(o->sr, before, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_proof_call(o);
    }

    if (rc == NGX_OK && o->grant->lock) {
        rc = ngx_svc_route_call(o->sr, o->grant->lock, NULL);
    }

    return rc == NGX_OK ? ngx_svc_route_call(o->sr, statement, NULL) : rc;
}


static ngx_int_t
ngx_svc_oauth_token_reply(ngx_svc_request_t *sr)
{
    PGresult         *res;
    ngx_int_t         rc;
    ngx_str_t         verdict;
    ngx_svc_oauth_t  *o;

    o = sr->data;

    rc = ngx_svc_oauth_client_known(o, sr->results[0]);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED
               ? ngx_svc_oauth_refuse_client(o, sr->results[0])
               : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    res = ngx_svc_route_last(sr);

    if (o->kid.data) {
        ngx_svc_oauth_key_changed(&o->tenant);
    }

    if (PQntuples(res) == 0) {

        /* it has been deleted between the two statements */

        return ngx_svc_oauth_refuse_client(o, sr->results[0]);
    }

    verdict = ngx_svc_row_value(res, 0, "_verdict");

    if (verdict.data == NULL) {
        return ngx_svc_oauth_token_send(o, res);
    }

    if (verdict.len == sizeof("key") - 1
        && ngx_strncmp(verdict.data, "key", verdict.len) == 0)
    {
        return ngx_svc_oauth_token_key(o);
    }

    return ngx_svc_oauth_token_refuse(o, res);
}


static ngx_int_t
ngx_svc_oauth_token_refuse(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_int_t                     rc;
    const ngx_svc_oauth_grant_t  *grant;

    grant = o->grant;

    rc = grant->refuse ? grant->refuse(o, res) : ngx_svc_oauth_refuse(o, res);

    if (rc == NGX_AGAIN) {
        return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_oauth_token_retry,
                                     ngx_svc_oauth_token_reply);
    }

    ngx_svc_metric_add(grant->metric + 1, 1);

    return rc;
}


static ngx_int_t
ngx_svc_oauth_token_retry(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_token_calls(sr->data, NULL);
}


/* Once: there is a key then, whoever has made it. */

static ngx_int_t
ngx_svc_oauth_token_key(ngx_svc_oauth_t *o)
{
    if (o->kid.data || ngx_svc_oauth_key_new(o) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_oauth_token_again,
                                 ngx_svc_oauth_token_reply);
}


static ngx_int_t
ngx_svc_oauth_token_again(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_token_calls(sr->data, &ngx_svc_sql_oauth_key_first);
}


static ngx_int_t
ngx_svc_oauth_token_send(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_json_writer_t  w;

    static ngx_str_t       no_store = ngx_string("no-store");

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 1024) != NGX_OK
        || ngx_svc_add_header(o->sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    if (ngx_svc_oauth_issue_write(o, res, &w) != NGX_OK
        || (o->grant->more && o->grant->more(o, res, &w) != NGX_OK))
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_close(&w, '}');

    ngx_svc_metric_add(o->grant->metric, 1);

    return ngx_svc_send(o->sr, NGX_HTTP_OK, &w, NULL);
}
