/*
 * Preflight requests, by which browsers ask whether a page of another origin
 * may send a request (Fetch, 4.8).  Only routes that take no cookie have them.
 */

#include "ngx_svc_oauth_preflight.h"


static ngx_int_t ngx_svc_oauth_preflight_prepare(ngx_svc_request_t *sr);


const ngx_svc_route_t  ngx_svc_oauth_preflight[] = {

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string("[/t/*]/token"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string("[/t/*]/par"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string("[/t/*]/revoke"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string("[/t/*]/userinfo"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string("/t/*/jwks"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string("/t/*/.well-known/openid-configuration"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    ngx_svc_null_route
};

const ngx_svc_route_t  ngx_svc_oauth_well_known_preflight[] = {

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string("/oauth/t/*"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    { .method = NGX_HTTP_OPTIONS,
      .path = ngx_string(""),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_ANY_ORIGIN,
      .prepare = ngx_svc_oauth_preflight_prepare },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_oauth_preflight_prepare(ngx_svc_request_t *sr)
{
    ngx_uint_t  i;

    static struct {
        const char  *name;
        ngx_str_t    value;
    } headers[] = {
        { "Access-Control-Allow-Methods", ngx_string("GET, POST") },
        { "Access-Control-Allow-Headers",
          ngx_string("Authorization, DPoP, Content-Type") },
        { "Access-Control-Max-Age", ngx_string("600") }
    };

    if (ngx_svc_oauth_any_origin(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        if (ngx_svc_add_header(sr->request, headers[i].name, &headers[i].value)
            != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}
