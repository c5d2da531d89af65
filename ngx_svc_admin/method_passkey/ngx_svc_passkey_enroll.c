/*
 * /v1/mfa/passkeys: passkeys as a second factor, and as the only one that a
 * sign-in needs.
 */

#include "ngx_svc_bidi.h"
#include "ngx_svc_ceremony.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_webauthn_options.h"


typedef struct {
    ngx_svc_value_t            credential;
    ngx_svc_value_t            name;
} ngx_svc_passkeys_body_t;

/* sr->data, in the request's pool.  It begins with the factor. */

typedef struct {
    ngx_svc_factor_t           factor;
    u_char                     id[NGX_SVC_UUID_LEN];
    cJSON                     *credential;
    ngx_str_t                  name;
    ngx_svc_ceremony_own_t     own;

    /* what is stored */

    ngx_svc_passkey_t          passkey;
    ngx_svc_webauthn_used_t    challenge;
    u_char                     digest[NGX_SVC_SHA256_LEN];
    ngx_str_t                  hash;        /* digest of the passkey's id */
    ngx_str_t                  used;        /* digest of the challenge */
    ngx_str_t                  aaguid;
} ngx_svc_passkey_enroll_t;


static ngx_svc_passkey_enroll_t *ngx_svc_passkey_enroll_create(
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_enroll_options_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_passkey_enroll_options(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_enroll_offer(ngx_svc_passkey_enroll_t *p);
static ngx_int_t ngx_svc_passkey_enroll_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_passkey_enroll_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_passkey_enroll_begin(ngx_svc_passkey_enroll_t *p);
static ngx_int_t ngx_svc_passkey_enroll_register(ngx_svc_passkey_enroll_t *p);
static ngx_int_t ngx_svc_passkey_enroll_write(ngx_svc_request_t *sr);
static void ngx_svc_passkey_enroll_refused(ngx_svc_request_t *sr,
    PGresult *res);
static ngx_int_t ngx_svc_passkey_enroll_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


static const ngx_svc_member_t  ngx_svc_passkey_enroll_options_members[] = {
    ngx_svc_null_member
};

static const ngx_svc_member_t  ngx_svc_passkey_enroll_members[] = {

    { .name = ngx_string("credential"),
      .type = NGX_SVC_T_OBJECT,
      .flags = NGX_SVC_M_REQUIRED,
      .offset = offsetof(ngx_svc_passkeys_body_t, credential) },

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_FACTOR_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_passkeys_body_t, name) },

    ngx_svc_null_member
};


/* The numbers and the flags of a passkey, as parameters. */

typedef enum {
    NGX_SVC_PASSKEYS_EXPIRY = 0,
    NGX_SVC_PASSKEYS_ALG,
    NGX_SVC_PASSKEYS_COUNT,
    NGX_SVC_PASSKEYS_BE,
    NGX_SVC_PASSKEYS_BS,
    NGX_SVC_PASSKEYS_TRANSPORTS
} ngx_svc_passkey_enroll_e;

#define ngx_svc_passkeys_param(field)                                         \
    ngx_svc_param_data(ngx_svc_passkey_enroll_t, field)
#define ngx_svc_passkeys_number(which)                                        \
    { .bind = ngx_svc_passkey_enroll_bind, .n = which }

#include "ngx_svc_passkey_enroll.sql.h"


const ngx_svc_route_t  ngx_svc_passkey_enroll[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/passkeys/options"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_passkey_enroll_options_members,
      .check = ngx_svc_passkey_enroll_options_check,
      .statements = { &ngx_svc_sql_factor_read, &ngx_svc_sql_ceremony_own },
      .reply = ngx_svc_passkey_enroll_options },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/mfa/passkeys"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_ENROLL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_passkey_enroll_members,
      .body_size = sizeof(ngx_svc_passkeys_body_t),
      .check = ngx_svc_passkey_enroll_check,
      .statements = { &ngx_svc_sql_factor_read, &ngx_svc_sql_ceremony_own },
      .status = NGX_HTTP_CREATED,
      .reply = ngx_svc_passkey_enroll_reply },

    ngx_svc_null_route
};


static ngx_svc_passkey_enroll_t *
ngx_svc_passkey_enroll_create(ngx_svc_request_t *sr)
{
    ngx_svc_passkey_enroll_t  *p;

    p = (ngx_svc_passkey_enroll_t *)
        ngx_svc_factor_create(sr, sizeof(ngx_svc_passkey_enroll_t));
    if (p == NULL) {
        return NULL;
    }

    p->factor.id.data = p->id;
    p->factor.id.len = NGX_SVC_UUID_LEN;
    p->factor.status = NGX_HTTP_CREATED;
    p->factor.refused = ngx_svc_passkey_enroll_refused;
    ngx_str_set(&p->factor.method, "passkey");

    return p;
}


