/*
 * /v1/auth/passkey: signing in with a passkey, which says itself whose it is.
 *
 * A passkey is two factors at once.  It cannot be guessed, so that a lock of
 * the account does not keep it from being used.
 */

#include "ngx_svc_ceremony.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_webauthn_options.h"


#define NGX_SVC_PASSKEY_HANDLE  (2 * NGX_SVC_UUID_LEN)  /* tenant and user */


typedef struct {
    ngx_svc_value_t                credential;
    ngx_svc_value_t                tenant;
} ngx_svc_passkey_body_t;

/* sr->data, in the request's pool.  It begins with the sign-in. */

typedef struct {
    ngx_svc_login_t                login;
    cJSON                         *credential;
    u_char                         hash[NGX_SVC_SHA256_LEN];

    /* whose the passkey says it is */

    ngx_str_t                      tenant;
    ngx_str_t                      user;
    ngx_str_t                      id;          /* digest of its id */

    /* what has been verified */

    ngx_svc_ceremony_presented_t   presented;
} ngx_svc_passkey_login_t;


static ngx_int_t ngx_svc_passkey_login_options(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_login_options_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_login_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_login_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_passkey_login_claim(ngx_svc_passkey_login_t *p);
static ngx_int_t ngx_svc_passkey_login_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_login_tenant(ngx_svc_passkey_login_t *p);
static ngx_int_t ngx_svc_passkey_login_verify(ngx_svc_passkey_login_t *p);
static ngx_int_t ngx_svc_passkey_login_signed(ngx_svc_passkey_login_t *p,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const ngx_svc_row_passkey_stored_t *row);
static ngx_int_t ngx_svc_passkey_login_proof(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_login_wrong(ngx_svc_passkey_login_t *p);


static const ngx_svc_member_t  ngx_svc_passkey_login_members[] = {

    { .name = ngx_string("credential"),
      .type = NGX_SVC_T_OBJECT,
      .flags = NGX_SVC_M_REQUIRED,
      .offset = offsetof(ngx_svc_passkey_body_t, credential) },

    { .name = ngx_string("tenant"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_SLUG,
      .check = ngx_svc_login_slug,
      .offset = offsetof(ngx_svc_passkey_body_t, tenant) },

    ngx_svc_null_member
};


#define ngx_svc_passkey_param(field)                                          \
    ngx_svc_param_data(ngx_svc_passkey_login_t, field)

#include "ngx_svc_passkey_login.sql.h"


const ngx_svc_login_method_t  ngx_svc_passkey_login_method = {
    .methods = ngx_string("{passkey}"),
    .factor = 1,
    .unguessed = 1,
    .error = NGX_SVC_E_CREDENTIALS,
    .wrong = "The passkey is unknown, or this is not its answer.",
    .check = &ngx_svc_sql_passkey_check,
    .user_done = &ngx_svc_sql_signin_user_kept,
    .proof = ngx_svc_passkey_login_proof
};


const ngx_svc_route_t  ngx_svc_passkey_login[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/passkey/options"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = &ngx_svc_passkey_login_members[1],
      .statements = { &ngx_svc_sql_signin_tenant },
      .prepare = ngx_svc_passkey_login_options,
      .reply = ngx_svc_passkey_login_options_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/passkey/verify"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_passkey_login_members,
      .statements = { &ngx_svc_sql_passkey_tenant,
                      &ngx_svc_sql_passkey_user,
                      &ngx_svc_sql_passkey_risk },
      .prepare = ngx_svc_passkey_login_prepare,
      .reply = ngx_svc_passkey_login_reply },

    ngx_svc_null_route
};


/* The limits do not count this, as it names no user and changes nothing. */

static ngx_int_t
ngx_svc_passkey_login_options(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = ngx_svc_login_create(sr, sizeof(ngx_svc_passkey_login_t), NULL,
                                 ngx_svc_passkey_login_take);

    return login ? ngx_svc_login_admitted(login)
                 : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_passkey_login_options_reply(ngx_svc_request_t *sr)
{
    u_char                        challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];
    PGresult                     *res;
    ngx_int_t                     rc;
    ngx_svc_json_writer_t         w;
    ngx_svc_passkey_login_t      *p;
    ngx_svc_row_login_tenant_t    tenant;
    ngx_svc_webauthn_ceremony_t   ceremony;

    p = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_signin_tenant);
    ngx_svc_row_login_tenant(&tenant, res, 0, 0);

    /* if no tenant is named, the passkey will name it */

    rc = PQntuples(res) ? ngx_svc_login_tenant(&p->login, res) : NGX_OK;

    if (rc == NGX_OK) {
        rc = ngx_svc_ceremony(sr, NGX_SVC_WEBAUTHN_SIGN_IN, tenant.by_domain,
                              &ceremony);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK
        || ngx_svc_webauthn_challenge(&ceremony, challenge) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 512) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_webauthn_request_options(&w, "publicKey", &ceremony, challenge,
                                     NULL, 0);
    ngx_svc_ceremony_expires(&w, &ceremony);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_passkey_login_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_passkey_login_t),
                                 &ngx_svc_passkey_login_method,
                                 ngx_svc_passkey_login_take);
}


