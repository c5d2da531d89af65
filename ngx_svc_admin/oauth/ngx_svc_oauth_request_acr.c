/*
 * Authorization requests: how well the user must have signed in.
 */

#include "ngx_svc_oauth_request_acr.h"
#include "ngx_svc_method.h"
#include "ngx_svc_oauth_amr.h"


static ngx_int_t ngx_svc_oauth_request_acr_methods(
    ngx_svc_oauth_request_t *ar);


static const ngx_str_t  ngx_svc_oauth_request_acrs[] = {
    ngx_string(NGX_SVC_OAUTH_ACR_ONE),
    ngx_string(NGX_SVC_OAUTH_ACR_TWO),
    ngx_string(NGX_SVC_OAUTH_ACR_PASSKEY)
};

#define NGX_SVC_OAUTH_REQUEST_ACRS                                            \
    (sizeof("{" NGX_SVC_OAUTH_ACR_ONE "," NGX_SVC_OAUTH_ACR_TWO ","           \
            NGX_SVC_OAUTH_ACR_PASSKEY "}"))


ngx_int_t
ngx_svc_oauth_request_acr(ngx_svc_oauth_request_t *ar, const ngx_str_t *value)
{
    u_char     *p, *end;
    ngx_str_t   name;

    p = value->data;
    end = p + value->len;

    while (p < end) {
        name.data = p;

        while (p < end && *p != ' ') {
            p++;
        }

        name.len = p++ - name.data;

        if (name.len && ngx_svc_oauth_request_acr_add(ar, &name) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* The names can be searched for: none contains another one. */

ngx_int_t
ngx_svc_oauth_request_acr_add(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *name)
{
    u_char           *p;
    ngx_str_t        *acr;
    ngx_uint_t        i;
    const ngx_str_t  *known;

    acr = &ar->acr;

    if (acr->data == NULL) {
        acr->data = ngx_pnalloc(ar->oauth.sr->request->pool,
                                NGX_SVC_OAUTH_REQUEST_ACRS);
        if (acr->data == NULL
            || ngx_svc_oauth_request_acr_methods(ar) != NGX_OK)
        {
            return NGX_ERROR;
        }

        acr->len = ngx_sprintf(acr->data, "{}") - acr->data;
    }

    for (i = 0; i < sizeof(ngx_svc_oauth_request_acrs) / sizeof(ngx_str_t);
         i++)
    {
        known = &ngx_svc_oauth_request_acrs[i];

        if (ngx_svc_same(name, known)
            && ngx_strnstr(acr->data, (char *) known->data, acr->len) == NULL)
        {
            p = acr->data + acr->len - 1;
            p = ngx_sprintf(p, acr->len > 2 ? ",%V}" : "%V}", known);
            acr->len = p - acr->data;
        }
    }

    return NGX_OK;
}


/* Whether a session reaches a class is told by what its methods prove. */

static ngx_int_t
ngx_svc_oauth_request_acr_methods(ngx_svc_oauth_request_t *ar)
{
    ngx_pool_t  *pool;

    pool = ar->oauth.sr->request->pool;

    if (ngx_svc_oauth_amr_methods(pool, NGX_SVC_METHOD_PASSKEY,
                                  &ar->passkey_methods)
           != NGX_OK
        || ngx_svc_oauth_amr_methods(pool, NGX_SVC_METHOD_PASSWORD,
                                     &ar->password_methods)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_amr_methods(pool, NGX_SVC_METHOD_CODE,
                                     &ar->code_methods);
}
