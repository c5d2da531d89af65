/*
 * POST /v1/auth/email/change and /v1/auth/email/change/verify: a user gets
 * another address when he presents the code or the link that was mailed to it.
 *
 * When the address is another user's already, only that user is told, by mail.
 */

#include "ngx_svc_hex.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_notice.h"
#include "ngx_svc_own_email.h"
#include "ngx_svc_profile.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_EMAIL_CHANGE_PATH    "/account"
#define NGX_SVC_EMAIL_CHANGE_EXISTS  "/login"
#define NGX_SVC_EMAIL_CHANGE_AAD     (5 + NGX_SVC_UUID_LEN)


typedef struct {
    ngx_svc_value_t   email;
} ngx_svc_email_change_body_t;


static ngx_int_t ngx_svc_email_change_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_email_change_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_change_room(ngx_svc_own_email_t *own,
    PGresult *res);
static ngx_int_t ngx_svc_email_change_open(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_change_start(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_change_started(ngx_svc_request_t *sr);
static const ngx_svc_keys_t *ngx_svc_email_change_keys(
    ngx_svc_login_t *login, u_char aad[NGX_SVC_EMAIL_CHANGE_AAD]);
static ngx_int_t ngx_svc_email_change_seal(ngx_svc_own_email_t *own);
static ngx_int_t ngx_svc_email_change_right(ngx_svc_own_email_t *own);
static ngx_int_t ngx_svc_email_change_verify(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_email_change_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_email_change_taken(ngx_svc_request_t *sr);
static void ngx_svc_email_change_committed(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_email_change_written(ngx_svc_request_t *sr);


static const ngx_svc_own_email_kind_t  ngx_svc_email_change_kind = {
    .kind = "change",
    .right = ngx_svc_email_change_right,
    .write = ngx_svc_email_change_write,
    .written = ngx_svc_email_change_written
};


static const ngx_svc_member_t  ngx_svc_email_change_members[] = {

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_EMAIL_MAX,
      .check = ngx_svc_email_check,
      .offset = offsetof(ngx_svc_email_change_body_t, email) },

    ngx_svc_null_member
};


#include "ngx_svc_email_change.sql.h"


const ngx_svc_route_t  ngx_svc_email_change[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/email/change"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_email_change_members,
      .body_size = sizeof(ngx_svc_email_change_body_t),
      .check = ngx_svc_email_change_check,
      .statements = { &ngx_svc_sql_factor_read,
                      &ngx_svc_sql_email_change_read },
      .status = NGX_HTTP_ACCEPTED,
      .reply = ngx_svc_email_change_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/email/change/verify"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_own_email_members,
      .body_size = sizeof(ngx_svc_own_email_body_t),
      .check = ngx_svc_email_change_verify,
      .statements = { &ngx_svc_sql_factor_read,
                      &ngx_svc_sql_own_email_try },
      .reply = ngx_svc_own_email_presented },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_email_change_check(ngx_svc_request_t *sr, void *body)
{
    u_char                       *mac;
    ngx_svc_own_email_t          *own;
    ngx_svc_email_change_body_t  *members = body;

    own = ngx_svc_own_email_create(sr);

    if (own == NULL) {
        return sr->error.kind == NGX_SVC_E_NONE ? NGX_ERROR : NGX_DECLINED;
    }

    mac = ngx_pnalloc(sr->request->pool, NGX_SVC_LIMIT_MAC_LEN);

    if (mac == NULL
        || ngx_svc_limit_email(&members->email.str, mac) != NGX_OK)
    {
        return NGX_ERROR;
    }

    own->address = members->email.str;
    own->factor.login.asked.email = own->address;
    own->factor.login.mailed.mac.data = mac;
    own->factor.login.mailed.mac.len = NGX_SVC_LIMIT_MAC_LEN;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_email_change_reply(ngx_svc_request_t *sr)
{
    PGresult             *res;
    ngx_int_t             rc;
    ngx_svc_login_t      *login;
    ngx_svc_own_email_t  *own;

    own = sr->data;
    login = &own->factor.login;
    res = ngx_svc_result(sr, &ngx_svc_sql_email_change_read);

    rc = ngx_svc_factor_read(&own->factor, 
                             ngx_svc_result(sr, &ngx_svc_sql_factor_read));

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    if (ngx_svc_email_change_room(own, res) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    login->limit.family = NGX_SVC_LIMIT_SIGNUP;
    login->limit.mac = login->mailed.mac.data;

    return ngx_svc_login_limit_then(login, ngx_svc_email_change_open);
}


static ngx_int_t
ngx_svc_email_change_room(ngx_svc_own_email_t *own, PGresult *res)
{
    ngx_str_t                        *old, *new;
    ngx_svc_request_t                *sr;
    ngx_svc_row_email_change_read_t   row;

    sr = own->factor.login.sr;
    old = &own->factor.email;
    new = &own->address;

    ngx_svc_row_email_change_read(&row, res, 0);

    if (own->factor.forced) {
        return ngx_svc_login_forced(sr);
    }

    if (row.scim) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                            "The address comes from an identity provider: "
                            "change it there.");
    }

    if (old->len == new->len
        && ngx_strncasecmp(old->data, new->data, new->len) == 0)
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"email\" is the address that there is.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_email_change_open(ngx_svc_login_t *login)
{
    if (ngx_svc_email_challenge_new(login,
                                    ngx_svc_email_change_kind.kind,
                                    NGX_SVC_EMAIL_CHALLENGE_LINK)
           != NGX_OK
        || ngx_svc_email_change_seal(login->sr->data) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(login->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_email_change_start,
                                 ngx_svc_email_change_started);
}


static ngx_int_t
ngx_svc_email_change_start(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_email_challenge_lock,
        &ngx_svc_sql_email_change_open,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_email_change_started(ngx_svc_request_t *sr)
{
    u_char                           id[NGX_SVC_UUID_LEN];
    PGresult                        *res;
    ngx_svc_own_email_t             *own;
    ngx_svc_row_challenge_mailed_t   row;

    own = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_email_change_open);
    ngx_svc_row_challenge_mailed(&row, res, 0, 0);

    if (row.user_id.len
        && ngx_svc_uuid_parse(row.user_id.data, row.user_id.len, id) == NGX_OK
        && ngx_memcmp(id, own->factor.login.row.user, NGX_SVC_UUID_LEN) == 0)
    {
        return ngx_svc_own_email_mail(sr, res, NGX_SVC_MAIL_VERIFY,
                                      NGX_SVC_EMAIL_CHANGE_PATH, "#change=");
    }

    return ngx_svc_own_email_mail(sr, res, NGX_SVC_MAIL_EXISTS,
                                  NGX_SVC_EMAIL_CHANGE_EXISTS, "");
}


static const ngx_svc_keys_t *
ngx_svc_email_change_keys(ngx_svc_login_t *login,
    u_char aad[NGX_SVC_EMAIL_CHANGE_AAD])
{
    ngx_svc_main_conf_t  *smcf;

    ngx_memcpy(ngx_cpymem(aad, "email", 5), login->mailed.id.data,
               NGX_SVC_UUID_LEN);

    smcf = ngx_http_get_module_main_conf(login->sr->request,
                                         ngx_http_svc_common_module);

    return &smcf->keys;
}


static ngx_int_t
ngx_svc_email_change_seal(ngx_svc_own_email_t *own)
{
    u_char                 aad[NGX_SVC_EMAIL_CHANGE_AAD];
    ngx_str_t             *data;
    ngx_svc_login_t       *login;
    const ngx_svc_keys_t  *keys;

    login = &own->factor.login;
    data = &login->mailed.data;
    keys = ngx_svc_email_change_keys(login, aad);

    data->data = ngx_pnalloc(login->sr->request->pool,
                             own->address.len + NGX_SVC_SEAL_OVERHEAD);
    if (data->data == NULL) {
        return NGX_ERROR;
    }

    return ngx_svc_seal(keys, own->address.data, own->address.len, aad,
                        sizeof(aad), data->data, &data->len);
}


static ngx_int_t
ngx_svc_email_change_right(ngx_svc_own_email_t *own)
{
    size_t                          len;
    u_char                          aad[NGX_SVC_EMAIL_CHANGE_AAD];
    u_char                          sealed[NGX_SVC_EMAIL_MAX
                                           + NGX_SVC_SEAL_OVERHEAD];
    ngx_int_t                       rc;
    ngx_svc_login_t                *login;
    const ngx_svc_keys_t           *keys;
    ngx_svc_row_challenge_tried_t   row;

    login = &own->factor.login;

    if (own->factor.forced) {
        return ngx_svc_login_forced(login->sr);
    }

    keys = ngx_svc_email_change_keys(login, aad);
    ngx_svc_row_challenge_tried(&row, own->tried, 0, 0);
    sealed[0] = 0;
    len = sizeof(sealed);

    own->address.data = ngx_pnalloc(login->sr->request->pool, sizeof(sealed));

    if (own->address.data == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_hex_bytea(&row.data, sealed, &len);

    if (rc == NGX_OK) {
        rc = ngx_svc_unseal(keys, sealed, len, aad, sizeof(aad),
                            own->address.data, &own->address.len);
    }

    if (rc != NGX_OK) {
        ngx_svc_sealed_lost(login->sr, "a change of an e-mail address",
                            login->row.tenant, sealed, len);
    }

    return rc == NGX_OK ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_email_change_verify(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_own_email_take(sr, &ngx_svc_email_change_kind, body);
}


static ngx_int_t
ngx_svc_email_change_write(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_email_change_lock,
        &ngx_svc_sql_factor_check,
        &ngx_svc_sql_email_challenge_use,
        &ngx_svc_sql_email_change_store,
        &ngx_svc_sql_signin_rotate,
        NULL
    };

    login = sr->data;

    if (ngx_svc_signin_key(&login->session, login->row.tenant) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_login_calls(sr, list);

    sr->op->committed = ngx_svc_email_change_committed;
    sr->refused = ngx_svc_email_change_taken;

    return rc;
}


/* Another user may have got the address since the challenge was made. */

static ngx_int_t
ngx_svc_email_change_taken(ngx_svc_request_t *sr)
{
    const char  *name;

    name = PQresultErrorField(sr->op->error, PG_DIAG_CONSTRAINT_NAME);

    if (name == NULL || ngx_strcmp(name, "user_account_user_name_key") != 0) {
        return NGX_DECLINED;
    }

    (void) ngx_svc_email_challenge_over(sr);

    return ngx_svc_send_error(sr);
}


/* The old address gets its notice even if the client has gone. */

static void
ngx_svc_email_change_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                     ngx_svc_pg_result(results,
                                       &ngx_svc_sql_email_change_store));
}


static ngx_int_t
ngx_svc_email_change_written(ngx_svc_request_t *sr)
{
    PGresult         *res;
    ngx_svc_login_t  *login;

    login = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_email_change_store);

    if (ngx_svc_own_email_done(sr, res) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_session_set_cookies(sr, login->session.key) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_row(sr, res);
}
