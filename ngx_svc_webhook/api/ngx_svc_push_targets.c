/*
 * /v1/admin/scim-targets and /v1/admin/scim-targets/{id}.
 */

#include "ngx_svc_push_api.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_push_token.h"
#include "ngx_svc_outbound_target.h"


#define NGX_SVC_PUSH_TARGETS    50      /* targets of a tenant, at most */
#define NGX_SVC_PUSH_NAME       100     /* characters */
#define NGX_SVC_PUSH_CLIENT     64      /* characters; no id is longer */


typedef struct {
    ngx_svc_value_t  client_id;
    ngx_svc_value_t  name;
    ngx_svc_value_t  base_url;
    ngx_svc_value_t  token;
    ngx_svc_value_t  enabled;
} ngx_svc_push_input_t;


static ngx_int_t ngx_svc_push_url_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_push_token_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#define ngx_svc_push_rows(required)                                           \
                                                                              \
    { .name = ngx_string("clientId"),                                         \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_PUSH_CLIENT,                                             \
      .offset = offsetof(ngx_svc_push_input_t, client_id) },                  \
                                                                              \
    { .name = ngx_string("name"),                                             \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_PUSH_NAME,                                               \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_push_input_t, name) },                       \
                                                                              \
    { .name = ngx_string("baseUrl"),                                          \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_OUTBOUND_URL,                                            \
      .check = ngx_svc_push_url_check,                                        \
      .offset = offsetof(ngx_svc_push_input_t, base_url) },                   \
                                                                              \
    { .name = ngx_string("token"),                                            \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = required,                                                      \
      .min = 1,                                                               \
      .max = NGX_SVC_PUSH_TOKEN,                                              \
      .check = ngx_svc_push_token_check,                                      \
      .offset = offsetof(ngx_svc_push_input_t, token) },                      \
                                                                              \
    { .name = ngx_string("enabled"),                                          \
      .type = NGX_SVC_T_BOOLEAN,                                              \
      .offset = offsetof(ngx_svc_push_input_t, enabled) },                    \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_push_create_members[] = {
    ngx_svc_push_rows(NGX_SVC_M_REQUIRED)
};

static const ngx_svc_member_t  ngx_svc_push_put_members[] = {
    ngx_svc_push_rows(0)
};


#include "ngx_svc_push_targets.sql.h"


const ngx_svc_route_t  ngx_svc_push_targets[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim-targets"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_push_total,
                      &ngx_svc_sql_push_list },
      .list = "scimTargets",
      .total = &ngx_svc_sql_push_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/scim-targets"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_push_create_members,
      .body_size = sizeof(ngx_svc_push_input_t),
      .statements = { &ngx_svc_sql_push_lock,
                      &ngx_svc_sql_push_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/scim-targets/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_push_get } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/scim-targets/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_push_put_members,
      .body_size = sizeof(ngx_svc_push_input_t),
      .statements = { &ngx_svc_sql_push_put } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/scim-targets/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_push_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


/*
 * Checks the URL.  It is stored with the scheme in lower case, and without a
 * slash at its end.
 */

static ngx_int_t
ngx_svc_push_url_check(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    ngx_str_t  *url;

    url = &value->str;

    if (ngx_svc_outbound_url(url, &ngx_svc_webhook_conf()->allow, 0, path, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_strlchr(url->data, url->data + url->len, '?')) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must not have a query (\"?\"): \"/Users\" "
                            "is put behind it.", path);
    }

    ngx_strlow(url->data, url->data, sizeof("https") - 1);

    while (url->data[url->len - 1] == '/') {
        url->data[--url->len] = '\0';
    }

    return NGX_OK;
}


/* Checks that a token can be in a header as it is. */

static ngx_int_t
ngx_svc_push_token_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    size_t  i;

    for (i = 0; i < value->str.len; i++) {
        if (value->str.data[i] <= ' ' || value->str.data[i] >= 0x7f) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must have nothing but ASCII without "
                                "spaces and control characters.", path);
        }
    }

    return NGX_OK;
}
