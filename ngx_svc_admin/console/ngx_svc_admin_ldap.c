/*
 * /v1/admin/ldap: the directory of a tenant.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_attribute_map.h"
#include "ngx_svc_ldap_filter.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_url.h"


#define NGX_SVC_ADMIN_LDAP_DN      1024     /* characters; also of a filter */
#define NGX_SVC_ADMIN_LDAP_SECRET  1024     /* bytes */


typedef struct {
    ngx_svc_value_t  enabled;
    ngx_svc_value_t  url;
    ngx_svc_value_t  bind_dn;
    ngx_svc_value_t  bind_password;
    ngx_svc_value_t  base_dn;
    ngx_svc_value_t  user_filter;
    ngx_svc_value_t  attribute_mapping;
    ngx_svc_value_t  start_tls;
} ngx_svc_admin_ldap_t;


static ngx_int_t ngx_svc_admin_ldap_url(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_base(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_filter(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_ldap_reply(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_ldap_members[] = {

    { .name = ngx_string("enabled"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_ldap_t, enabled) },

    { .name = ngx_string("url"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_URL_MAX,
      .check = ngx_svc_admin_ldap_url,
      .offset = offsetof(ngx_svc_admin_ldap_t, url) },

    { .name = ngx_string("bindDn"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_LDAP_DN,
      .offset = offsetof(ngx_svc_admin_ldap_t, bind_dn) },

    { .name = ngx_string("bindPassword"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = NGX_SVC_ADMIN_LDAP_SECRET,
      .offset = offsetof(ngx_svc_admin_ldap_t, bind_password) },

    { .name = ngx_string("baseDn"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_LDAP_DN,
      .check = ngx_svc_admin_ldap_base,
      .offset = offsetof(ngx_svc_admin_ldap_t, base_dn) },

    { .name = ngx_string("userFilter"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_LDAP_DN,
      .check = ngx_svc_admin_ldap_filter,
      .offset = offsetof(ngx_svc_admin_ldap_t, user_filter) },

    { .name = ngx_string("attributeMapping"),
      .type = NGX_SVC_T_OBJECT|NGX_SVC_T_NULL,
      .check = ngx_svc_attribute_map_check,
      .offset = offsetof(ngx_svc_admin_ldap_t, attribute_mapping) },

    { .name = ngx_string("startTls"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_ldap_t, start_tls) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_ldap.sql.h"


const ngx_svc_route_t  ngx_svc_admin_ldap[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/ldap"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_ldap },
      .reply = ngx_svc_admin_ldap_reply },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/ldap"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_ldap_members,
      .body_size = sizeof(ngx_svc_admin_ldap_t),
      .check = ngx_svc_admin_ldap_check,
      .statements = { &ngx_svc_sql_admin_ldap_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/ldap"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_ldap_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_ldap_url(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    ngx_svc_url_t  url;

    if (ngx_svc_url_split(&value->str, &url) != NGX_OK
        || url.rest.len
        || !(ngx_svc_url_scheme(&url, "ldaps")
             || ngx_svc_url_scheme(&url, "ldap")))
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be a URL such as "
                            "\"ldaps://ldap.example.com:636\", with nothing "
                            "behind the port.", path);
    }

    ngx_strlow(value->str.data, value->str.data, value->str.len);

    return NGX_OK;
}


/* A DN begins with an attribute and "=" (RFC 4514); other texts do not. */

static ngx_int_t
ngx_svc_admin_ldap_base(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    size_t  i;

    for (i = 0; i < value->str.len; i++) {
        if (!isalnum(value->str.data[i]) && value->str.data[i] != '-'
            && value->str.data[i] != '.')
        {
            break;
        }
    }

    if (i && i < value->str.len && value->str.data[i] == '=') {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a distinguished name such as "
                        "\"dc=example,dc=com\".", path);
}


static ngx_int_t
ngx_svc_admin_ldap_filter(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    size_t      at;
    ngx_uint_t  marks;

    static const ngx_str_t  mark = ngx_string("{email}");

    if (ngx_svc_ldap_filter_parse(&value->str, &mark, &marks, &at) != NGX_OK) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be a search filter (RFC 4515) such as "
                            "\"(mail={email})\": up to byte %uz it could be "
                            "one.", path, at);
    }

    if (marks != 1) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have \"{email}\" once.", path);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_ldap_check(ngx_svc_request_t *sr, void *body)
{
    ngx_uint_t             ldaps;
    ngx_svc_admin_ldap_t  *ldap = body;

    ldaps = ngx_strncmp(ldap->url.str.data, "ldaps:", sizeof("ldaps:") - 1)
            == 0;

    if (!ldaps && !ldap->start_tls.integer) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"url\" must begin with \"ldaps://\", or "
                            "\"startTls\" be true.");
    }

    if (ldaps && ldap->start_tls.integer) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"startTls\" must be false with \"ldaps://\".");
    }

    if (ldap->bind_password.set
        && (!ldap->bind_dn.set || ldap->bind_dn.null))
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"bindPassword\" is of no use without "
                            "\"bindDn\".");
    }

    return NGX_OK;
}


/* A directory that was never configured has no other members. */

static ngx_int_t
ngx_svc_admin_ldap_reply(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t     w;
    ngx_svc_row_admin_ldap_t  row;

    ngx_svc_row_admin_ldap(&row, ngx_svc_result(sr, &ngx_svc_sql_admin_ldap),
                           0);

    if (row.configured) {
        return ngx_svc_route_answer(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 32) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_boolean(&w, "configured", 0);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
