/*
 * The grant type authorization_code (RFC 6749, 4.1.3, with RFC 7636).
 *
 * A code is taken in the statement that stores the token.  Once its client has
 * presented it, it is spent, whatever else is wrong.  If it is presented
 * again, its grant ends: somebody else has the code, too (RFC 6749, 10.5).
 */

#include "ngx_svc_oauth_granted.h"
#include "ngx_svc_oauth_token.h"


#define NGX_SVC_OAUTH_VERIFIER_MIN  43
#define NGX_SVC_OAUTH_VERIFIER_MAX  128


static ngx_int_t ngx_svc_oauth_code_check(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_code_verifier(ngx_svc_oauth_t *o,
    ngx_svc_oauth_granted_t *granted);
static ngx_uint_t ngx_svc_oauth_code_unreserved(const ngx_str_t *text);


#include "ngx_svc_oauth_code.sql.h"


static const ngx_svc_oauth_granted_type_t  ngx_svc_oauth_code_type = {
    .give = { &ngx_svc_sql_oauth_code, &ngx_svc_sql_oauth_code_agent },
    .told = &ngx_svc_sql_oauth_code_told,
    .spend = &ngx_svc_sql_oauth_code_spend,
    .unknown = "code",
    .group = "code_group",
    .unasked = "code_unasked",
    .replayed = ngx_string("code_replayed")
};

const ngx_svc_oauth_grant_t  ngx_svc_oauth_code = {
    .name = ngx_string("authorization_code"),
    .metric = NGX_SVC_M_TOKEN_CODE,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_code_check,
    .first = &ngx_svc_sql_oauth_code_read,
    .statement = &ngx_svc_sql_oauth_granted_client,
    .wider = &ngx_svc_sql_oauth_code_read_wider,
    .wider_alone = 1,
    .decide = ngx_svc_oauth_granted_decide,
    .id_token = ngx_svc_oauth_granted_id_token,
    .more = ngx_svc_oauth_granted_more
};


static ngx_int_t
ngx_svc_oauth_code_check(ngx_svc_oauth_t *o)
{
    ngx_int_t                 rc;
    ngx_str_t                 code;
    ngx_svc_oauth_granted_t  *granted;

    granted = ngx_svc_oauth_granted_new(o, &ngx_svc_oauth_code_type);
    if (granted == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_granted_presented(o, "code", &code);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_code_verifier(o, granted);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_value(o, "redirect_uri", &granted->redirect_uri);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_later(o, ngx_svc_oauth_resource(o));
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_sha256(code.data, code.len, granted->digest.data);
    }

    o->wider = ngx_svc_oauth_client_row_wider(o);

    return rc == NGX_OK ? ngx_svc_oauth_refresh_token_new(&granted->tokens)
                        : rc;
}


/*
 * Takes "code_verifier".  A client without a secret must send it: such a
 * client gets no code without a challenge, which need not be looked up.
 */

static ngx_int_t
ngx_svc_oauth_code_verifier(ngx_svc_oauth_t *o,
    ngx_svc_oauth_granted_t *granted)
{
    ngx_int_t  rc;
    ngx_str_t  verifier;

    rc = *o->client.public.data
         ? ngx_svc_oauth_needed(o, "code_verifier", &verifier)
         : ngx_svc_oauth_value(o, "code_verifier", &verifier);

    if (rc != NGX_OK || verifier.data == NULL) {
        return rc;
    }

    if (verifier.len < NGX_SVC_OAUTH_VERIFIER_MIN
        || verifier.len > NGX_SVC_OAUTH_VERIFIER_MAX
        || !ngx_svc_oauth_code_unreserved(&verifier))
    {
        return ngx_svc_fail(&o->sr->error, NGX_SVC_E_INVALID_REQUEST,
                            "'code_verifier' must have %d to %d characters "
                            "A-Z, a-z, 0-9, '-', '.', '_' and '~'.",
                            NGX_SVC_OAUTH_VERIFIER_MIN,
                            NGX_SVC_OAUTH_VERIFIER_MAX);
    }

    granted->challenge.data = ngx_pnalloc(o->sr->request->pool,
                                          NGX_SVC_SHA256_LEN);
    if (granted->challenge.data == NULL) {
        return NGX_ERROR;
    }

    granted->challenge.len = NGX_SVC_SHA256_LEN;

    return ngx_svc_sha256(verifier.data, verifier.len,
                          granted->challenge.data);
}


/* Returns 1 if all characters are unreserved (RFC 3986, 2.3). */

static ngx_uint_t
ngx_svc_oauth_code_unreserved(const ngx_str_t *text)
{
    u_char  c;
    size_t  i;

    for (i = 0; i < text->len; i++) {
        c = text->data[i];

        if ((c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
            && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_'
            && c != '~')
        {
            return 0;
        }
    }

    return 1;
}
