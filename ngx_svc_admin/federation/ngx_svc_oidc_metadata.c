/*
 * What other identity providers publish of themselves.
 */

#include "ngx_svc_oidc_metadata.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_jws.h"
#include "ngx_svc_url.h"


#define NGX_SVC_OIDC_BASIC    "client_secret_basic"
#define NGX_SVC_OIDC_POST     "client_secret_post"
#define NGX_SVC_OIDC_METHODS  "token_endpoint_auth_methods_supported"
#define NGX_SVC_OIDC_ALGS     "id_token_signing_alg_values_supported"
#define NGX_SVC_OIDC_CLAIMS   "claims_supported"
#define NGX_SVC_OIDC_DATED    "auth_time"
#define NGX_SVC_OIDC_ISS      "authorization_response_iss_parameter_supported"

#define ngx_svc_oidc_endpoint(required, name)                                 \
    { #name, offsetof(ngx_svc_oidc_metadata_t, name), required,               \
      "has no '" #name "' that is a URL with https" }


static ngx_int_t ngx_svc_oidc_metadata_refuse(ngx_svc_oidc_metadata_t *m,
    const char *why);
static ngx_int_t ngx_svc_oidc_metadata_endpoints(const cJSON *json,
    ngx_uint_t loopback, ngx_svc_oidc_metadata_t *m);
static ngx_uint_t ngx_svc_oidc_metadata_url(const ngx_str_t *text,
    ngx_uint_t loopback);
static ngx_int_t ngx_svc_oidc_metadata_methods(const cJSON *json,
    ngx_svc_oidc_metadata_t *m);
static ngx_int_t ngx_svc_oidc_metadata_algs(const cJSON *json,
    ngx_svc_oidc_metadata_t *m);
static ngx_uint_t ngx_svc_oidc_metadata_has(const cJSON *list,
    const char *value);
static void ngx_svc_oidc_metadata_lists(ngx_svc_json_writer_t *w,
    const ngx_svc_oidc_metadata_t *m);


static const struct {
    const char  *name;
    size_t       offset;
    ngx_uint_t   required;
    const char  *why;
} ngx_svc_oidc_endpoints[] = {
    ngx_svc_oidc_endpoint(1, authorization_endpoint),
    ngx_svc_oidc_endpoint(1, token_endpoint),
    ngx_svc_oidc_endpoint(1, jwks_uri),
    ngx_svc_oidc_endpoint(0, userinfo_endpoint),
    ngx_svc_oidc_endpoint(0, end_session_endpoint),
    { NULL, 0, 0, NULL }
};

static const char *const  ngx_svc_oidc_algs[] = {
    "RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519", NULL
};


ngx_int_t
ngx_svc_oidc_metadata_read(ngx_pool_t *pool, const ngx_str_t *text,
    const ngx_str_t *issuer, ngx_uint_t loopback, ngx_svc_oidc_metadata_t *m)
{
    cJSON            *json;
    ngx_int_t         rc;
    ngx_str_t         copy;
    const cJSON      *iss;
    ngx_svc_error_t   err;

    ngx_memzero(m, sizeof(ngx_svc_oidc_metadata_t));

    copy = *text;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_json_parse(pool, &copy, &json, &err);

    if (rc == NGX_DECLINED) {
        return ngx_svc_oidc_metadata_refuse(m, "is no JSON object");
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_jws_text(json, "issuer", &m->issuer) != NGX_OK
        || m->issuer.len == 0 || !ngx_svc_same(&m->issuer, issuer))
    {
        return ngx_svc_oidc_metadata_refuse(m, "has another 'issuer'");
    }

    rc = ngx_svc_oidc_metadata_endpoints(json, loopback, m);

    if (rc == NGX_OK) {
        rc = ngx_svc_oidc_metadata_methods(json, m);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oidc_metadata_algs(json, m);
    }

    iss = cJSON_GetObjectItemCaseSensitive(json, NGX_SVC_OIDC_ISS);

    if (rc == NGX_OK && iss && !cJSON_IsBool(iss)) {
        return ngx_svc_oidc_metadata_refuse(m, "has an '" NGX_SVC_OIDC_ISS "'"
                                            " that is no boolean");
    }

    m->iss = cJSON_IsTrue(iss) ? 1 : 0;
    m->auth_time = ngx_svc_oidc_metadata_has(
                cJSON_GetObjectItemCaseSensitive(json, NGX_SVC_OIDC_CLAIMS),
                NGX_SVC_OIDC_DATED);

    return rc;
}


static ngx_int_t
ngx_svc_oidc_metadata_refuse(ngx_svc_oidc_metadata_t *m, const char *why)
{
    m->why = why;

    return NGX_DECLINED;
}


static ngx_int_t
ngx_svc_oidc_metadata_endpoints(const cJSON *json, ngx_uint_t loopback,
    ngx_svc_oidc_metadata_t *m)
{
    ngx_str_t   *url;
    ngx_uint_t   i;

    for (i = 0; ngx_svc_oidc_endpoints[i].name; i++) {
        url = (ngx_str_t *) ((u_char *) m + ngx_svc_oidc_endpoints[i].offset);

        if (ngx_svc_jws_text(json, ngx_svc_oidc_endpoints[i].name, url)
            != NGX_OK
            || (url->data == NULL && ngx_svc_oidc_endpoints[i].required)
            || (url->data && !ngx_svc_oidc_metadata_url(url, loopback)))
        {
            return ngx_svc_oidc_metadata_refuse(m,
                                                ngx_svc_oidc_endpoints[i].why);
        }
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_oidc_metadata_url(const ngx_str_t *text, ngx_uint_t loopback)
{
    ngx_svc_url_t  url;

    return text->len <= NGX_SVC_OIDC_URL_MAX
           && ngx_svc_url_split(text, &url) == NGX_OK
           && (ngx_svc_url_scheme(&url, "https")
               || (loopback && ngx_svc_url_scheme(&url, "http")
                   && ngx_svc_url_local(&url)));
}


/* Without the member it is client_secret_basic. */

static ngx_int_t
ngx_svc_oidc_metadata_methods(const cJSON *json, ngx_svc_oidc_metadata_t *m)
{
    const cJSON  *list;

    list = cJSON_GetObjectItemCaseSensitive(json, NGX_SVC_OIDC_METHODS);

    m->basic = list == NULL
               || ngx_svc_oidc_metadata_has(list, NGX_SVC_OIDC_BASIC);
    m->post = ngx_svc_oidc_metadata_has(list, NGX_SVC_OIDC_POST);

    return m->basic || m->post
           ? NGX_OK
           : ngx_svc_oidc_metadata_refuse(m, "has neither '" NGX_SVC_OIDC_BASIC
                                          "' nor '" NGX_SVC_OIDC_POST "' in '"
                                          NGX_SVC_OIDC_METHODS "'");
}


/* The member is required, but some providers do without it. */

static ngx_int_t
ngx_svc_oidc_metadata_algs(const cJSON *json, ngx_svc_oidc_metadata_t *m)
{
    ngx_uint_t    i;
    const cJSON  *list;

    list = cJSON_GetObjectItemCaseSensitive(json, NGX_SVC_OIDC_ALGS);

    for (i = 0; ngx_svc_oidc_algs[i]; i++) {
        if (ngx_svc_oidc_metadata_has(list, ngx_svc_oidc_algs[i])) {
            m->algs |= ngx_svc_jwa_bit(ngx_svc_jwa(ngx_svc_oidc_algs[i]));
        }
    }

    return list == NULL || m->algs
           ? NGX_OK
           : ngx_svc_oidc_metadata_refuse(m, "has no algorithm in '"
                                          NGX_SVC_OIDC_ALGS "' that is"
                                          " verified");
}


/* Returns 1 if the item, which may be NULL, is an array with that string. */

static ngx_uint_t
ngx_svc_oidc_metadata_has(const cJSON *list, const char *value)
{
    const cJSON  *item;

    if (!cJSON_IsArray(list)) {
        return 0;
    }

    cJSON_ArrayForEach(item, list) {
        if (cJSON_IsString(item)
            && ngx_strcmp(item->valuestring, value) == 0)
        {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_oidc_metadata_keep(ngx_pool_t *pool, const ngx_svc_oidc_metadata_t *m,
    ngx_str_t *kept)
{
    ngx_uint_t              i;
    const ngx_str_t        *url;
    ngx_svc_json_writer_t   w;

    if (ngx_svc_json_writer_init(&w, pool, 1024) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_string(&w, "issuer", m->issuer.data, m->issuer.len);

    for (i = 0; ngx_svc_oidc_endpoints[i].name; i++) {
        url = (ngx_str_t *) ((u_char *) m + ngx_svc_oidc_endpoints[i].offset);

        if (url->data) {
            ngx_svc_json_string(&w, ngx_svc_oidc_endpoints[i].name, url->data,
                                url->len);
        }
    }

    ngx_svc_json_boolean(&w, NGX_SVC_OIDC_ISS, m->iss);
    ngx_svc_oidc_metadata_lists(&w, m);
    ngx_svc_json_close(&w, '}');

    kept->data = w.start;
    kept->len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_oidc_metadata_lists(ngx_svc_json_writer_t *w,
    const ngx_svc_oidc_metadata_t *m)
{
    ngx_uint_t   i;
    const char  *alg;

    ngx_svc_json_open(w, NGX_SVC_OIDC_METHODS, '[');

    if (m->basic) {
        ngx_svc_json_plain(w, NULL, (u_char *) NGX_SVC_OIDC_BASIC,
                           sizeof(NGX_SVC_OIDC_BASIC) - 1);
    }

    if (m->post) {
        ngx_svc_json_plain(w, NULL, (u_char *) NGX_SVC_OIDC_POST,
                           sizeof(NGX_SVC_OIDC_POST) - 1);
    }

    ngx_svc_json_close(w, ']');

    if (m->auth_time) {
        ngx_svc_json_open(w, NGX_SVC_OIDC_CLAIMS, '[');
        ngx_svc_json_plain(w, NULL, (u_char *) NGX_SVC_OIDC_DATED,
                           sizeof(NGX_SVC_OIDC_DATED) - 1);
        ngx_svc_json_close(w, ']');
    }

    if (m->algs == 0) {
        return;
    }

    ngx_svc_json_open(w, NGX_SVC_OIDC_ALGS, '[');

    for (i = 0; ngx_svc_oidc_algs[i]; i++) {
        alg = ngx_svc_oidc_algs[i];

        if (m->algs & ngx_svc_jwa_bit(ngx_svc_jwa(alg))) {
            ngx_svc_json_plain(w, NULL, (u_char *) alg, ngx_strlen(alg));
        }
    }

    ngx_svc_json_close(w, ']');
}
