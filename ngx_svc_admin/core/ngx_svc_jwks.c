/*
 * Key sets that other servers publish.
 */

#include "ngx_svc_jwks.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_jwk.h"


#define NGX_SVC_JWKS_TEXT  2048         /* bytes, first guess */


static void ngx_svc_jwks_key(ngx_svc_json_writer_t *w, const cJSON *jwk,
    const char *const *members);


ngx_int_t
ngx_svc_jwks_read(ngx_pool_t *pool, const ngx_str_t *text, const cJSON **keys)
{
    cJSON            *json;
    ngx_int_t         rc;
    ngx_str_t         copy;
    ngx_svc_error_t   err;

    copy = *text;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_json_parse(pool, &copy, &json, &err);

    if (rc != NGX_OK) {
        return rc;
    }

    *keys = cJSON_GetObjectItemCaseSensitive(json, "keys");

    return cJSON_IsArray(*keys) ? NGX_OK : NGX_DECLINED;
}


ngx_int_t
ngx_svc_jwks_write(ngx_pool_t *pool, const cJSON *keys,
    const ngx_svc_jwks_kept_t *kept, ngx_uint_t *n, ngx_str_t *text)
{
    ngx_int_t               rc;
    const cJSON            *jwk;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, pool, NGX_SVC_JWKS_TEXT) != NGX_OK) {
        return NGX_ERROR;
    }

    *n = 0;

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "keys", '[');

    cJSON_ArrayForEach(jwk, keys) {
        rc = kept->usable(jwk, kept->data);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (rc == NGX_OK) {
            ngx_svc_jwks_key(&w, jwk, kept->members);
            (*n)++;
        }
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_json_close(&w, '}');

    text->data = w.start;
    text->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_jwks_key(ngx_svc_json_writer_t *w, const cJSON *jwk,
    const char *const *members)
{
    const char  *text;

    ngx_svc_json_open(w, NULL, '{');

    for ( /* void */ ; *members; members++) {
        text = ngx_svc_jwk_string(jwk, *members);

        if (text) {
            ngx_svc_json_string(w, *members, (u_char *) text,
                                ngx_strlen(text));
        }
    }

    ngx_svc_json_close(w, '}');
}
