/*
 * ID tokens.
 */

#include "ngx_svc_oauth_id_token.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_sid.h"
#include "ngx_svc_oauth_sign.h"


static void ngx_svc_oauth_id_token_claims(ngx_svc_json_writer_t *w,
    ngx_svc_oauth_t *o, const ngx_svc_oauth_id_token_t *id);
static void ngx_svc_oauth_id_token_user(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_id_token_t *id);
static void ngx_svc_oauth_id_token_sid(ngx_svc_json_writer_t *w,
    ngx_svc_oauth_t *o, const ngx_svc_oauth_id_token_t *id);
static size_t ngx_svc_oauth_id_token_hash(ngx_svc_json_writer_t *w);


ngx_int_t
ngx_svc_oauth_id_token(ngx_svc_oauth_t *o, const ngx_svc_oauth_id_token_t *id)
{
    size_t                  hash;
    ngx_svc_oauth_jwt_t    *jwt;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_oauth_id_token_claims(&w, o, id);
    ngx_svc_oauth_id_token_user(&w, id);
    ngx_svc_oauth_id_token_sid(&w, o, id);
    hash = ngx_svc_oauth_id_token_hash(&w);
    ngx_svc_oauth_claims_write(&w, id->claims);
    ngx_svc_json_close(&w, '}');

    if (w.failed) {
        return NGX_ERROR;
    }

    jwt = ngx_svc_oauth_jwt(o, "JWT", &o->id_token);

    jwt->payload.data = w.start;
    jwt->payload.len = w.last - w.start;

    /* the text, and so the hash, of a JWT is known when it has been signed */

    if (o->access_token.data == NULL) {
        jwt->hash = w.start + hash;
        return NGX_OK;
    }

    return ngx_svc_oauth_sign_hash(&o->access_token, w.start + hash);
}


static void
ngx_svc_oauth_id_token_claims(ngx_svc_json_writer_t *w, ngx_svc_oauth_t *o,
    const ngx_svc_oauth_id_token_t *id)
{
    time_t                         iat;
    ngx_str_t                      issuer;
    const ngx_svc_oauth_issued_t  *token;

    token = id->token;
    issuer = ngx_svc_oauth_issuer(o->sr, &token->slug);

    if (issuer.data == NULL) {
        w->failed = 1;
        return;
    }

    iat = token->ms / 1000;

    ngx_svc_json_string(w, "iss", issuer.data, issuer.len);
    ngx_svc_json_string(w, "sub", token->subject.data, token->subject.len);

    ngx_svc_json_open(w, "aud", '[');
    ngx_svc_json_string(w, NULL, token->client_id.data, token->client_id.len);
    ngx_svc_json_close(w, ']');

    ngx_svc_json_integer(w, "exp", iat + id->ttl);
    ngx_svc_json_integer(w, "iat", iat);
}


static void
ngx_svc_oauth_id_token_user(ngx_svc_json_writer_t *w,
    const ngx_svc_oauth_id_token_t *id)
{
    ngx_svc_json_raw(w, "auth_time", id->token->auth_time.data,
                     id->token->auth_time.len);
    ngx_svc_json_string(w, "acr", id->token->acr.data, id->token->acr.len);
    ngx_svc_oauth_amr(w, &id->methods);

    if (id->nonce.data) {
        ngx_svc_json_string(w, "nonce", id->nonce.data, id->nonce.len);
    }
}


static void
ngx_svc_oauth_id_token_sid(ngx_svc_json_writer_t *w, ngx_svc_oauth_t *o,
    const ngx_svc_oauth_id_token_t *id)
{
    u_char  root[NGX_SVC_UUID_LEN], sid[NGX_SVC_OAUTH_SID];

    if (ngx_svc_uuid_parse(id->root.data, id->root.len, root) != NGX_OK
        || ngx_svc_oauth_sid(o->tenant.data, root, &id->token->client_id, sid)
           != NGX_OK)
    {
        w->failed = 1;
        return;
    }

    ngx_svc_json_plain(w, "sid", sid, sizeof(sid));
}


/* Leaves room for the hash of the access token, and returns its offset. */

static size_t
ngx_svc_oauth_id_token_hash(ngx_svc_json_writer_t *w)
{
    u_char  text[NGX_SVC_OAUTH_HASH];

    ngx_memset(text, '-', sizeof(text));

    ngx_svc_json_plain(w, "at_hash", text, sizeof(text));

    return w->last - w->start - sizeof(text) - 1;
}
