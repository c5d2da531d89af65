/*
 * /v1/admin/ldap: the directory of a tenant.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_attribute_map.h"
#include "ngx_svc_certificate.h"
#include "ngx_svc_connection.h"
#include "ngx_svc_ldap_filter.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_url.h"


#define NGX_SVC_ADMIN_LDAP_DN      1024     /* characters; also of a filter */
#define NGX_SVC_ADMIN_LDAP_SECRET  1024     /* bytes */
#define NGX_SVC_ADMIN_LDAP_ID      255      /* bytes of an attribute's name */
#define NGX_SVC_ADMIN_LDAP_CA      65536    /* bytes of all certificates */
#define NGX_SVC_ADMIN_LDAP_OFTEN   15       /* minutes */
#define NGX_SVC_ADMIN_LDAP_SELDOM  1440


typedef struct {
    ngx_svc_connection_t  connection;
    ngx_svc_value_t       enabled;
    ngx_svc_value_t       url;
    ngx_svc_value_t       bind_dn;
    ngx_svc_value_t       bind_password;
    ngx_svc_value_t       base_dn;
    ngx_svc_value_t       user_filter;
    ngx_svc_value_t       attribute_mapping;
    ngx_svc_value_t       start_tls;
    ngx_svc_value_t       unique_id_attribute;
    ngx_svc_value_t       ca_certificates;
    ngx_svc_value_t       sync_enabled;
    ngx_svc_value_t       sync_filter;
    ngx_svc_value_t       sync_interval_minutes;
    ngx_svc_value_t       sync_deactivate;
} ngx_svc_admin_ldap_t;


