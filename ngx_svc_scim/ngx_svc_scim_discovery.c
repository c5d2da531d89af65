/*
 * ServiceProviderConfig (RFC 7643, 5), and the endpoints that are not
 * implemented (RFC 7644, 3.7 and 3.11).
 */

#include "ngx_svc_scim.h"


static ngx_int_t ngx_svc_scim_config_reply(ngx_svc_request_t *sr);
static void ngx_svc_scim_config_features(ngx_svc_json_writer_t *w,
    ngx_uint_t rfc);
static ngx_int_t ngx_svc_scim_none_prepare(ngx_svc_request_t *sr);
static void ngx_svc_scim_supported(ngx_svc_json_writer_t *w, const char *key,
    ngx_uint_t supported);


const ngx_svc_route_t  ngx_svc_scim_discovery[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/ServiceProviderConfig"),
      .permission = NGX_SVC_P_SCIM,
      .reply = ngx_svc_scim_config_reply },

    ngx_svc_null_route
};


#define ngx_svc_scim_none_route(m, name)                                      \
    { .method = m,                                                            \
      .path = ngx_string(name),                                               \
      .permission = NGX_SVC_P_SCIM,                                           \
      .prepare = ngx_svc_scim_none_prepare }

#define ngx_svc_scim_none(name)                                               \
    ngx_svc_scim_none_route(NGX_HTTP_GET, name),                              \
    ngx_svc_scim_none_route(NGX_HTTP_POST, name),                             \
    ngx_svc_scim_none_route(NGX_HTTP_PUT, name),                              \
    ngx_svc_scim_none_route(NGX_HTTP_PATCH, name),                            \
    ngx_svc_scim_none_route(NGX_HTTP_DELETE, name)


const ngx_svc_route_t  ngx_svc_scim_rfc_discovery[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/ServiceProviderConfig"),
      .permission = NGX_SVC_P_SCIM,
      .prepare = ngx_svc_scim_discovery_prepare,
      .reply = ngx_svc_scim_config_reply },

    ngx_svc_scim_none("/Me"),
    ngx_svc_scim_none("/Bulk"),

    ngx_svc_null_route
};


/* RFC 7644, 4: a filter must not hide what a provider can do. */

ngx_int_t
ngx_svc_scim_discovery_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;
    ngx_str_t  filter;

    rc = ngx_svc_argument(sr, "filter", &filter);

    if (rc == NGX_OK && filter.data) {
        rc = ngx_svc_fail(&sr->error, NGX_SVC_E_FORBIDDEN,
                          "There is no filter here.");
    }

    return rc;
}


static ngx_int_t
ngx_svc_scim_none_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_IMPLEMENTED,
                        "\"%V\" is not implemented.", &sr->route->path);
}


static ngx_int_t
ngx_svc_scim_config_reply(ngx_svc_request_t *sr)
{
    ngx_str_t               location;
    ngx_svc_json_writer_t   w;

    static const u_char  schemas[] =
        "[\"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig\"]";

    static const u_char  schemes[] =
        "[{\"type\":\"oauthbearertoken\",\"name\":\"OAuth Bearer Token\","
        "\"description\":\"The SCIM token of the tenant, as a bearer "
        "token\",\"specUri\":\"https://www.rfc-editor.org/info/rfc6750\","
        "\"primary\":true}]";

    if (ngx_svc_scim_url(sr, "/ServiceProviderConfig", "", &location) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    ngx_svc_json_raw(&w, "schemas", schemas, sizeof(schemas) - 1);

    ngx_svc_scim_config_features(&w, ngx_svc_scim_rfc(sr));

    ngx_svc_json_raw(&w, "authenticationSchemes", schemes,
                     sizeof(schemes) - 1);

    ngx_svc_json_open(&w, "meta", '{');
    ngx_svc_json_plain(&w, "resourceType",
                       (u_char *) "ServiceProviderConfig",
                       sizeof("ServiceProviderConfig") - 1);
    ngx_svc_json_plain(&w, "location", location.data, location.len);
    ngx_svc_json_close(&w, '}');

    ngx_svc_json_close(&w, '}');

    if (ngx_svc_add_header(sr->request, "Content-Location", &location)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static void
ngx_svc_scim_config_features(ngx_svc_json_writer_t *w, ngx_uint_t rfc)
{
    ngx_svc_scim_supported(w, "patch", 1);

    ngx_svc_json_open(w, "bulk", '{');
    ngx_svc_json_boolean(w, "supported", 0);
    ngx_svc_json_integer(w, "maxOperations", 0);
    ngx_svc_json_integer(w, "maxPayloadSize", 0);
    ngx_svc_json_close(w, '}');

    ngx_svc_json_open(w, "filter", '{');
    ngx_svc_json_boolean(w, "supported", 1);
    ngx_svc_json_integer(w, "maxResults", NGX_SVC_SCIM_LIST_MAX);
    ngx_svc_json_close(w, '}');

    ngx_svc_scim_supported(w, "changePassword", 0);
    ngx_svc_scim_supported(w, "sort", rfc);
    ngx_svc_scim_supported(w, "etag", rfc);
}


static void
ngx_svc_scim_supported(ngx_svc_json_writer_t *w, const char *key,
    ngx_uint_t supported)
{
    ngx_svc_json_open(w, key, '{');
    ngx_svc_json_boolean(w, "supported", supported);
    ngx_svc_json_close(w, '}');
}
