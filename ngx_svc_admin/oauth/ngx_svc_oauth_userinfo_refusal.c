/*
 * How /oauth/userinfo refuses a token.
 */

#include "ngx_svc_oauth_userinfo_refusal.h"
#include "ngx_svc_oauth_proof.h"


#define NGX_SVC_OAUTH_ALGS  "algs=\"ES256 EdDSA\""     /* of DPoP proofs */


ngx_int_t
ngx_svc_oauth_userinfo_refuse(ngx_svc_request_t *sr)
{
    static ngx_str_t  bearer = ngx_string("Bearer error=\"invalid_token\"");
    static ngx_str_t  dpop =
        ngx_string("DPoP error=\"invalid_token\", " NGX_SVC_OAUTH_ALGS);

    sr->challenge = bearer;

    if (ngx_svc_oauth_proof_presented(sr)) {

        if (ngx_svc_add_header(sr->request, "WWW-Authenticate", &bearer)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        sr->challenge = dpop;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHORIZED,
                        "The access token is missing, or not good here.");
}


/* The challenges are those of RFC 9449, 7.1 and 9. */

void
ngx_svc_oauth_userinfo_unproven(ngx_svc_request_t *sr)
{
    static const ngx_str_t  nonce =
        ngx_string("DPoP error=\"use_dpop_nonce\", " NGX_SVC_OAUTH_ALGS);
    static const ngx_str_t  proof =
        ngx_string("DPoP error=\"invalid_dpop_proof\", " NGX_SVC_OAUTH_ALGS);

    sr->challenge = (sr->error.kind == NGX_SVC_E_DPOP_NONCE) ? nonce : proof;
    sr->error.kind = NGX_SVC_E_UNAUTHORIZED;
}


ngx_int_t
ngx_svc_oauth_userinfo_scope(ngx_svc_request_t *sr)
{
    static ngx_str_t  bearer =
        ngx_string("Bearer error=\"insufficient_scope\", scope=\"openid\"");
    static ngx_str_t  dpop =
        ngx_string("DPoP error=\"insufficient_scope\", scope=\"openid\", "
                   NGX_SVC_OAUTH_ALGS);

    if (ngx_svc_add_header(sr->request, "WWW-Authenticate", &bearer) != NGX_OK
        || (ngx_svc_oauth_proof_presented(sr)
            && ngx_svc_add_header(sr->request, "WWW-Authenticate", &dpop)
               != NGX_OK))
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                        "The access token does not have the scope 'openid'.");

    return ngx_svc_send_error(sr);
}
