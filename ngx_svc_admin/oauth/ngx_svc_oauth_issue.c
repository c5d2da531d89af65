/*
 * Access tokens: JWTs (RFC 9068), and opaque ones.
 */

#include "ngx_svc_oauth_issue.h"
#include "ngx_svc_oauth_sign.h"


static ngx_int_t ngx_svc_oauth_issue_opaque(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token, ngx_str_t *text);
static ngx_int_t ngx_svc_oauth_issue_payload(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token, ngx_str_t *payload);
static void ngx_svc_oauth_issue_claims(ngx_svc_json_writer_t *w,
    ngx_svc_oauth_t *o, const ngx_svc_oauth_issued_t *token);
static void ngx_svc_oauth_issue_cnf(ngx_svc_json_writer_t *w,
    const ngx_str_t *jkt);


ngx_int_t
ngx_svc_oauth_issue_secret(ngx_svc_oauth_t *o)
{
    u_char      *p;
    ngx_pool_t  *pool;

    if (o->secret.data) {
        return NGX_OK;
    }

    pool = o->sr->request->pool;

    p = ngx_pnalloc(pool, NGX_SVC_OAUTH_SECRET + NGX_SVC_SHA256_LEN);

    if (p == NULL
        || ngx_svc_wipe_later(pool, p, NGX_SVC_OAUTH_SECRET) != NGX_OK
        || ngx_svc_random(p, NGX_SVC_OAUTH_SECRET) != NGX_OK
        || ngx_svc_sha256(p, NGX_SVC_OAUTH_SECRET, p + NGX_SVC_OAUTH_SECRET)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    o->secret.data = p;
    o->secret.len = NGX_SVC_OAUTH_SECRET;
    o->secret_hash.data = p + NGX_SVC_OAUTH_SECRET;
    o->secret_hash.len = NGX_SVC_SHA256_LEN;

    return NGX_OK;
}


/* o->jti is what stands behind the time in a UUID of version 7 (RFC 9562). */

ngx_int_t
ngx_svc_oauth_issue_new(ngx_svc_oauth_t *o)
{
    u_char  bytes[NGX_SVC_OAUTH_JTI / 2];

    if (ngx_svc_random(bytes, sizeof(bytes)) != NGX_OK) {
        return NGX_ERROR;
    }

    bytes[0] = 0x70 | (bytes[0] & 0x0f);
    bytes[2] = 0x80 | (bytes[2] & 0x3f);

    o->jti.data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_OAUTH_JTI);
    if (o->jti.data == NULL) {
        return NGX_ERROR;
    }

    o->jti.len = NGX_SVC_OAUTH_JTI;

    ngx_hex_dump(o->jti.data, bytes, sizeof(bytes));

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_issue_jti_at(ngx_svc_oauth_t *o, int64_t ms, ngx_str_t *text)
{
    u_char  *p, time[13];

    text->data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_UUID_TEXT_LEN);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_sprintf(time, "%012xL", ms);

    p = o->jti.data;

    text->len = ngx_sprintf(text->data, "%*s-%*s-%*s-%*s-%*s", (size_t) 8,
                            time, (size_t) 4, time + 8, (size_t) 4, p,
                            (size_t) 4, p + 4, (size_t) 12, p + 8)
                - text->data;

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_issue_token(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token)
{
    if (token->opaque.data) {
        o->access_token = token->opaque;
        return NGX_OK;
    }

    if (token->format.len == sizeof("opaque") - 1) {
        return ngx_svc_oauth_issue_opaque(o, token, &o->access_token);
    }

    return ngx_svc_oauth_issue_payload(o, token,
                   &ngx_svc_oauth_jwt(o, "at+jwt", &o->access_token)->payload);
}


void
ngx_svc_oauth_issue_write(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token, ngx_svc_json_writer_t *w)
{
    ngx_svc_json_plain(w, "access_token", o->access_token.data,
                       o->access_token.len);

    if (o->jkt.data) {
        ngx_svc_json_plain(w, "token_type", (u_char *) "DPoP", 4);

    } else {
        ngx_svc_json_plain(w, "token_type", (u_char *) "Bearer", 6);
    }

    ngx_svc_json_integer(w, "expires_in", token->ttl);
    ngx_svc_json_string(w, "scope", token->scope.data, token->scope.len);
}


/*
 * Writes the tenant and the jti in front of the secret: they tell where its row
 * is, and the token is believed when the secret is found there.
 */

static ngx_int_t
ngx_svc_oauth_issue_opaque(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token, ngx_str_t *text)
{
    u_char  *p, bytes[NGX_SVC_OAUTH_OPAQUE_BYTES];

    p = ngx_cpymem(bytes, o->tenant.data, NGX_SVC_UUID_LEN);

    if (ngx_svc_uuid_parse(token->jti.data, token->jti.len, p) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_memcpy(p + NGX_SVC_UUID_LEN, o->secret.data, NGX_SVC_OAUTH_SECRET);

    text->data = ngx_pnalloc(o->sr->request->pool,
                             sizeof(NGX_SVC_OAUTH_OPAQUE) - 1
                             + ngx_svc_base64url_len(sizeof(bytes)));
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(text->data, NGX_SVC_OAUTH_OPAQUE,
                   sizeof(NGX_SVC_OAUTH_OPAQUE) - 1);
    text->len = ngx_svc_base64url(p, bytes, sizeof(bytes)) - text->data;

    ngx_explicit_memzero(bytes, sizeof(bytes));

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_issue_payload(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token, ngx_str_t *payload)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_oauth_issue_claims(&w, o, token);
    ngx_svc_oauth_issue_act(&w, &token->chain);

    if (o->jkt.data) {
        ngx_svc_oauth_issue_cnf(&w, &o->jkt);
    }

    ngx_svc_json_close(&w, '}');

    payload->data = w.start;
    payload->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


/* Writes the claims of RFC 9068, 2.2. */

static void
ngx_svc_oauth_issue_claims(ngx_svc_json_writer_t *w, ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token)
{
    time_t            iat;
    ngx_str_t         issuer;
    const ngx_str_t  *aud;

    issuer = ngx_svc_oauth_issuer(o->sr, &token->slug);

    if (issuer.data == NULL) {
        w->failed = 1;
        return;
    }

    aud = token->audience.data ? &token->audience : &issuer;
    iat = token->ms / 1000;

    ngx_svc_json_string(w, "iss", issuer.data, issuer.len);
    ngx_svc_json_string(w, "aud", aud->data, aud->len);
    ngx_svc_json_string(w, "sub", token->subject.data, token->subject.len);
    ngx_svc_json_string(w, "jti", token->jti.data, token->jti.len);
    ngx_svc_json_string(w, "client_id", token->client_id.data,
                        token->client_id.len);
    ngx_svc_json_string(w, "scope", token->scope.data, token->scope.len);

    ngx_svc_json_integer(w, "iat", iat);
    ngx_svc_json_integer(w, "exp", iat + token->ttl);

    if (token->auth_time.data) {
        ngx_svc_json_raw(w, "auth_time", token->auth_time.data,
                         token->auth_time.len);
        ngx_svc_json_string(w, "acr", token->acr.data, token->acr.len);
    }
}


/* The current actor is the outermost one (RFC 8693, 4.1). */

void
ngx_svc_oauth_issue_act(ngx_svc_json_writer_t *w, const ngx_str_t *chain)
{
    u_char      *p, *end, *start;
    ngx_uint_t   n;

    n = 0;
    p = chain->data;
    end = chain->data + chain->len;

    while (p < end) {
        start = p;

        while (p < end && *p != ' ') {
            p++;
        }

        ngx_svc_json_open(w, "act", '{');
        ngx_svc_json_plain(w, "sub", start, p - start);
        n++;

        if (p < end) {
            p++;
        }
    }

    while (n--) {
        ngx_svc_json_close(w, '}');
    }
}


void
ngx_svc_oauth_issue_bound(ngx_svc_json_writer_t *w, const ngx_str_t *jkt)
{
    if (jkt->len == 0) {
        ngx_svc_json_plain(w, "token_type", (u_char *) "Bearer", 6);
        return;
    }

    ngx_svc_json_plain(w, "token_type", (u_char *) "DPoP", 4);
    ngx_svc_oauth_issue_cnf(w, jkt);
}


/* Writes the thumbprint of the token's key (RFC 9449, 6.1). */

static void
ngx_svc_oauth_issue_cnf(ngx_svc_json_writer_t *w, const ngx_str_t *jkt)
{
    u_char  text[ngx_svc_base64url_len(NGX_SVC_SHA256_LEN)];

    (void) ngx_svc_base64url(text, jkt->data, jkt->len);

    ngx_svc_json_open(w, "cnf", '{');
    ngx_svc_json_plain(w, "jkt", text, sizeof(text));
    ngx_svc_json_close(w, '}');
}