static ngx_int_t ngx_svc_admin_ldap_url(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_base(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_filter(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_search(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_id(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_ldap_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_ldap_server(ngx_svc_request_t *sr,
    ngx_svc_admin_ldap_t *ldap);
static ngx_int_t ngx_svc_admin_ldap_ca(ngx_svc_request_t *sr,
    ngx_svc_value_t *certificates);
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

    { .name = ngx_string("uniqueIdAttribute"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_LDAP_ID,
      .check = ngx_svc_admin_ldap_id,
      .offset = offsetof(ngx_svc_admin_ldap_t, unique_id_attribute) },

    { .name = ngx_string("caCertificates"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_LDAP_CA,
      .offset = offsetof(ngx_svc_admin_ldap_t, ca_certificates) },

    { .name = ngx_string("syncEnabled"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_ldap_t, sync_enabled) },

    { .name = ngx_string("syncFilter"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_LDAP_DN,
      .check = ngx_svc_admin_ldap_search,
      .offset = offsetof(ngx_svc_admin_ldap_t, sync_filter) },

    { .name = ngx_string("syncIntervalMinutes"),
      .type = NGX_SVC_T_INTEGER,
      .min = NGX_SVC_ADMIN_LDAP_OFTEN,
      .max = NGX_SVC_ADMIN_LDAP_SELDOM,
      .offset = offsetof(ngx_svc_admin_ldap_t, sync_interval_minutes) },

    { .name = ngx_string("syncDeactivate"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_ldap_t, sync_deactivate) },

    ngx_svc_null_member
};


#define ngx_svc_admin_ldap_column(field, member, absent)                      \
    ngx_svc_connection_column(ngx_svc_admin_ldap_t, field, member, absent)

static const ngx_svc_connection_column_t  ngx_svc_admin_ldap_columns[] = {
    ngx_svc_admin_ldap_column(enabled, "enabled", "true"),
    ngx_svc_admin_ldap_column(url, "url", "null"),
    ngx_svc_admin_ldap_column(bind_dn, "bindDn", "null"),
    ngx_svc_admin_ldap_column(bind_password, "bindPassword", NULL),
    ngx_svc_admin_ldap_column(base_dn, "baseDn", "null"),
    ngx_svc_admin_ldap_column(user_filter, "userFilter", "null"),
    ngx_svc_admin_ldap_column(attribute_mapping, "attributeMapping", "{}"),
    ngx_svc_admin_ldap_column(start_tls, "startTls", "false"),
    ngx_svc_admin_ldap_column(unique_id_attribute, "uniqueIdAttribute",
                              "null"),
    ngx_svc_admin_ldap_column(ca_certificates, "caCertificates", "null"),
    ngx_svc_admin_ldap_column(sync_enabled, "syncEnabled", "false"),
    ngx_svc_admin_ldap_column(sync_filter, "syncFilter", "null"),
    ngx_svc_admin_ldap_column(sync_interval_minutes, "syncIntervalMinutes",
                              "60"),
    ngx_svc_admin_ldap_column(sync_deactivate, "syncDeactivate", "false"),
    ngx_svc_connection_shared(jit_provisioning, "jitProvisioning", "false"),
    ngx_svc_connection_shared(show_on_page, "showOnPage", "false"),
    ngx_svc_connection_column_end
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
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_CALLER,
      .members = ngx_svc_admin_ldap_members,
      .body_size = sizeof(ngx_svc_admin_ldap_t),
      .check = ngx_svc_admin_ldap_check,
      .statements = { &ngx_svc_sql_admin_connections_lock,
                      &ngx_svc_sql_admin_ldap_lock,
                      &ngx_svc_sql_admin_connection_judge,
                      &ngx_svc_sql_admin_ldap_put,
                      &ngx_svc_sql_admin_ldap } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/ldap"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_ldap_lock,
                      &ngx_svc_sql_admin_ldap_delete },
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


/* The address that somebody types, or what is before its "@", is put in. */

static ngx_int_t
ngx_svc_admin_ldap_filter(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    size_t      at;
    ngx_uint_t  emails, locals;

    static const ngx_str_t  email = ngx_string("{email}");
    static const ngx_str_t  local = ngx_string("{local}");

    if (ngx_svc_ldap_filter_parse(&value->str, &email, &emails, &at) != NGX_OK
        || ngx_svc_ldap_filter_parse(&value->str, &local, &locals, &at)
           != NGX_OK)
    {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be a search filter (RFC 4515) such as "
                            "\"(mail={email})\": up to byte %uz it could be "
                            "one.", path, at);
    }

    if (emails + locals != 1) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must have \"{email}\" or \"{local}\" "
                            "once, and not both.", path);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_ldap_search(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    size_t      at;
    ngx_uint_t  marks;

    static const ngx_str_t  mark = ngx_string("{");

    if (ngx_svc_ldap_filter_parse(&value->str, &mark, &marks, &at) == NGX_OK
        && marks == 0)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a search filter (RFC 4515) such as "
                        "\"(objectClass=person)\", without \"{\".", path);
}


/* What may become somebody else's is no id. */

static ngx_int_t
ngx_svc_admin_ldap_id(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    size_t              i;
    u_char             *name;
    const char *const  *other;

    static const char *const  others[] = {
        "mail", "dn", "entryDN", "distinguishedName", NULL
    };

    name = value->str.data;

    for (i = 0; i < value->str.len; i++) {
        if (!isalnum(name[i]) && (i == 0 || !ngx_strchr("-.;", name[i]))) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be the name of an attribute such "
                                "as \"entryUUID\".", path);
        }
    }

    for (other = others; *other; other++) {
        if (ngx_strcasecmp(name, (u_char *) *other) == 0) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be an attribute that nobody else "
                                "can have later.", path);
        }
    }

    return NGX_OK;
}


/* Whose password the directory is asked for must be said: not everybody's. */

static ngx_int_t
ngx_svc_admin_ldap_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t              rc;
    ngx_svc_admin_ldap_t  *ldap = body;

    rc = ngx_svc_admin_ldap_server(sr, ldap);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_ldap_ca(sr, &ldap->ca_certificates);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_connection_take(sr, body, ngx_svc_admin_ldap_columns);
    }

    if (rc == NGX_OK
        && (!ldap->connection.domains.set || ldap->connection.domains.null))
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"domains\" is required: whose passwords the "
                            "directory is asked for.");
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_ldap_server(ngx_svc_request_t *sr, ngx_svc_admin_ldap_t *ldap)
{
    ngx_uint_t  ldaps;

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


/* Puts the certificates into the form in which OpenSSL writes them. */

static ngx_int_t
ngx_svc_admin_ldap_ca(ngx_svc_request_t *sr, ngx_svc_value_t *certificates)
{
    ngx_int_t    rc;
    ngx_str_t    pem;
    const char  *why;

    if (!certificates->set || certificates->null) {
        return NGX_OK;
    }

    rc = ngx_svc_certificate_bundle(&certificates->str, sr->request->pool,
                                    &pem, &why);

    if (rc == NGX_OK) {
        certificates->str = pem;
        return NGX_OK;
    }

    return rc == NGX_DECLINED ? ngx_svc_fail(&sr->error,
                                             NGX_SVC_E_INVALID_VALUE,
                                             "\"caCertificates\" must be %s.",
                                             why)
                              : rc;
}


/* A directory that was never configured has no other members. */

static ngx_int_t
ngx_svc_admin_ldap_reply(ngx_svc_request_t *sr)
{
    PGresult                 *res;
    ngx_svc_json_writer_t     w;
    ngx_svc_row_admin_ldap_t  row;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_ldap);

    ngx_svc_row_admin_ldap(&row, res, 0);

    if (row.configured) {
        return ngx_svc_route_answer(sr);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 32) != NGX_OK
        || ngx_svc_etag(sr, res, 0, ngx_svc_row_find(res, "_version"))
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_boolean(&w, "configured", 0);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
