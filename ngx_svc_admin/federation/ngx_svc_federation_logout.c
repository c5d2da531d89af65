/*
 * POST /v1/tenants/{slug}/federation/{connection}/backchannel-logout: an
 * identity provider says that somebody has signed out there (OpenID Connect
 * Back-Channel Logout 1.0).
 *
 * Whatever follows from the end of a session is the triggers', as it is when
 * its user ends it.
 */

#include "ngx_svc_federation_account.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_ask.h"
#include "ngx_svc_federation_keys.h"
#include "ngx_svc_federation_named.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_form.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_provider_person.h"


/* The flow is none that has a row: it is what the shared parts take. */

typedef struct {
    ngx_svc_federation_flow_t  flow;        /* first */
    ngx_str_t                  text;        /* the token */
    ngx_str_t                  jti;         /* SHA-256 */
} ngx_svc_federation_logout_t;


static ngx_int_t ngx_svc_federation_logout_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_logout_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_logout_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_logout_check(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_logout_whom(
    ngx_svc_federation_logout_t *logout, const ngx_svc_id_token_t *token);
static ngx_int_t ngx_svc_federation_logout_over(
    ngx_svc_federation_flow_t *flow, ngx_int_t rc);
static ngx_int_t ngx_svc_federation_logout_refuse(
    ngx_svc_federation_flow_t *flow, const char *why);
static ngx_int_t ngx_svc_federation_logout_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_logout_written(ngx_svc_request_t *sr);


#define ngx_svc_federation_logout_param(field)                                \
    ngx_svc_param_data(ngx_svc_federation_logout_t, field)


#include "ngx_svc_federation_logout.sql.h"


const ngx_svc_route_t  ngx_svc_federation_logout[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/tenants/*/federation/*/backchannel-logout"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_FORM|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_federation_named_tenant,
                      &ngx_svc_sql_federation_named },
      .prepare = ngx_svc_federation_logout_prepare,
      .reply = ngx_svc_federation_logout_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_federation_logout_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_federation_logout_t), NULL,
                                 ngx_svc_federation_logout_take);
}


static ngx_int_t
ngx_svc_federation_logout_take(ngx_svc_login_t *login)
{
    ngx_int_t                     rc;
    ngx_svc_form_t                form;
    ngx_svc_request_t            *sr;
    ngx_svc_federation_logout_t  *logout;

    sr = login->sr;
    logout = sr->data;

    rc = ngx_svc_federation_named_take(&logout->flow);

    if (rc == NGX_OK) {
        rc = ngx_svc_form_parse(sr->request->pool, &sr->body, &form,
                                &sr->error);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_form_value(&form, "logout_token", &logout->text,
                                &sr->error);
    }

    return rc == NGX_OK && logout->text.data == NULL
           ? ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                          "There is no \"logout_token\".")
           : rc;
}


static ngx_int_t
ngx_svc_federation_logout_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;
    flow->until = ngx_current_msec + NGX_SVC_FEDERATION_TIME;

    rc = ngx_svc_federation_named(flow);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_logout_check(flow);
    }

    if (rc == NGX_AGAIN) {
        rc = ngx_svc_federation_keys(flow, "logout token",
                                     ngx_svc_federation_logout_check,
                                     ngx_svc_federation_logout_over);
    }

    return rc == NGX_DONE ? NGX_DONE
                          : ngx_svc_federation_logout_over(flow, rc);
}


static ngx_int_t
ngx_svc_federation_logout_check(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                     rc;
    ngx_svc_id_token_t            token;
    ngx_svc_oidc_metadata_t       m;
    ngx_svc_federation_logout_t  *logout;
    ngx_svc_id_token_expected_t   expected;

    logout = flow->login.sr->data;

    rc = flow->connection.document.data ? ngx_svc_federation_document(flow, &m)
                                        : NGX_DECLINED;
    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? ngx_svc_federation_away(flow->login.sr)
                                  : NGX_ERROR;
    }

    ngx_memzero(&expected, sizeof(ngx_svc_id_token_expected_t));

    ngx_svc_provider_expect(&flow->connection.settings, &expected);

    expected.issuer = m.issuer;
    expected.client_id = flow->connection.client_id;
    expected.now = ngx_time();

    rc = ngx_svc_logout_token_check(flow->login.sr->request->pool,
                                    &logout->text, &flow->connection.jwks,
                                    &expected, &token);

    if (rc == NGX_OK) {
        return ngx_svc_federation_logout_whom(logout, &token);
    }

    if (rc == NGX_AGAIN) {
        flow->keys.lacks = token.why;
    }

    return rc == NGX_DECLINED
           ? ngx_svc_federation_logout_refuse(flow, token.why) : rc;
}


/* At Microsoft a "sub" alone is nobody that we know. */

static ngx_int_t
ngx_svc_federation_logout_whom(ngx_svc_federation_logout_t *logout,
    const ngx_svc_id_token_t *token)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;
    ngx_svc_provider_person_t   person;

    flow = &logout->flow;
    person.why = "has neither a 'sub' nor a 'sid'";
    rc = NGX_DECLINED;

    if (ngx_svc_federation_proof_digest(flow, &token->jti, &logout->jti)
        != NGX_OK
        || ngx_svc_federation_proof_digest(flow, &token->sid,
                                           &flow->proof.sid)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (token->sub.data) {
        rc = ngx_svc_provider_person(flow->login.sr->request->pool,
                                     &flow->connection.settings,
                                     token->claims, &person);
    }

    if (rc == NGX_DECLINED) {
        return token->sid.data
               ? NGX_OK : ngx_svc_federation_logout_refuse(flow, person.why);
    }

    return rc == NGX_OK
           ? ngx_svc_federation_proof_subject(flow, &person.subject)
           : NGX_ERROR;
}


/* What is wrong is for the audit log, as of an ID token. */

static ngx_int_t
ngx_svc_federation_logout_refuse(ngx_svc_federation_flow_t *flow,
    const char *why)
{
    return ngx_svc_federation_fail(flow, "the logout token %s", why);
}


static ngx_int_t
ngx_svc_federation_logout_over(ngx_svc_federation_flow_t *flow, ngx_int_t rc)
{
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;

    if (rc == NGX_OK) {
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_federation_logout_write,
                                     ngx_svc_federation_logout_written);
    }

    /* for the other server 400 is all that there is (2.8) */

    if (flow->why.data) {
        sr->error.kind = NGX_SVC_E_NONE;
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The logout token is not good.");
    }

    return ngx_svc_federation_declined(sr, rc);
}


static ngx_int_t
ngx_svc_federation_logout_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_federation_named_tenant,
        &ngx_svc_sql_federation_account_lock,
        &ngx_svc_sql_federation_logout_lock,
        &ngx_svc_sql_federation_logout_sid,
        &ngx_svc_sql_federation_logout,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


/* A server that tells of many in a row is not kept from it. */

static ngx_int_t
ngx_svc_federation_logout_written(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_limit_give_back(&login->limit);

    return ngx_svc_send_empty(sr, NGX_HTTP_OK);
}