static ngx_int_t
ngx_svc_passkey_enroll_options_check(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_passkey_enroll_create(sr) ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_passkey_enroll_options(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_passkey_enroll_begin(sr->data);

    if (rc == NGX_OK) {
        return ngx_svc_passkey_enroll_offer(sr->data);
    }

    return ngx_svc_login_unread(sr, rc);
}


static ngx_int_t
ngx_svc_passkey_enroll_offer(ngx_svc_passkey_enroll_t *p)
{
    u_char                    handle[2 * NGX_SVC_UUID_LEN];
    u_char                    challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN];
    ngx_svc_login_t          *login;
    ngx_svc_json_writer_t     w;
    ngx_svc_webauthn_user_t   user;

    login = &p->factor.login;

    ngx_memcpy(ngx_cpymem(handle, login->row.tenant, NGX_SVC_UUID_LEN),
               login->row.user, NGX_SVC_UUID_LEN);

    user.site = p->factor.tenant_name;
    user.handle.data = handle;
    user.handle.len = sizeof(handle);
    user.name = p->factor.email;
    user.display_name = p->own.display_name;

    if (ngx_svc_webauthn_challenge(&p->own.ceremony, challenge) != NGX_OK
        || ngx_svc_signin_no_store(login->sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, login->sr->request->pool,
                                    1024 + p->own.n * 128)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_webauthn_creation_options(&w, "publicKey", &p->own.ceremony,
                                      challenge, &user, p->own.passkeys,
                                      p->own.n);
    ngx_svc_ceremony_expires(&w, &p->own.ceremony);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(login->sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_passkey_enroll_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_passkey_enroll_t       *p;
    ngx_svc_passkeys_body_t  *members = body;

    p = ngx_svc_passkey_enroll_create(sr);
    if (p == NULL) {
        return NGX_ERROR;
    }

    p->credential = members->credential.json;

    if (members->name.set && !members->name.null) {
        p->name = members->name.str;

    } else {
        ngx_str_set(&p->name, "Passkey");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_passkey_enroll_reply(ngx_svc_request_t *sr)
{
    ngx_int_t            rc;
    ngx_svc_passkey_enroll_t  *p;

    p = sr->data;

    rc = ngx_svc_passkey_enroll_begin(p);

    if (rc == NGX_OK) {
        rc = ngx_svc_passkey_enroll_register(p);
    }

    if (rc == NGX_OK) {
        if (!p->passkey.be) {
            ngx_str_set(&p->factor.more, "{" NGX_SVC_SIGNIN_HARDWARE "}");
        }

        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_passkey_enroll_write,
                                     ngx_svc_factor_added);
    }

    return ngx_svc_login_unread(sr, rc);
}


/*
 * Takes what was read.  Returns NGX_OK; NGX_DECLINED with sr->error set;
 * NGX_ERROR.
 */

static ngx_int_t
ngx_svc_passkey_enroll_begin(ngx_svc_passkey_enroll_t *p)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = p->factor.login.sr;

    rc = ngx_svc_factor_read(&p->factor,
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_factor_room(&p->factor) != NGX_OK) {
        return NGX_DECLINED;
    }

    return ngx_svc_ceremony_own(sr, NGX_SVC_WEBAUTHN_REGISTER,
                                ngx_svc_result(sr, &ngx_svc_sql_ceremony_own),
                                &p->own);
}


static ngx_int_t
ngx_svc_passkey_enroll_register(ngx_svc_passkey_enroll_t *p)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = p->factor.login.sr;

    rc = ngx_svc_webauthn_register(sr->request->pool, p->credential,
                                   &p->own.ceremony, &p->passkey,
                                   &p->challenge, &sr->error);

    if (rc == NGX_DONE) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_CHALLENGE,
                            "The challenge is too old: ask for other options.");
    }

    if (rc != NGX_OK) {
        return rc;
    }

    p->hash.data = p->digest;
    p->hash.len = NGX_SVC_SHA256_LEN;
    p->used.data = p->challenge.hash;
    p->used.len = NGX_SVC_SHA256_LEN;
    p->aaguid.data = p->passkey.aaguid;
    p->aaguid.len = NGX_SVC_PASSKEY_AAGUID_LEN;

    if (ngx_svc_uuid_new(p->id) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_sha256(p->passkey.id.data, p->passkey.id.len, p->digest);
}


static ngx_int_t
ngx_svc_passkey_enroll_write(ngx_svc_request_t *sr)
{
    return ngx_svc_factor_add(sr, &ngx_svc_sql_passkeys_create);
}


static void
ngx_svc_passkey_enroll_refused(ngx_svc_request_t *sr, PGresult *res)
{
    ngx_svc_passkey_enroll_t       *p;
    ngx_svc_row_passkeys_create_t   row;

    p = sr->data;
    ngx_svc_row_passkeys_create(&row, res, 0);

    switch (row.verdict.len ? row.verdict.data[0] : '\0') {

    case 't': /* taken */
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_CONFLICT,
                            "This passkey is registered already.");
        break;

    case 'f': /* full */
        p->factor.total = NGX_SVC_FACTORS;
        (void) ngx_svc_factor_room(&p->factor);
        break;

    default: /* used */
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "The challenge has been used: ask for other "
                            "options.");
    }
}


static ngx_int_t
ngx_svc_passkey_enroll_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_passkey_enroll_t  *p;

    p = sr->data;

    switch (param->n) {

    case NGX_SVC_PASSKEYS_EXPIRY:
        return ngx_svc_ceremony_bind_number(sr, call, p->challenge.expires);

    case NGX_SVC_PASSKEYS_ALG:
        return ngx_svc_pg_bind_int(sr->op, call, p->passkey.alg);

    case NGX_SVC_PASSKEYS_COUNT:
        return ngx_svc_ceremony_bind_number(sr, call, p->passkey.sign_count);

    case NGX_SVC_PASSKEYS_BE:
        ngx_svc_pg_bind_bool(call, p->passkey.be);
        return NGX_OK;

    case NGX_SVC_PASSKEYS_BS:
        ngx_svc_pg_bind_bool(call, p->passkey.bs);
        return NGX_OK;

    default: /* NGX_SVC_PASSKEYS_TRANSPORTS */
        return ngx_svc_pg_bind_int(sr->op, call, p->passkey.transports);
    }
}
