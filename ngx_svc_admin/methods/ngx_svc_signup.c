/*
 * Sign-up: what the request says is kept, sealed, until the address is proved.
 */

#include "ngx_svc_signup.h"
#include "ngx_svc_email.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_method.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_SIGNUP_FIELDS  8
#define NGX_SVC_SIGNUP_DATA    8192     /* bytes, at most, as the table says */
#define NGX_SVC_SIGNUP_AAD     (2 * NGX_SVC_UUID_LEN)


static ngx_int_t ngx_svc_signup_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_signup_seal(ngx_svc_signup_t *signup);
static ngx_int_t ngx_svc_signup_open(ngx_svc_signup_t *signup, PGresult *res);
static void ngx_svc_signup_fields(ngx_svc_signup_t *signup,
    ngx_str_t *fields[NGX_SVC_SIGNUP_FIELDS]);
static ngx_int_t ngx_svc_signup_unpack(ngx_svc_signup_t *signup, u_char *p,
    u_char *end);
static const ngx_svc_keys_t *ngx_svc_signup_keys(ngx_svc_signup_t *signup,
    u_char aad[NGX_SVC_SIGNUP_AAD]);


ngx_int_t
ngx_svc_signup_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_signup_mails(sr)
           ? ngx_svc_email_challenge_prepare(sr, sizeof(ngx_svc_signup_t),
                                             NULL, ngx_svc_signup_take)
           : ngx_svc_login_prepare(sr, sizeof(ngx_svc_signup_t), NULL,
                                   ngx_svc_signup_take);
}


ngx_uint_t
ngx_svc_signup_mails(ngx_svc_request_t *sr)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return smcf->mail;
}


ngx_uint_t
ngx_svc_signup_organizations(const ngx_svc_admin_main_conf_t *amcf,
    const ngx_svc_main_conf_t *smcf)
{
    return amcf->organization_signup == 1 && smcf->mail;
}


