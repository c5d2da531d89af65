/*
 * The ID token of an authorization request that says which user is meant.
 */

#include "ngx_svc_oauth_hint.h"
#include "ngx_svc_oauth_key.row.h"
#include "ngx_svc_jwk_rsa.h"
#include "ngx_svc_jws.h"


static ngx_uint_t ngx_svc_oauth_hint_for(const cJSON *aud,
    const ngx_str_t *client);
static ngx_int_t ngx_svc_oauth_hint_key(ngx_svc_oauth_request_t *ar,
    PGresult *res, EVP_PKEY **key, ngx_svc_jwa_e *alg);


static const ngx_str_t  ngx_svc_oauth_hint_bad = ngx_string("");


ngx_int_t
ngx_svc_oauth_hint_parse(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t       rc;
    ngx_str_t       text;
    ngx_svc_jws_t  *jws;

    static const ngx_str_t  access = ngx_string("at+jwt");

    if (ngx_svc_form_nth(&ar->oauth.form, "id_token_hint", 0, &text)
        != NGX_OK)
    {
        return NGX_OK;
    }

    ar->hint = ngx_svc_oauth_hint_bad;

    jws = ngx_pcalloc(ar->oauth.sr->request->pool, sizeof(ngx_svc_jws_t));
    if (jws == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_jws_parse_signed(ar->oauth.sr->request->pool, &text, jws);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc != NGX_OK || jws->kid.len != NGX_SVC_JWK_KID
        || (jws->typ.len == access.len
            && ngx_strncasecmp(jws->typ.data, access.data, access.len) == 0)
        || !cJSON_IsString(cJSON_GetObjectItemCaseSensitive(jws->payload,
                                                            "sub"))
        || !ngx_svc_oauth_hint_for(
               cJSON_GetObjectItemCaseSensitive(jws->payload, "aud"),
               &ar->oauth.client.id))
    {
        return NGX_OK;
    }

    ar->hint_jws = jws;
    ar->oauth.token.kid = jws->kid;

    return NGX_AGAIN;
}


static ngx_uint_t
ngx_svc_oauth_hint_for(const cJSON *aud, const ngx_str_t *client)
{
    const cJSON  *one;

    if (cJSON_IsString(aud)) {
        return ngx_strlen(aud->valuestring) == client->len
               && ngx_memcmp(aud->valuestring, client->data, client->len) == 0;
    }

    if (cJSON_IsArray(aud)) {
        cJSON_ArrayForEach(one, aud) {
            if (cJSON_IsString(one) && ngx_svc_oauth_hint_for(one, client)) {
                return 1;
            }
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_oauth_hint_verify(ngx_svc_oauth_request_t *ar, PGresult *res)
{
    cJSON          *sub;
    EVP_PKEY       *key;
    ngx_int_t       rc;
    ngx_svc_jws_t  *jws;
    ngx_svc_jwa_e   alg;

    jws = ar->hint_jws;
    ar->hint_jws = NULL;

    rc = ngx_svc_oauth_hint_key(ar, res, &key, &alg);
    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_OK : NGX_ERROR;
    }

    rc = ngx_svc_jws_verify(jws, key, alg);

    EVP_PKEY_free(key);

    if (rc == NGX_OK) {
        sub = cJSON_GetObjectItemCaseSensitive(jws->payload, "sub");

        ar->hint.data = (u_char *) sub->valuestring;
        ar->hint.len = ngx_strlen(sub->valuestring);
    }

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_hint_key(ngx_svc_oauth_request_t *ar, PGresult *res,
    EVP_PKEY **key, ngx_svc_jwa_e *alg)
{
    u_char                           thumbprint[NGX_SVC_JWK_THUMBPRINT];
    cJSON                           *jwk;
    ngx_svc_request_t               *sr;
    ngx_svc_row_oauth_key_public_t   row;

    sr = ar->oauth.sr;

    if (PQntuples(res) == 0) {
        return NGX_DECLINED;
    }

    ngx_svc_row_oauth_key_public(&row, res, 0);

    if (ngx_svc_json_parse(sr->request->pool, &row.public, &jwk, &ar->error)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_jwk_signing(jwk, key, alg, thumbprint);
}
