/*
 * POST /oauth/token.  Errors that the form alone shows are told first.
 */

#include "ngx_svc_oauth_token.h"
#include "ngx_svc_oauth_asserted.h"
#include "ngx_svc_oauth_client_take.h"
#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_proof.h"


static ngx_int_t ngx_svc_oauth_token_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_token_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_token_grant(ngx_svc_oauth_t *o);


static const ngx_svc_oauth_grant_t *const  ngx_svc_oauth_grants[] = {
    &ngx_svc_oauth_client_credentials,
    &ngx_svc_oauth_exchange,
    &ngx_svc_oauth_code,
    &ngx_svc_oauth_refresh,
    NULL
};


const ngx_svc_route_t  ngx_svc_oauth_token[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("[/t/*]/token"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_token_prepare,
      .reply = ngx_svc_oauth_grant_reply },

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

    if (rc == NGX_OK && !ngx_svc_oauth_once_presented(o)) {
        sr->op->kind = NGX_SVC_PG_READ;
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_asserted_calls(o, ngx_svc_oauth_token_calls);
    }

    if (rc == NGX_DECLINED && o && o->grant && o->client.digest.len) {
        ngx_svc_metric_add(o->grant->metric + 1, 1);
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_token_calls(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_grant_calls(sr->data, NULL);
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
