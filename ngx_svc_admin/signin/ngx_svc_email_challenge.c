/*
 * Challenges by mail: how their codes and links are made, and sent.
 */

#include "ngx_svc_email_challenge.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_column.h"
#include "ngx_svc_cookie.h"
#include "ngx_svc_email_code.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_signin_fragments.row.h"


#define NGX_SVC_EMAIL_SECRET  32        /* bytes, of a link and of a cookie */
#define NGX_SVC_EMAIL_TEXT    ngx_svc_base64url_len(NGX_SVC_EMAIL_SECRET)
#define NGX_SVC_EMAIL_LOGO    "/v1/tenants/"


static ngx_int_t ngx_svc_email_challenge_code(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_email_challenge_secret(ngx_svc_login_t *login,
    ngx_str_t *text, ngx_str_t *hash);
static ngx_int_t ngx_svc_email_challenge_binding(ngx_svc_login_t *login);


#include "ngx_svc_email_challenge.sql.h"


/* This is called again when the limits have answered. */

ngx_int_t
ngx_svc_email_challenge_prepare(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login))
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    login = sr->data;

    if (login == NULL) {
        login = ngx_svc_login_create(sr, size, method, take);
        if (login == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        if (!login->invalid && !ngx_svc_mail_ready()) {
            return ngx_svc_email_challenge_away(sr);
        }

        rc = ngx_svc_login_limit(login);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return ngx_svc_login_admitted(login);
}


ngx_int_t
ngx_svc_email_challenge_new(ngx_svc_login_t *login, const char *kind,
    ngx_uint_t flags)
{
    u_char                     *id;
    ngx_svc_email_challenge_t  *mailed;

    mailed = &login->mailed;

    mailed->kind.data = (u_char *) kind;
    mailed->kind.len = ngx_strlen(kind);

    if (mailed->mac.data == NULL) {
        mailed->mac = login->asked.mac;
    }

    id = ngx_pnalloc(login->sr->request->pool, NGX_SVC_UUID_LEN);

    if (id == NULL || ngx_svc_uuid_new(id) != NGX_OK) {
        return NGX_ERROR;
    }

    mailed->id.data = id;
    mailed->id.len = NGX_SVC_UUID_LEN;

    if (ngx_svc_email_challenge_code(login) != NGX_OK) {
        return NGX_ERROR;
    }

    if ((flags & NGX_SVC_EMAIL_CHALLENGE_LINK)
        && ngx_svc_email_challenge_secret(login, &mailed->token,
                                          &mailed->token_hash)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return (flags & NGX_SVC_EMAIL_CHALLENGE_BOUND)
           ? ngx_svc_email_challenge_binding(login) : NGX_OK;
}


static ngx_int_t
ngx_svc_email_challenge_code(ngx_svc_login_t *login)
{
    u_char      *p;
    ngx_pool_t  *pool;

    pool = login->sr->request->pool;

    p = ngx_pnalloc(pool, NGX_SVC_EMAIL_CODE_LEN + NGX_SVC_MAC_LEN);

    if (p == NULL
        || ngx_svc_wipe_later(pool, p, NGX_SVC_EMAIL_CODE_LEN) != NGX_OK
        || ngx_svc_email_code_new(p) != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->mailed.code.data = p;
    login->mailed.code.len = NGX_SVC_EMAIL_CODE_LEN;
    login->mailed.code_mac.data = p + NGX_SVC_EMAIL_CODE_LEN;
    login->mailed.code_mac.len = NGX_SVC_MAC_LEN;

    return ngx_svc_email_code_mac(login->mailed.id.data, p,
                                  login->mailed.code_mac.data);
}


/* Makes a random text, which is wiped with the pool, and its digest. */

static ngx_int_t
ngx_svc_email_challenge_secret(ngx_svc_login_t *login, ngx_str_t *text,
    ngx_str_t *hash)
{
    u_char       *p, secret[NGX_SVC_EMAIL_SECRET];
    ngx_pool_t   *pool;

    pool = login->sr->request->pool;

    p = ngx_pnalloc(pool, NGX_SVC_EMAIL_TEXT + NGX_SVC_SHA256_LEN);

    if (p == NULL
        || ngx_svc_wipe_later(pool, p, NGX_SVC_EMAIL_TEXT) != NGX_OK
        || ngx_svc_random(secret, sizeof(secret)) != NGX_OK)
    {
        return NGX_ERROR;
    }

    hash->data = ngx_svc_base64url(p, secret, sizeof(secret));
    hash->len = NGX_SVC_SHA256_LEN;
    text->data = p;
    text->len = NGX_SVC_EMAIL_TEXT;

    ngx_explicit_memzero(secret, sizeof(secret));

    return ngx_svc_sha256(p, NGX_SVC_EMAIL_TEXT, hash->data);
}


/* A browser keeps its cookie, as several of its challenges may be open. */

static ngx_int_t
ngx_svc_email_challenge_binding(ngx_svc_login_t *login)
{
    ngx_str_t                  *binding, *hash;

    binding = &login->mailed.binding;
    hash = &login->mailed.binding_hash;

    switch (ngx_svc_email_code_cookie(login->sr, binding, hash)) {

    case NGX_OK:
        return NGX_OK;

    case NGX_ERROR:
        return NGX_ERROR;

    default:
        return ngx_svc_email_challenge_secret(login, binding, hash);
    }
}


ngx_int_t
ngx_svc_email_challenge_mail(ngx_svc_login_t *login, PGresult *res,
    const char *path, const char *fragment, ngx_svc_mail_t *mail)
{
    u_char                          *tenant;
    ngx_svc_email_challenge_t       *mailed;
    ngx_svc_row_challenge_mailed_t   row;

    mailed = &login->mailed;
    ngx_svc_row_challenge_mailed(&row, res, 0, 0);

    tenant = ngx_pnalloc(login->sr->request->pool, NGX_SVC_UUID_TEXT_LEN);
    if (tenant == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(mail, sizeof(ngx_svc_mail_t));

    mail->nobody = row.voided;
    mail->not_after = ngx_time() + ngx_svc_setting(NGX_SVC_SET_EMAIL_CODE_TTL);
    mail->tenant.data = tenant;
    mail->tenant.len = ngx_svc_uuid_text(tenant, login->row.tenant) - tenant;
    mail->to = row.user_name;
    mail->name = row.display_name;
    mail->locale = row.locale;
    mail->tenant_name = row.tenant_name;
    mail->primary = row.color;
    mail->code = mailed->code;
    mail->ip = login->client.ip;
    mail->country = login->client.country;

    if (mail->to.len == 0) {
        mail->to = login->asked.email;
    }

    if (ngx_svc_language(login->sr, &mail->locale) != NGX_OK) {
        return NGX_ERROR;
    }

    if (row.logo.len
        && ngx_svc_base_url_page(login->sr, NGX_SVC_EMAIL_LOGO, NULL, "",
                                 &row.logo, &mail->logo_url)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return path ? ngx_svc_base_url_page(login->sr, path,
                                        row.slug.len ? &row.slug : NULL,
                                        fragment, &mailed->token,
                                        &mail->link)
                : NGX_OK;
}


/* The answer does not tell that no mail can go to an address. */

ngx_int_t
ngx_svc_email_challenge_send(ngx_svc_login_t *login, const ngx_svc_mail_t *mail)
{
    ngx_int_t  rc;

    rc = ngx_svc_mail_send(mail);

    if (rc != NGX_DECLINED || ngx_svc_mail_ready()) {
        return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
    }

    return ngx_svc_email_challenge_away(login->sr);
}


ngx_int_t
ngx_svc_email_challenge_away(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "No mail can be sent just now: try again later.");
}


ngx_int_t
ngx_svc_email_challenge_accepted(ngx_svc_login_t *login, PGresult *res)
{
    ngx_svc_request_t      *sr;
    ngx_svc_json_writer_t   w;

    sr = login->sr;

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 128) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (login->mailed.binding.data
        && ngx_svc_cookie_set(sr, &ngx_svc_email_code_cookie_name,
                              &login->mailed.binding,
                              ngx_svc_setting(NGX_SVC_SET_EMAIL_CODE_TTL),
                              NGX_SVC_COOKIE_HTTP_ONLY)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_column_text(&w, "challengeId", res, 0,
                        ngx_svc_row_find(res, "challengeId"));
    ngx_svc_column_time(&w, "expiresAt", res, 0,
                        ngx_svc_row_find(res, "expiresAt"));
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}
