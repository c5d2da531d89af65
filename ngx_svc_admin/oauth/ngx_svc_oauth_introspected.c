/*
 * What introspection answers about a token.
 */

#include "ngx_svc_oauth_introspected.h"
#include "ngx_svc_hex.h"


static void ngx_svc_oauth_introspected_text(ngx_svc_json_writer_t *w,
    const char *key, const ngx_str_t *value);


ngx_int_t
ngx_svc_oauth_introspected_times(ngx_svc_oauth_t *o, int64_t ms, int64_t ends,
    u_char *jti, ngx_svc_oauth_introspected_t *token)
{
    u_char  *p;

    p = ngx_pnalloc(o->sr->request->pool,
                    2 * NGX_INT64_LEN + NGX_SVC_UUID_TEXT_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    token->exp.data = p;
    p = ngx_sprintf(p, "%L", ends / 1000);
    token->exp.len = p - token->exp.data;

    token->iat.data = p;
    p = ngx_sprintf(p, "%L", ms / 1000);
    token->iat.len = p - token->iat.data;

    token->jti.data = p;
    token->jti.len = NGX_SVC_UUID_TEXT_LEN;
    (void) ngx_svc_uuid_text(p, jti);

    return NGX_OK;
}


ngx_int_t
ngx_svc_oauth_introspected_jkt(ngx_svc_oauth_t *o, const ngx_str_t *text,
    ngx_str_t *jkt)
{
    if (text->data == NULL) {
        return NGX_OK;
    }

    jkt->len = NGX_SVC_SHA256_LEN;
    jkt->data = ngx_pnalloc(o->sr->request->pool, NGX_SVC_SHA256_LEN);

    return jkt->data
           && ngx_svc_hex_bytea(text, jkt->data, &jkt->len) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_oauth_introspected_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_introspected_t *token)
{
    ngx_svc_json_writer_t  w;

    static ngx_str_t       no_store = ngx_string("no-store");

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK
        || ngx_svc_add_header(o->sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_metric_add(token ? NGX_SVC_M_INTROSPECT_ACTIVE
                             : NGX_SVC_M_INTROSPECT_DEAD, 1);

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_boolean(&w, "active", token != NULL);

    if (token) {
        ngx_svc_oauth_introspected_text(&w, "sub", &token->sub);
        ngx_svc_oauth_introspected_text(&w, "client_id", &token->client_id);
        ngx_svc_oauth_introspected_text(&w, "scope", &token->scope);
        ngx_svc_json_raw(&w, "exp", token->exp.data, token->exp.len);
    }

    if (token && token->access) {
        ngx_svc_oauth_introspected_text(&w, "iss", &token->iss);
        ngx_svc_oauth_introspected_text(&w, "aud", &token->aud);
        ngx_svc_json_raw(&w, "iat", token->iat.data, token->iat.len);
        ngx_svc_oauth_introspected_text(&w, "jti", &token->jti);
        ngx_svc_oauth_issue_act(&w, &token->chain);
        ngx_svc_oauth_issue_bound(&w, &token->jkt);
    }

    if (token && token->auth_time.data) {
        ngx_svc_json_raw(&w, "auth_time", token->auth_time.data,
                         token->auth_time.len);
        ngx_svc_oauth_introspected_text(&w, "acr", &token->acr);
    }

    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(o->sr, NGX_HTTP_OK, &w, NULL);
}


static void
ngx_svc_oauth_introspected_text(ngx_svc_json_writer_t *w, const char *key,
    const ngx_str_t *value)
{
    ngx_svc_json_string(w, key, value->data, value->len);
}