static ngx_int_t
ngx_svc_passkey_login_take(ngx_svc_login_t *login)
{
    ngx_int_t                 rc;
    ngx_svc_request_t        *sr;
    ngx_svc_passkey_body_t    body;
    ngx_svc_passkey_login_t  *p;

    sr = login->sr;
    p = sr->data;

    ngx_memzero(&body, sizeof(ngx_svc_passkey_body_t));

    rc = ngx_svc_schema_object(sr->route->members, 0, sr->json, &body,
                               &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_login_take_client(login, &body.tenant) != NGX_OK) {
        return NGX_ERROR;
    }

    if (login->method == NULL) {
        return NGX_OK;
    }

    p->credential = body.credential.json;

    rc = ngx_svc_passkey_login_claim(p);

    return rc == NGX_OK ? ngx_svc_login_take_session(login) : rc;
}


/* The answer to a malformed credential does not say what is wrong with it. */

static ngx_int_t
ngx_svc_passkey_login_claim(ngx_svc_passkey_login_t *p)
{
    ngx_int_t           rc;
    ngx_str_t           id, user;
    ngx_svc_error_t     err;
    ngx_svc_request_t  *sr;

    sr = p->login.sr;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_webauthn_claim(sr->request->pool, p->credential, &id, &user,
                                &err);

    if (rc == NGX_DECLINED
        || (rc == NGX_OK && user.len != NGX_SVC_PASSKEY_HANDLE))
    {
        return ngx_svc_login_wrong(sr);
    }

    if (rc != NGX_OK
        || ngx_svc_sha256(id.data, id.len, p->hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    p->tenant.data = user.data;
    p->tenant.len = NGX_SVC_UUID_LEN;
    p->user.data = user.data + NGX_SVC_UUID_LEN;
    p->user.len = NGX_SVC_UUID_LEN;
    p->id.data = p->hash;
    p->id.len = NGX_SVC_SHA256_LEN;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_passkey_login_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_passkey_login_t  *p;

    p = sr->data;

    rc = ngx_svc_passkey_login_tenant(p);

    if (rc == NGX_OK) {
        rc = ngx_svc_login_decide(&p->login,
                              ngx_svc_result(sr, &ngx_svc_sql_passkey_tenant),
                              ngx_svc_result(sr, &ngx_svc_sql_passkey_user));
    }

    if (rc == NGX_OK) {
        ngx_svc_login_take_risk(&p->login,
                                ngx_svc_result(sr, &ngx_svc_sql_passkey_risk));
        rc = ngx_svc_passkey_login_verify(p);
    }

    switch (rc) {

    case NGX_OK:
        p->login.stage = NGX_SVC_STAGE_FULL;
        return ngx_svc_login_succeed(&p->login);

    case NGX_ABORT:
        return ngx_svc_passkey_login_wrong(p);

    case NGX_DECLINED:
        return ngx_svc_login_declined(&p->login);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* If the request does not name the tenant, the passkey does: takes its slug. */

static ngx_int_t
ngx_svc_passkey_login_tenant(ngx_svc_passkey_login_t *p)
{
    PGresult                    *res;
    ngx_svc_row_passkey_user_t   row;

    res = ngx_svc_result(p->login.sr, &ngx_svc_sql_passkey_user);

    if (PQntuples(res) == 0) {
        return NGX_ABORT;
    }

    ngx_svc_row_passkey_user(&row, res, 0);

    if (p->login.asked.slug.data == NULL
        && ngx_svc_login_copy(&p->login, &p->login.asked.slug, row.slug)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return row.suspended
           ? ngx_svc_fail(&p->login.sr->error, NGX_SVC_E_ACCESS_DENIED,
                          "The tenant is suspended.")
           : NGX_OK;
}


/*
 * Returns NGX_OK; NGX_ABORT when the assertion is wrong; NGX_DECLINED with
 * sr->error set; NGX_ERROR.
 */

static ngx_int_t
ngx_svc_passkey_login_verify(ngx_svc_passkey_login_t *p)
{
    ngx_int_t                     rc;
    ngx_svc_error_t               err;
    ngx_svc_request_t            *sr;
    ngx_svc_row_login_tenant_t    tenant;
    ngx_svc_row_passkey_user_t    row;
    ngx_svc_webauthn_ceremony_t   ceremony;

    sr = p->login.sr;
    ngx_svc_row_login_tenant(&tenant,
                       ngx_svc_result(sr, &ngx_svc_sql_passkey_tenant), 0, 0);
    ngx_svc_row_passkey_user(&row,
                             ngx_svc_result(sr, &ngx_svc_sql_passkey_user), 0);
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_ceremony(sr, NGX_SVC_WEBAUTHN_SIGN_IN, tenant.by_domain,
                          &ceremony);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_webauthn_assertion(sr->request->pool, p->credential,
                                    &ceremony, &p->presented.assertion, &err);

    if (rc == NGX_DONE) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_CHALLENGE,
                            "The challenge is too old: ask for other options.");
    }

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_ABORT : NGX_ERROR;
    }

    if (p->login.reason != NGX_SVC_LOGIN_WRONG) {
        return NGX_ABORT;
    }

    rc = ngx_svc_passkey_login_signed(p, &ceremony, &row.passkey_stored);

    if (rc == NGX_OK && row.forced) {
        ngx_str_set(&p->login.written.reason, "sso_required");
        return NGX_ABORT;
    }

    return rc;
}


static ngx_int_t
ngx_svc_passkey_login_signed(ngx_svc_passkey_login_t *p,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const ngx_svc_row_passkey_stored_t *row)
{
    ngx_int_t           rc;
    ngx_svc_passkey_t   passkey;

    if (ngx_svc_ceremony_passkey(p->login.sr->request->pool, row, &passkey)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (row->rp_id.len != ceremony->rp_id.len
        || ngx_memcmp(row->rp_id.data, ceremony->rp_id.data, row->rp_id.len)
           != 0)
    {
        return NGX_ABORT;
    }

    rc = ngx_svc_webauthn_verify(&p->presented.assertion, ceremony, &passkey);

    if (rc == NGX_DECLINED && p->presented.assertion.cloned) {
        ngx_str_set(&p->login.written.reason, "passkey_cloned");
    }

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_ABORT : rc;
    }

    if (!passkey.be) {
        ngx_str_set(&p->login.written.methods,
                    "{passkey," NGX_SVC_SIGNIN_HARDWARE "}");
    }

    return ngx_svc_ceremony_presented(&p->presented);
}


static ngx_int_t
ngx_svc_passkey_login_proof(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_passkey_presented, NULL);
}


/* The failure is written if the tenant exists. */

static ngx_int_t
ngx_svc_passkey_login_wrong(ngx_svc_passkey_login_t *p)
{
    ngx_svc_request_t  *sr;

    sr = p->login.sr;

    if (sr->tenant_known) {
        return ngx_svc_login_fail(&p->login);
    }

    (void) ngx_svc_login_wrong(sr);

    return ngx_svc_send_error(sr);
}
