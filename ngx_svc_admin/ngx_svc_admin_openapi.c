/*
 * /v1/openapi.json: the published contract, with the URL of this location.
 */

#include "ngx_svc_admin.h"


#define NGX_SVC_ADMIN_OPENAPI_MARK  "@base_url@"


static ngx_int_t ngx_svc_admin_openapi_prepare(ngx_svc_request_t *sr);


/* Generated from conf/openapi.json. */

static const u_char  ngx_svc_admin_openapi_json[] =
#include "ngx_svc_openapi.h"
;


const ngx_svc_route_t  ngx_svc_admin_openapi[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/openapi.json"),
      .flags = NGX_SVC_ROUTE_PUBLIC,
      .prepare = ngx_svc_admin_openapi_prepare },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_openapi_prepare(ngx_svc_request_t *sr)
{
    u_char              *p, *mark;
    size_t               len;
    ngx_str_t            body, tag;
    ngx_svc_loc_conf_t  *slcf;

    static ngx_str_t     any = ngx_string("*");
    static ngx_str_t     minutes = ngx_string("public, max-age=300");

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    mark = ngx_strnstr((u_char *) ngx_svc_admin_openapi_json,
                       NGX_SVC_ADMIN_OPENAPI_MARK,
                       sizeof(ngx_svc_admin_openapi_json) - 1);
    len = sizeof(ngx_svc_admin_openapi_json) + slcf->base_url.len;

    p = ngx_pnalloc(sr->request->pool, len);
    if (p == NULL || mark == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    body.data = p;
    p = ngx_cpymem(p, ngx_svc_admin_openapi_json,
                   mark - ngx_svc_admin_openapi_json);
    p = ngx_cpymem(p, slcf->base_url.data, slcf->base_url.len);

    mark += sizeof(NGX_SVC_ADMIN_OPENAPI_MARK) - 1;
    p = ngx_cpymem(p, mark, ngx_svc_admin_openapi_json
                            + sizeof(ngx_svc_admin_openapi_json) - 1 - mark);
    body.len = p - body.data;

    if (ngx_svc_etag_digest(sr, &body, &tag) != NGX_OK
        || ngx_svc_add_header(sr->request, "Cache-Control", &minutes) != NGX_OK
        || ngx_svc_add_header(sr->request, "Access-Control-Allow-Origin", &any)
           != NGX_OK
        || ngx_svc_send_etag(sr, &tag) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_bytes(sr, &sr->surface->content_type, &body);
}
