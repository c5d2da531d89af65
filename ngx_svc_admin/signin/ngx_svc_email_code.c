/*
 * Codes and links that came by mail: how they are taken and verified.
 */

#include "ngx_svc_email_code.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_cookie.h"
#include "ngx_svc_email_challenge.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_signin_fragments.row.h"
#include "ngx_svc_totp.h"


#define NGX_SVC_EMAIL_COOKIE     43     /* base64url of 32 bytes */
#define NGX_SVC_EMAIL_PRESENTED  128    /* bytes of a member */
#define NGX_SVC_EMAIL_CODES      1000000


typedef struct {
    ngx_svc_value_t   id;
    ngx_svc_value_t   code;
    ngx_svc_value_t   token;
    ngx_svc_value_t   tenant;
} ngx_svc_email_presented_t;


static ngx_int_t ngx_svc_email_code_text(const ngx_svc_macs_t *macs,
    ngx_uint_t n, const u_char id[NGX_SVC_UUID_LEN], const u_char *code,
    u_char mac[NGX_SVC_MAC_LEN]);
static ngx_int_t ngx_svc_email_challenge_shape(ngx_svc_login_t *login,
    const ngx_svc_value_t *id, const ngx_svc_value_t *code,
    const ngx_svc_value_t *token);
static ngx_int_t ngx_svc_email_challenge_take_token(ngx_svc_login_t *login,
    const ngx_svc_value_t *token);
static ngx_int_t ngx_svc_email_challenge_right(ngx_svc_login_t *login,
    const ngx_svc_row_challenge_tried_t *row);


#define ngx_svc_email_presented_member(member, field)                         \
    { .name = ngx_string(member),                                             \
      .type = NGX_SVC_T_STRING,                                               \
      .min = 1,                                                               \
      .max = NGX_SVC_EMAIL_PRESENTED,                                         \
      .offset = offsetof(ngx_svc_email_presented_t, field) }

