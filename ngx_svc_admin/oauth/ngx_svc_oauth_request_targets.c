/*
 * Authorization requests: the resources that the tokens are for (RFC 8707).
 */

#include "ngx_svc_oauth_request_targets.h"


#define NGX_SVC_OAUTH_RESOURCES_MAX  8


static u_char *ngx_svc_oauth_request_array(u_char *p, const ngx_str_t *values,
    ngx_uint_t n);


ngx_int_t
ngx_svc_oauth_request_targets(ngx_svc_oauth_request_t *ar)
{
    u_char            *p;
    ngx_int_t          rc;
    ngx_str_t          uri, uris[NGX_SVC_OAUTH_RESOURCES_MAX];
    ngx_str_t         *key, keys[NGX_SVC_OAUTH_RESOURCES_MAX];
    ngx_uint_t         i, k, n;
    ngx_svc_oauth_t   *o;

    o = &ar->oauth;
    key = &o->resource_key;
    n = 0;

    for (i = 0; ngx_svc_form_nth(&o->form, "resource", i, &uri) == NGX_OK; i++)
    {
        if (i == NGX_SVC_OAUTH_RESOURCES_MAX) {
            return ngx_svc_fail(&o->sr->error, NGX_SVC_E_TARGET,
                                "'resource' comes more than %d times.",
                                NGX_SVC_OAUTH_RESOURCES_MAX);
        }

        rc = ngx_svc_oauth_target(o, &uri);
        if (rc != NGX_OK) {
            return rc;
        }

        for (k = 0; k < n; k++) {
            if (ngx_svc_same(&keys[k], key)) {
                break;
            }
        }

        if (k == n) {
            keys[n] = *key;
            uris[n++] = uri;
        }
    }

    p = ngx_pnalloc(o->sr->request->pool,
                    2 * (2 + n * (NGX_SVC_APPLICATION_RESOURCE + 4)));
    if (p == NULL) {
        return NGX_ERROR;
    }

    ar->resources.data = p;
    p = ngx_svc_oauth_request_array(p, uris, n);
    ar->resources.len = p - ar->resources.data;

    ar->resource_keys.data = p;
    p = ngx_svc_oauth_request_array(p, keys, n);
    ar->resource_keys.len = p - ar->resource_keys.data;

    return NGX_OK;
}


static u_char *
ngx_svc_oauth_request_array(u_char *p, const ngx_str_t *values, ngx_uint_t n)
{
    ngx_uint_t  i;

    *p++ = '{';

    for (i = 0; i < n; i++) {
        p = ngx_sprintf(p, i ? ",\"%V\"" : "\"%V\"", &values[i]);
    }

    *p++ = '}';

    return p;
}
