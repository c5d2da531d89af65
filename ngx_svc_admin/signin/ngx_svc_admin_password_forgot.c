/*
 * POST /v1/auth/password/forgot: a link to set a password, by mail.
 *
 * Whoever it is for, the answer and the work are the same, and nothing is
 * waited for that only a user's mail needs.
 */

#include "ngx_svc_base64.h"
#include "ngx_svc_email_challenge.h"
#include "ngx_svc_notice.h"


#define NGX_SVC_FORGOT_TOKEN   32       /* bytes */
#define NGX_SVC_FORGOT_LIFE    1800     /* seconds */
#define NGX_SVC_FORGOT_TENANT  0        /* the results of the read */
#define NGX_SVC_FORGOT_BLOCK   1

#define NGX_SVC_FORGOT_PATH    "/reset#token="


/* Of the request's pool: the part of a sign-in comes first, in sr->data. */

typedef struct {
    ngx_svc_login_t   login;
    u_char            token[ngx_svc_base64url_len(NGX_SVC_FORGOT_TOKEN)];
    u_char            digest[NGX_SVC_SHA256_LEN];
    ngx_str_t         hash;             /* that */
} ngx_svc_forgot_t;


static ngx_int_t ngx_svc_admin_forgot_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_forgot_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_admin_forgot_token(ngx_svc_forgot_t *forgot);
static ngx_int_t ngx_svc_admin_forgot_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_forgot_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_forgot_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_forgot_mail(ngx_svc_forgot_t *forgot,
    PGresult *user);
static ngx_int_t ngx_svc_admin_forgot_accepted(ngx_svc_request_t *sr);


/*
 * One row of a tenant that is not suspended.  A commit that waits for the disk
 * would tell who there is: a token that a crash takes is asked for again.
 * Whose address is just being changed is looked at behind that: a token that is
 * newer than the change would be good, in the old mailbox.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_forgot = {
    .name = "password_forgot",
    .text =
        "WITH u AS MATERIALIZED ("
            "SELECT k.id, k.user_name, k.display_name, k.locale"
            " FROM svc.user_account k"
            " WHERE k.tenant_id = " NGX_SVC_TENANT
            " AND k.user_name_key = (SELECT svc.address_key($1::text))"
            " AND k.status = 'active' FOR KEY SHARE"
        "), r AS ("
            "INSERT INTO svc.password_reset"
                " (tenant_id, token_hash, user_id, expires_at)"
            " SELECT " NGX_SVC_TENANT ", $2, u.id,"
                " now() + interval '30 minutes' FROM u"
        "), a AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_PASSWORD_RESET_REQUESTED, "u.id::text",
                          "u.user_name", "'{\"source\": \"mail\"}'::jsonb",
                          "FROM u")
        ")"
        " SELECT u.user_name AS _to, u.display_name AS _name,"
            " u.locale AS _locale, " NGX_SVC_NOTICE_TENANT("$3") ","
            " set_config('synchronous_commit', 'off', true)"
        " FROM svc.tenant t LEFT JOIN u ON true"
        " WHERE t.id = " NGX_SVC_TENANT,
    NGX_SVC_PARAMS(ngx_svc_login_param(email),
                   ngx_svc_param_data(ngx_svc_forgot_t, hash),
                   ngx_svc_param_notice())
};

/* Of a tenant whose administrator wants nobody from there. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_forgot_blocked = {
    .name = "password_forgot_blocked",
    .text = "SELECT " NGX_SVC_LOGIN_BLOCK(NGX_SVC_TENANT, "$1"),
    NGX_SVC_PARAMS(ngx_svc_login_param(client.ip))
};


const ngx_svc_route_t  ngx_svc_admin_password_forgot[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/password/forgot"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_login_address_members,
      .statements = { &ngx_svc_sql_signin_tenant,
                      &ngx_svc_sql_forgot_blocked },
      .status = NGX_HTTP_ACCEPTED,
      .prepare = ngx_svc_admin_forgot_prepare,
      .reply = ngx_svc_admin_forgot_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_forgot_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_email_challenge_prepare(sr, sizeof(ngx_svc_forgot_t), NULL,
                                           ngx_svc_admin_forgot_take);
}


static ngx_int_t
ngx_svc_admin_forgot_take(ngx_svc_login_t *login)
{
    ngx_int_t  rc;

    login->limit.family = NGX_SVC_LIMIT_SIGNUP;

    rc = ngx_svc_login_address(login);

    return rc == NGX_OK ? ngx_svc_admin_forgot_token(login->sr->data) : rc;
}


static ngx_int_t
ngx_svc_admin_forgot_token(ngx_svc_forgot_t *forgot)
{
    u_char  secret[NGX_SVC_FORGOT_TOKEN];

    forgot->hash.data = forgot->digest;
    forgot->hash.len = NGX_SVC_SHA256_LEN;

    if (ngx_svc_random(secret, sizeof(secret)) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(forgot->token, secret, sizeof(secret));
    ngx_explicit_memzero(secret, sizeof(secret));

    if (ngx_svc_wipe_later(forgot->login.sr->request->pool, forgot->token,
                           sizeof(forgot->token))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_sha256(forgot->token, sizeof(forgot->token),
                          forgot->digest);
}


/* A write waits for its tenant's turn: whose it is comes first. */

static ngx_int_t
ngx_svc_admin_forgot_reply(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_forgot_t  *forgot;

    forgot = sr->data;

    rc = ngx_svc_login_tenant(&forgot->login,
                              sr->results[NGX_SVC_FORGOT_TENANT]);

    if (rc == NGX_OK
        && ngx_svc_row_true(sr->results[NGX_SVC_FORGOT_BLOCK], 0, "blocked"))
    {
        rc = ngx_svc_login_barred(sr);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!sr->tenant_known) {
        return ngx_svc_admin_forgot_accepted(sr);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_forgot_write,
                                 ngx_svc_admin_forgot_written);
}


static ngx_int_t
ngx_svc_admin_forgot_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_forgot,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_admin_forgot_written(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_admin_forgot_mail(sr->data, ngx_svc_route_last(sr));

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    return rc == NGX_OK ? ngx_svc_admin_forgot_accepted(sr)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/* Of nobody it is void, and to the address that was asked for. */

static ngx_int_t
ngx_svc_admin_forgot_mail(ngx_svc_forgot_t *forgot, PGresult *user)
{
    ngx_str_t         token;
    ngx_svc_mail_t    mail;
    ngx_svc_login_t  *login;

    login = &forgot->login;

    if (ngx_svc_notice_read(&mail, user) != NGX_OK) {
        return NGX_OK;
    }

    mail.kind = NGX_SVC_MAIL_RESET;
    mail.not_after = ngx_time() + NGX_SVC_FORGOT_LIFE;
    mail.ip = login->client.ip;
    mail.country = login->client.country;

    if (mail.to.len == 0) {
        mail.nobody = 1;
        mail.to = login->email;
    }

    token.data = forgot->token;
    token.len = sizeof(forgot->token);

    if (ngx_svc_email_challenge_link(login->sr, NGX_SVC_FORGOT_PATH, &token,
                                     &mail.link)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_email_challenge_send(login, &mail);
}


static ngx_int_t
ngx_svc_admin_forgot_accepted(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 16) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}
