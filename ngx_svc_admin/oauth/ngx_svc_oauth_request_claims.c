/*
 * Authorization requests: the claims that a client asks for by their names.
 */

#include "ngx_svc_oauth_request_claims.h"
#include "ngx_svc_oauth_asked.h"
#include "ngx_svc_oauth_claims_kept.h"
#include "ngx_svc_oauth_request_acr.h"


static ngx_int_t ngx_svc_oauth_request_claims_acr(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_asked_t *asked);
static ngx_int_t ngx_svc_oauth_request_claims_class(
    ngx_svc_oauth_request_t *ar, const cJSON *value);


ngx_int_t
ngx_svc_oauth_request_claims(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    ngx_int_t               rc;
    ngx_str_t               text;
    ngx_svc_oauth_asked_t   asked;

    if (value->data == NULL) {
        return NGX_OK;
    }

    text = *value;

    rc = ngx_svc_oauth_asked(ar->oauth.sr->request->pool, &text, &asked,
                             &ar->error);
    if (rc != NGX_OK) {
        return rc;
    }

    ar->subject = asked.subject;

    if (ngx_svc_oauth_claims_keep(ar->oauth.sr->request->pool, asked.id_token,
                                  asked.userinfo, &ar->claims)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return asked.acr ? ngx_svc_oauth_request_claims_acr(ar, &asked) : NGX_OK;
}


/* An essential "acr" takes the place of acr_values, which are only a wish. */

static ngx_int_t
ngx_svc_oauth_request_claims_acr(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_asked_t *asked)
{
    const cJSON  *one;

    static const ngx_str_t  yes = { 1, (u_char *) "\1" };

    if (asked->acr_needed) {
        ngx_str_null(&ar->acr);
        ar->acr_needed = yes;
    }

    if (cJSON_IsString(asked->acr)) {
        return ngx_svc_oauth_request_claims_class(ar, asked->acr);
    }

    cJSON_ArrayForEach(one, asked->acr) {
        if (ngx_svc_oauth_request_claims_class(ar, one) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_request_claims_class(ngx_svc_oauth_request_t *ar,
    const cJSON *value)
{
    ngx_str_t  name;

    name.data = (u_char *) value->valuestring;
    name.len = ngx_strlen(name.data);

    return ngx_svc_oauth_request_acr_add(ar, &name);
}
