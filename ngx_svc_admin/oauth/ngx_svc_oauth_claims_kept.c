/*
 * The claims that a client has asked for by their names.
 */

#include "ngx_svc_oauth_claims_kept.h"


#define NGX_SVC_OAUTH_KEPT_ELEMENT  64      /* bytes; no element has more */


static u_char *ngx_svc_oauth_claims_keep_in(u_char *p, const u_char *start,
    const char *place, ngx_uint_t claims);


/*
 * An ID token has "sub", "auth_time" and "acr" anyhow, and userinfo has "sub":
 * these are not kept.
 */

ngx_int_t
ngx_svc_oauth_claims_keep(ngx_pool_t *pool, ngx_uint_t id_token,
    ngx_uint_t userinfo, ngx_str_t *text)
{
    u_char  *p;

    id_token &= ~(NGX_SVC_OAUTH_CLAIM_SUB|NGX_SVC_OAUTH_CLAIM_AUTH_TIME
                  |NGX_SVC_OAUTH_CLAIM_ACR);
    userinfo &= ~NGX_SVC_OAUTH_CLAIM_SUB;

    ngx_str_null(text);

    if (id_token == 0 && userinfo == 0) {
        return NGX_OK;
    }

    p = ngx_pnalloc(pool, 2 + 2 * NGX_SVC_OAUTH_CLAIMS_N
                              * NGX_SVC_OAUTH_KEPT_ELEMENT);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    *p++ = '{';
    p = ngx_svc_oauth_claims_keep_in(p, text->data, NGX_SVC_OAUTH_IN_ID_TOKEN,
                                     id_token);
    p = ngx_svc_oauth_claims_keep_in(p, text->data, NGX_SVC_OAUTH_IN_USERINFO,
                                     userinfo);
    *p++ = '}';
    text->len = p - text->data;

    return NGX_OK;
}


static u_char *
ngx_svc_oauth_claims_keep_in(u_char *p, const u_char *start,
    const char *place, ngx_uint_t claims)
{
    ngx_uint_t                    i;
    const ngx_svc_oauth_claim_t  *claim;

    for (i = 0; i < NGX_SVC_OAUTH_CLAIMS_N; i++) {
        claim = &ngx_svc_oauth_claim_table[i];

        if (claims & ((ngx_uint_t) 1 << i)) {
            p = ngx_sprintf(p, p > start + 1 ? ",\"%V %s %V\"" : "\"%V %s %V\"",
                            &claim->scope, place, &claim->name);
        }
    }

    return p;
}


ngx_uint_t
ngx_svc_oauth_claims_kept(const ngx_str_t *element, const char *place,
    ngx_str_t *scope)
{
    size_t      len;
    u_char     *p, *end;
    ngx_str_t   name;

    len = ngx_strlen(place);
    end = element->data + element->len;
    p = ngx_strlchr(element->data, end, ' ');

    if (p == NULL || (size_t) (end - p) < len + 2
        || ngx_memcmp(p + 1, place, len) != 0 || p[len + 1] != ' ')
    {
        return 0;
    }

    scope->data = element->data;
    scope->len = p - element->data;

    name.data = p + len + 2;
    name.len = end - name.data;

    return ngx_svc_oauth_claim(&name);
}
