/*
 * The grant type authorization_code (RFC 6749, 4.1.3, with RFC 7636).
 *
 * A code is taken in the statement that stores the token.  When its client has
 * shown it, it is spent, whatever else is wrong; shown again, it ends its
 * grant: somebody else has it, too (RFC 6749, 10.5).
 */

#include "ngx_svc_oauth_granted.h"
#include "ngx_svc_oauth_token.h"


#define NGX_SVC_OAUTH_VERIFIER_MIN  43
#define NGX_SVC_OAUTH_VERIFIER_MAX  128


static ngx_int_t ngx_svc_oauth_code_check(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_code_verifier(ngx_svc_oauth_t *o,
    ngx_svc_oauth_granted_t *granted);
static ngx_uint_t ngx_svc_oauth_code_unreserved(const ngx_str_t *text);


#define NGX_SVC_OAUTH_CODE_TAKEN                                              \
    "e.verdict IS NULL AND p.id IS NOT NULL AND c.used_at IS NULL"            \
        " AND c.expires_at > now()"

#define NGX_SVC_OAUTH_CODE_VERDICT                                            \
    "coalesce(e.verdict, CASE"                                                \
    " WHEN p.id IS NULL THEN 'code'"                                          \
    " WHEN c.used_at IS NOT NULL THEN 'code_replayed'"                        \
    " WHEN c.expires_at <= now() OR p.expires_at <= now()"                    \
        " OR p.revoked_at IS NOT NULL THEN 'code'"                            \
    " WHEN c.jkt <> coalesce($8::bytea, '') THEN 'code_proof'"                \
    " WHEN c.challenge <> $17::bytea THEN 'code_verifier'"                    \
    " WHEN c.redirect_uri <> $18::text THEN 'code_redirect'"                  \
    " WHEN u.status <> 'active' THEN 'code_user'"                             \
    " WHEN " NGX_SVC_OAUTH_GRANTED_CUT " THEN 'code'"                         \
    " WHEN NOT " NGX_SVC_OAUTH_ASSIGNED("p.user_id") " THEN 'code_group'"     \
    " WHEN " NGX_SVC_OAUTH_GRANTED_UNASKED " THEN 'code_unasked'"             \
    NGX_SVC_OAUTH_GRANTED_VERDICT("$20") " END)"

static const ngx_svc_pg_statement_t  ngx_svc_sql_oauth_code = {
    .name = "oauth_code",
    .text =
        "WITH c AS ("
            NGX_SVC_OAUTH_GRANTED_SHOWN("svc.oauth_code")
        "), v AS ("
            "SELECT " NGX_SVC_OAUTH_CODE_VERDICT " AS verdict,"
                NGX_SVC_OAUTH_GRANTED_COLUMNS ", c.nonce, "
                NGX_SVC_OAUTH_CODE_TAKEN " AS taken,"
                " 'offline_access' = ANY (p.scopes)"
                    " AND 'refresh_token' = ANY (a.grant_types) AS refreshes"
            " FROM " NGX_SVC_OAUTH_GRANTED_FROM("'authorization_code'")
        "), x AS ("
            "UPDATE svc.oauth_code k SET used_at = now() FROM v"
            " WHERE v.taken AND k.tenant_id = " NGX_SVC_TENANT
                " AND k.digest = $16::bytea AND k.used_at IS NULL"
        "), i AS ("
            NGX_SVC_OAUTH_INSERT("'authorization_code'", "$7", "$8", "$9",
                                 "$10")
        "), r AS ("
            NGX_SVC_OAUTH_GRANTED_REFRESH("($19::text::bytea[])[1]",
                                          "v.refreshes")
        "), d AS ("
            NGX_SVC_OAUTH_GRANTED_DELEGATION("'authorization_code'")
        "), " NGX_SVC_OAUTH_GRANTED_REVOKE("'code_replayed'",
                                           "'code_replayed'")
        NGX_SVC_OAUTH_GRANTED_ROW("CASE WHEN v.refreshes THEN 1 END",
                                  "v.nonce"),
    NGX_SVC_PARAMS(NGX_SVC_OAUTH_GRANTED_PARAMS,
                   ngx_svc_oauth_granted_param(challenge),
                   ngx_svc_oauth_granted_param(redirect_uri),
                   ngx_svc_oauth_granted_param(digests),
                   ngx_svc_oauth_param(fault))
};


const ngx_svc_oauth_grant_t  ngx_svc_oauth_code = {
    .name = ngx_string("authorization_code"),
    .metric = NGX_SVC_M_TOKEN_CODE,
    .login = NGX_SVC_OAUTH_LOGIN_SYNC,
    .check = ngx_svc_oauth_code_check,
    .statement = &ngx_svc_sql_oauth_code,
    .refuse = ngx_svc_oauth_granted_refuse,
    .more = ngx_svc_oauth_granted_more
};


static ngx_int_t
ngx_svc_oauth_code_check(ngx_svc_oauth_t *o)
{
    ngx_int_t                 rc;
    ngx_str_t                 code;
    ngx_svc_oauth_granted_t  *granted;

    granted = ngx_svc_oauth_granted_new(o);
    if (granted == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_granted_shown(o, "code", &code);

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

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_refresh_token_new(&granted->tokens);
    }

    return rc == NGX_OK
           ? ngx_svc_oauth_refresh_token_digests(o->sr->request->pool,
                                                 &granted->tokens,
                                                 &granted->digests)
           : rc;
}


static ngx_int_t
ngx_svc_oauth_code_verifier(ngx_svc_oauth_t *o,
    ngx_svc_oauth_granted_t *granted)
{
    ngx_int_t  rc;
    ngx_str_t  verifier;

    rc = ngx_svc_oauth_needed(o, "code_verifier", &verifier);

    if (rc != NGX_OK) {
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


/* RFC 3986, 2.3. */

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