static ngx_int_t
ngx_svc_signup_take(ngx_svc_login_t *login)
{
    u_char                 *mac;
    ngx_int_t               rc;
    ngx_svc_signup_t       *signup;
    ngx_svc_request_t      *sr;
    ngx_svc_signup_body_t   body;

    sr = login->sr;
    signup = sr->data;
    login->limit.family = NGX_SVC_LIMIT_SIGNUP;

    ngx_memzero(&body, sizeof(ngx_svc_signup_body_t));

    rc = ngx_svc_account_take(&signup->account, &body.account);
    if (rc != NGX_OK) {
        return rc;
    }

    mac = ngx_pnalloc(sr->request->pool, NGX_SVC_LIMIT_MAC_LEN);

    if (mac == NULL || ngx_svc_limit_email(&body.email.str, mac) != NGX_OK) {
        return NGX_ERROR;
    }

    login->asked.email = body.email.str;
    login->asked.mac.data = mac;
    login->asked.mac.len = NGX_SVC_LIMIT_MAC_LEN;
    signup->slug = body.slug.str;
    signup->name = body.name.str;

    if (ngx_svc_login_take_client(login, &body.account.tenant) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_login_take_session(login);
}


/*
 * The link works only in the browser that has asked for it.  Otherwise somebody
 * could sign up with another person's address and a password of his own, and
 * the account would be made when that person opens the link.
 */

ngx_int_t
ngx_svc_signup_challenge(ngx_svc_signup_t *signup, const char *kind)
{
    if (ngx_svc_email_challenge_new(&signup->account.login, kind,
                                    NGX_SVC_EMAIL_CHALLENGE_LINK
                                    |NGX_SVC_EMAIL_CHALLENGE_BOUND)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_signup_seal(signup);
}


/* Seals the fields, each after its length of two bytes. */

static ngx_int_t
ngx_svc_signup_seal(ngx_svc_signup_t *signup)
{
    size_t                 len;
    u_char                *p, text[NGX_SVC_SIGNUP_DATA];
    u_char                 aad[NGX_SVC_SIGNUP_AAD];
    ngx_str_t             *fields[NGX_SVC_SIGNUP_FIELDS], *data;
    ngx_uint_t             i;
    const ngx_svc_keys_t  *keys;

    signup->method = signup->account.method->name;

    ngx_svc_signup_fields(signup, fields);

    for (len = 0, i = 0; i < NGX_SVC_SIGNUP_FIELDS; i++) {
        len += 2 + fields[i]->len;
    }

    /* the limits of the members do not allow so much */

    if (len > sizeof(text) - NGX_SVC_SEAL_OVERHEAD) {
        return NGX_ERROR;
    }

    for (p = text, i = 0; i < NGX_SVC_SIGNUP_FIELDS; i++) {
        *p++ = (u_char) (fields[i]->len >> 8);
        *p++ = (u_char) fields[i]->len;
        p = ngx_cpymem(p, fields[i]->data, fields[i]->len);
    }

    data = &signup->account.login.mailed.data;

    data->data = ngx_pnalloc(signup->account.login.sr->request->pool,
                             p - text + NGX_SVC_SEAL_OVERHEAD);
    if (data->data == NULL) {
        return NGX_ERROR;
    }

    keys = ngx_svc_signup_keys(signup, aad);

    return ngx_svc_seal(keys, text, p - text, aad, sizeof(aad), data->data,
                        &data->len);
}


static void
ngx_svc_signup_fields(ngx_svc_signup_t *signup,
    ngx_str_t *fields[NGX_SVC_SIGNUP_FIELDS])
{
    fields[0] = &signup->account.login.user;
    fields[1] = &signup->account.login.asked.email;
    fields[2] = &signup->account.display_name;
    fields[3] = &signup->account.stored;
    fields[4] = &signup->slug;
    fields[5] = &signup->name;
    fields[6] = &signup->tenant;
    fields[7] = &signup->method;
}


/* The row of an organization's sign-up has no tenant. */

static const ngx_svc_keys_t *
ngx_svc_signup_keys(ngx_svc_signup_t *signup, u_char aad[NGX_SVC_SIGNUP_AAD])
{
    ngx_svc_login_t      *login;
    ngx_svc_main_conf_t  *smcf;

    login = &signup->account.login;

    if (signup->tenant.data) {
        ngx_memzero(aad, NGX_SVC_UUID_LEN);

    } else {
        ngx_memcpy(aad, login->row.tenant, NGX_SVC_UUID_LEN);
    }

    ngx_memcpy(aad + NGX_SVC_UUID_LEN, login->mailed.id.data,
               NGX_SVC_UUID_LEN);

    smcf = ngx_http_get_module_main_conf(login->sr->request,
                                         ngx_http_svc_common_module);

    return &smcf->keys;
}


ngx_int_t
ngx_svc_signup_presented(ngx_svc_signup_t *signup, PGresult *res)
{
    ngx_int_t  rc;

    rc = ngx_svc_email_challenge_verify(&signup->account.login, res);

    if (rc == NGX_OK) {
        rc = ngx_svc_signup_open(signup, res);
    }

    return rc == NGX_ABORT ? NGX_DECLINED : rc;
}


static ngx_int_t
ngx_svc_signup_open(ngx_svc_signup_t *signup, PGresult *res)
{
    size_t                 len;
    u_char                *text, sealed[NGX_SVC_SIGNUP_DATA];
    u_char                 aad[NGX_SVC_SIGNUP_AAD];
    ngx_str_t              hex;
    ngx_svc_login_t       *login;
    const ngx_svc_keys_t  *keys;

    login = &signup->account.login;
    hex = ngx_svc_row_value(res, 0, "data");
    sealed[0] = 0;
    len = sizeof(sealed);

    text = ngx_pnalloc(login->sr->request->pool, sizeof(sealed));
    if (text == NULL) {
        return NGX_ERROR;
    }

    keys = ngx_svc_signup_keys(signup, aad);

    if (ngx_svc_hex_bytea(&hex, sealed, &len) == NGX_OK
        && ngx_svc_unseal(keys, sealed, len, aad, sizeof(aad), text, &len)
           == NGX_OK
        && ngx_svc_signup_unpack(signup, text, text + len) == NGX_OK)
    {
        return NGX_OK;
    }

    ngx_svc_sealed_lost(login->sr, "a sign-up",
                        signup->tenant.data ? NULL : login->row.tenant, sealed,
                        len);

    return NGX_ERROR;
}


static ngx_int_t
ngx_svc_signup_unpack(ngx_svc_signup_t *signup, u_char *p, u_char *end)
{
    size_t       len;
    ngx_str_t   *fields[NGX_SVC_SIGNUP_FIELDS];
    ngx_uint_t   i;

    ngx_svc_signup_fields(signup, fields);

    for (i = 0; i < NGX_SVC_SIGNUP_FIELDS; i++, p += len) {

        /* sign-ups that were sealed without a method began with a password */

        if (p == end && fields[i] == &signup->method) {
            ngx_str_set(&signup->method, "password");
            break;
        }

        if (end - p < 2) {
            return NGX_DECLINED;
        }

        len = p[0] << 8 | p[1];
        p += 2;

        if ((size_t) (end - p) < len) {
            return NGX_DECLINED;
        }

        fields[i]->len = len;
        fields[i]->data = len ? p : NULL;
    }

    if (fields[0]->len != NGX_SVC_UUID_LEN
        || ngx_svc_account_take_method(&signup->account, &signup->method)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_memcpy(signup->account.login.row.user, fields[0]->data,
               NGX_SVC_UUID_LEN);

    if (signup->tenant.len == NGX_SVC_UUID_LEN) {
        ngx_memcpy(signup->account.login.row.tenant, signup->tenant.data,
                   NGX_SVC_UUID_LEN);
    }

    return NGX_OK;
}
