/*
 * The parameter "claims" of an authorization request.
 */

#include "ngx_svc_oauth_asked.h"


static ngx_int_t ngx_svc_oauth_asked_place(const cJSON *json,
    const char *name, ngx_svc_oauth_asked_t *asked, ngx_uint_t *claims,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_oauth_asked_claim(const cJSON *claim,
    ngx_uint_t bit, ngx_svc_oauth_asked_t *asked, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_oauth_asked_subject(const cJSON *claim,
    ngx_svc_oauth_asked_t *asked, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_oauth_asked_acr(const cJSON *claim,
    ngx_svc_oauth_asked_t *asked, ngx_svc_error_t *err);
static ngx_uint_t ngx_svc_oauth_asked_strings(const cJSON *value);


ngx_int_t
ngx_svc_oauth_asked(ngx_pool_t *pool, ngx_str_t *text,
    ngx_svc_oauth_asked_t *asked, ngx_svc_error_t *err)
{
    cJSON            *json;
    ngx_int_t         rc;
    ngx_svc_error_t   why;

    ngx_memzero(asked, sizeof(ngx_svc_oauth_asked_t));

    if (text->len > NGX_SVC_OAUTH_ASKED_MAX) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "'claims' has more than %d bytes.",
                            NGX_SVC_OAUTH_ASKED_MAX);
    }

    why.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_json_parse(pool, text, &json, &why);

    if (rc == NGX_DECLINED) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "'claims' is no JSON object, or one that has a "
                            "member twice.");
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_asked_place(json, "id_token", asked,
                                       &asked->id_token, err);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_asked_place(json, "userinfo", asked,
                                       &asked->userinfo, err);
    }

    return rc;
}


/* Takes the claims of a place.  A place that is null asks for nothing. */

static ngx_int_t
ngx_svc_oauth_asked_place(const cJSON *json, const char *name,
    ngx_svc_oauth_asked_t *asked, ngx_uint_t *claims, ngx_svc_error_t *err)
{
    ngx_int_t     rc;
    ngx_str_t     text;
    ngx_uint_t    bit;
    const cJSON  *place, *claim;

    place = cJSON_GetObjectItemCaseSensitive(json, name);

    if (place == NULL || cJSON_IsNull(place)) {
        return NGX_OK;
    }

    if (!cJSON_IsObject(place)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "'%s' of 'claims' is no object.", name);
    }

    cJSON_ArrayForEach(claim, place) {
        text.data = (u_char *) claim->string;
        text.len = ngx_strlen(text.data);

        bit = ngx_svc_oauth_claim(&text);

        if (bit == 0) {
            continue;
        }

        rc = ngx_svc_oauth_asked_claim(claim, bit, asked, err);

        if (rc != NGX_OK) {
            return rc;
        }

        *claims |= bit;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_asked_claim(const cJSON *claim, ngx_uint_t bit,
    ngx_svc_oauth_asked_t *asked, ngx_svc_error_t *err)
{
    const cJSON  *essential;

    if (cJSON_IsNull(claim)) {
        return NGX_OK;
    }

    essential = cJSON_GetObjectItemCaseSensitive(claim, "essential");

    if (!cJSON_IsObject(claim)
        || (essential && !cJSON_IsBool(essential)))
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "'%s' of 'claims' is neither null nor an object "
                            "whose 'essential' is true or false.",
                            claim->string);
    }

    switch (bit) {

    case NGX_SVC_OAUTH_CLAIM_SUB:
        return ngx_svc_oauth_asked_subject(claim, asked, err);

    case NGX_SVC_OAUTH_CLAIM_ACR:
        return ngx_svc_oauth_asked_acr(claim, asked, err);

    default:
        return NGX_OK;
    }
}


/* Takes the value of "sub".  Two places cannot ask for two users. */

static ngx_int_t
ngx_svc_oauth_asked_subject(const cJSON *claim, ngx_svc_oauth_asked_t *asked,
    ngx_svc_error_t *err)
{
    ngx_str_t     subject;
    const cJSON  *value;

    value = cJSON_GetObjectItemCaseSensitive(claim, "value");

    if (value == NULL) {
        return NGX_OK;
    }

    if (!cJSON_IsString(value)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "The value of 'sub' of 'claims' is no string.");
    }

    subject.data = (u_char *) value->valuestring;
    subject.len = ngx_strlen(subject.data);

    if (asked->subject.data && !ngx_svc_same(&subject, &asked->subject)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "'claims' has two values of 'sub'.");
    }

    asked->subject = subject;

    return NGX_OK;
}


/*
 * Takes the classes that are asked for.  The first place that names some
 * counts.
 */

static ngx_int_t
ngx_svc_oauth_asked_acr(const cJSON *claim, ngx_svc_oauth_asked_t *asked,
    ngx_svc_error_t *err)
{
    cJSON  *value;

    value = cJSON_GetObjectItemCaseSensitive(claim, "values");

    if (value == NULL) {
        value = cJSON_GetObjectItemCaseSensitive(claim, "value");

        if (value == NULL) {
            return NGX_OK;
        }

        if (!cJSON_IsString(value)) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                                "The value of 'acr' of 'claims' is no "
                                "string.");
        }

    } else if (!ngx_svc_oauth_asked_strings(value)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_REQUEST,
                            "The values of 'acr' of 'claims' are no array of "
                            "strings.");
    }

    if (asked->acr == NULL) {
        asked->acr = value;
        asked->acr_needed = cJSON_IsTrue(
            cJSON_GetObjectItemCaseSensitive(claim, "essential"));
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_oauth_asked_strings(const cJSON *value)
{
    const cJSON  *one;

    if (!cJSON_IsArray(value)) {
        return 0;
    }

    cJSON_ArrayForEach(one, value) {
        if (!cJSON_IsString(one)) {
            return 0;
        }
    }

    return 1;
}
