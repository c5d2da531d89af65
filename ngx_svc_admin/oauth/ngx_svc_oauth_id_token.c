/*
 * ID tokens.
 */

#include "ngx_svc_oauth_id_token.h"
#include "ngx_svc_oauth_key.h"


#define NGX_SVC_OAUTH_ID_TOKEN_TTL  3600    /* seconds */


static ngx_int_t ngx_svc_oauth_id_token_payload(ngx_svc_oauth_t *o,
    PGresult *res, ngx_str_t *payload);
static void ngx_svc_oauth_id_token_claims(ngx_svc_json_writer_t *w,
    ngx_svc_oauth_t *o, PGresult *res);
static void ngx_svc_oauth_id_token_user(ngx_svc_json_writer_t *w,
    PGresult *res);
static void ngx_svc_oauth_id_token_hash(ngx_svc_json_writer_t *w,
    const ngx_str_t *token);


ngx_int_t
ngx_svc_oauth_id_token_write(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w)
{
    ngx_str_t            text;
    ngx_svc_oauth_jwt_t  jwt;

    jwt.typ = "JWT";
    jwt.kid = ngx_svc_row_value(res, 0, "id_kid");
    jwt.sealed = ngx_svc_row_value(res, 0, "sealed");

    if (ngx_svc_oauth_id_token_payload(o, res, &jwt.payload) != NGX_OK
        || ngx_svc_oauth_key_sign(o, &jwt, &text) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_plain(w, "id_token", text.data, text.len);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_id_token_payload(ngx_svc_oauth_t *o, PGresult *res,
    ngx_str_t *payload)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_oauth_id_token_claims(&w, o, res);
    ngx_svc_oauth_id_token_user(&w, res);
    ngx_svc_oauth_id_token_hash(&w, &o->access_token);
    ngx_svc_json_close(&w, '}');

    payload->data = w.start;
    payload->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_oauth_id_token_claims(ngx_svc_json_writer_t *w, ngx_svc_oauth_t *o,
    PGresult *res)
{
    time_t     iat;
    ngx_str_t  slug, issuer, subject, client, ms;

    slug = ngx_svc_row_value(res, 0, "slug");
    subject = ngx_svc_row_value(res, 0, "subject");
    client = ngx_svc_row_value(res, 0, "client_id");
    ms = ngx_svc_row_value(res, 0, "ms");
    issuer = ngx_svc_oauth_issuer(o->sr, &slug);

    if (issuer.data == NULL) {
        w->failed = 1;
        return;
    }

    iat = ngx_atotm(ms.data, ms.len) / 1000;

    ngx_svc_json_string(w, "iss", issuer.data, issuer.len);
    ngx_svc_json_string(w, "sub", subject.data, subject.len);

    ngx_svc_json_open(w, "aud", '[');
    ngx_svc_json_string(w, NULL, client.data, client.len);
    ngx_svc_json_close(w, ']');

    ngx_svc_json_integer(w, "exp", iat + NGX_SVC_OAUTH_ID_TOKEN_TTL);
    ngx_svc_json_integer(w, "iat", iat);
}


static void
ngx_svc_oauth_id_token_user(ngx_svc_json_writer_t *w, PGresult *res)
{
    ngx_str_t  auth_time, methods, nonce;

    auth_time = ngx_svc_row_value(res, 0, "auth_time");
    methods = ngx_svc_row_value(res, 0, "methods");
    nonce = ngx_svc_row_value(res, 0, "nonce");

    ngx_svc_json_raw(w, "auth_time", auth_time.data, auth_time.len);
    ngx_svc_json_raw(w, "amr", methods.data, methods.len);

    if (nonce.data) {
        ngx_svc_json_string(w, "nonce", nonce.data, nonce.len);
    }
}


/* The left half (3.1.3.6). */

static void
ngx_svc_oauth_id_token_hash(ngx_svc_json_writer_t *w, const ngx_str_t *token)
{
    u_char  hash[NGX_SVC_SHA256_LEN];
    u_char  text[ngx_svc_base64url_len(NGX_SVC_SHA256_LEN / 2)];

    if (ngx_svc_sha256(token->data, token->len, hash) != NGX_OK) {
        w->failed = 1;
        return;
    }

    (void) ngx_svc_base64url(text, hash, NGX_SVC_SHA256_LEN / 2);

    ngx_svc_json_plain(w, "at_hash", text, sizeof(text));
}