const ngx_svc_member_t  ngx_svc_email_presented_members[] = {

    ngx_svc_email_presented_member("challengeId", id),
    ngx_svc_email_presented_member("code", code),
    ngx_svc_email_presented_member("token", token),

    { .name = ngx_string("tenant"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_SLUG,
      .check = ngx_svc_login_slug,
      .offset = offsetof(ngx_svc_email_presented_t, tenant) },

    ngx_svc_null_member
};


#include "ngx_svc_email_code.sql.h"


const ngx_str_t  ngx_svc_email_code_cookie_name = ngx_string("svc_login");

static ngx_svc_macs_t  ngx_svc_email_code_macs;


ngx_int_t
ngx_svc_email_challenge_init_worker(const ngx_svc_keys_t *keys)
{
    return ngx_svc_mac_init(&ngx_svc_email_code_macs, keys, "code");
}


void
ngx_svc_email_challenge_exit_worker(void)
{
    ngx_svc_mac_free(&ngx_svc_email_code_macs);
}


/* Numbers beyond the last whole million are thrown away. */

ngx_int_t
ngx_svc_email_code_new(u_char code[NGX_SVC_EMAIL_CODE_LEN])
{
    u_char    text[NGX_SVC_EMAIL_CODE_LEN + 1];
    uint32_t  n;

    do {
        if (ngx_svc_random((u_char *) &n, sizeof(n)) != NGX_OK) {
            return NGX_ERROR;
        }
    } while (n >= UINT32_MAX - UINT32_MAX % NGX_SVC_EMAIL_CODES);

    (void) ngx_snprintf(text, sizeof(text), "%06uD", n % NGX_SVC_EMAIL_CODES);

    ngx_memcpy(code, text, NGX_SVC_EMAIL_CODE_LEN);
    ngx_explicit_memzero(text, sizeof(text));

    return NGX_OK;
}


ngx_int_t
ngx_svc_email_code_mac(const u_char id[NGX_SVC_UUID_LEN], const u_char *code,
    u_char mac[NGX_SVC_MAC_LEN])
{
    return ngx_svc_email_code_text(&ngx_svc_email_code_macs, 0, id, code, mac);
}


static ngx_int_t
ngx_svc_email_code_text(const ngx_svc_macs_t *macs, ngx_uint_t n,
    const u_char id[NGX_SVC_UUID_LEN], const u_char *code,
    u_char mac[NGX_SVC_MAC_LEN])
{
    u_char     text[NGX_SVC_UUID_LEN + NGX_SVC_EMAIL_CODE_LEN];
    ngx_int_t  rc;

    ngx_memcpy(ngx_cpymem(text, id, NGX_SVC_UUID_LEN), code,
               NGX_SVC_EMAIL_CODE_LEN);

    rc = ngx_svc_mac(&macs->keys[n], text, sizeof(text), mac);
    ngx_explicit_memzero(text, sizeof(text));

    return rc;
}


ngx_int_t
ngx_svc_email_code_cookie(ngx_svc_request_t *sr, ngx_str_t *value,
    ngx_str_t *hash)
{
    size_t     len;
    u_char     bytes[NGX_SVC_EMAIL_COOKIE];
    ngx_str_t  name, cookie;

    static const ngx_str_t  host = ngx_string("__Host-svc_login");

    name = ngx_svc_cookie_secure(sr) ? host : ngx_svc_email_code_cookie_name;

    if (ngx_svc_cookie(sr->request, &name, &cookie) != NGX_OK
        || cookie.len != NGX_SVC_EMAIL_COOKIE
        || ngx_svc_base64url_decode(cookie.data, cookie.len, bytes, &len)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    hash->len = NGX_SVC_SHA256_LEN;
    hash->data = ngx_pnalloc(sr->request->pool, NGX_SVC_SHA256_LEN);

    if (hash->data == NULL) {
        return NGX_ERROR;
    }

    *value = cookie;

    return ngx_svc_sha256(cookie.data, cookie.len, hash->data);
}


ngx_int_t
ngx_svc_email_challenge_presented(ngx_svc_login_t *login, const char *kind)
{
    ngx_int_t                   rc;
    ngx_svc_request_t          *sr;
    ngx_svc_email_presented_t   presented;

    sr = login->sr;
    ngx_memzero(&presented, sizeof(ngx_svc_email_presented_t));

    rc = ngx_svc_schema_object(sr->route->members, 0, sr->json, &presented,
                               &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_email_challenge_take(login, kind, &presented.id,
                                          &presented.code, &presented.token);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_login_take_client(login, &presented.tenant) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_login_take_session(login);
}


ngx_int_t
ngx_svc_email_challenge_take(ngx_svc_login_t *login, const char *kind,
    const ngx_svc_value_t *id, const ngx_svc_value_t *code,
    const ngx_svc_value_t *token)
{
    u_char                     *p;
    ngx_svc_email_challenge_t  *mailed;

    mailed = &login->mailed;

    mailed->kind.data = (u_char *) kind;
    mailed->kind.len = ngx_strlen(kind);

    if (ngx_svc_email_challenge_shape(login, id, code, token) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (token->set) {
        return ngx_svc_email_challenge_take_token(login, token);
    }

    mailed->code = code->str;

    if (id == NULL) {
        return NGX_OK;
    }

    /* a text that is no id becomes the id 0, which no challenge has */

    p = ngx_pcalloc(login->sr->request->pool, NGX_SVC_UUID_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_svc_uuid_parse(id->str.data, id->str.len, p);

    mailed->id.data = p;
    mailed->id.len = NGX_SVC_UUID_LEN;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_email_challenge_shape(ngx_svc_login_t *login, const ngx_svc_value_t *id,
    const ngx_svc_value_t *code, const ngx_svc_value_t *token)
{
    ngx_svc_error_t  *err;

    err = &login->sr->error;

    if (code->set + token->set != 1 || (id && id->set != code->set)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            id ? "Either \"challengeId\" and \"code\" are "
                                 "required, or \"token\"."
                               : "Either \"code\" or \"token\" is required.");
    }

    if (code->set && !ngx_svc_totp_shaped(&code->str)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"code\" must be six digits.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_email_challenge_take_token(ngx_svc_login_t *login,
    const ngx_svc_value_t *token)
{
    u_char                     *hash;
    ngx_svc_email_challenge_t  *mailed;

    mailed = &login->mailed;

    hash = ngx_pnalloc(login->sr->request->pool, NGX_SVC_SHA256_LEN);

    if (hash == NULL
        || ngx_svc_sha256(token->str.data, token->str.len, hash) != NGX_OK)
    {
        return NGX_ERROR;
    }

    mailed->token_hash.data = hash;
    mailed->token_hash.len = NGX_SVC_SHA256_LEN;

    return ngx_svc_email_code_cookie(login->sr, &mailed->binding,
                                     &mailed->binding_hash)
           == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


ngx_int_t
ngx_svc_email_challenge_verify(ngx_svc_login_t *login, PGresult *res)
{
    u_char                         *id;
    ngx_int_t                       rc;
    ngx_svc_request_t              *sr;
    ngx_svc_row_challenge_tried_t   row;

    sr = login->sr;
    ngx_svc_row_challenge_tried(&row, res, 0, 0);

    if (row.id.len == 0) {
        (void) ngx_svc_email_challenge_over(sr);
        return NGX_ABORT;
    }

    id = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);

    if (id == NULL
        || ngx_svc_uuid_parse(row.id.data, row.id.len, id) != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->mailed.id.data = id;
    login->mailed.id.len = NGX_SVC_UUID_LEN;

    if (login->mailed.token_hash.data == NULL) {
        rc = ngx_svc_email_challenge_right(login, &row);

        return rc != NGX_DECLINED ? rc
               : ngx_svc_fail(&sr->error, NGX_SVC_E_CODE,
                              "The code is wrong.");
    }

    if (!row.bound) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_TOKEN,
                            "The link works only where you have asked for it: "
                            "open it there, or type the code.");
        return NGX_ABORT;
    }

    return NGX_OK;
}


/*
 * Compares with the MAC of the code under each key.  No code is right for a
 * challenge that is void, or that has neither a user nor, unless it is one of a
 * sign-in, the data of what is to be made.
 */

static ngx_int_t
ngx_svc_email_challenge_right(ngx_svc_login_t *login,
    const ngx_svc_row_challenge_tried_t *row)
{
    size_t      len;
    u_char      stored[NGX_SVC_MAC_LEN], mac[NGX_SVC_MAC_LEN];
    ngx_uint_t  n, equal, nobody;

    len = sizeof(stored);

    if (ngx_svc_hex_bytea(&row->code_mac, stored, &len) != NGX_OK
        || len != sizeof(stored))
    {
        return NGX_ERROR;
    }

    nobody = row->voided
             || (row->user_id.len == 0
                 && (row->data.len == 0
                     || ngx_strcmp(login->mailed.kind.data, "sign_in") == 0));

    equal = 0;

    for (n = 0; n < ngx_svc_email_code_macs.n; n++) {
        if (ngx_svc_email_code_text(&ngx_svc_email_code_macs, n,
                                    login->mailed.id.data,
                                    login->mailed.code.data, mac)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        equal |= ngx_svc_equal(stored, mac, sizeof(mac));
    }

    return equal && !nobody ? NGX_OK : NGX_DECLINED;
}


ngx_int_t
ngx_svc_email_challenge_over(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_CHALLENGE,
                        "The code is too old, has been used, or was tried too "
                        "often: ask for another one.");
}
