/*
 * /v1/admin/saml: the identity provider of a tenant.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_attribute_map.h"
#include "ngx_svc_certificate.h"
#include "ngx_svc_connection.h"
#include "ngx_svc_url.h"


#define NGX_SVC_ADMIN_SAML_ENTITY        1024   /* characters; SAML's limit */
#define NGX_SVC_ADMIN_SAML_CERTIFICATES  5
#define NGX_SVC_ADMIN_SAML_BYTES         16384  /* all together */


typedef struct {
    ngx_svc_connection_t  connection;
    ngx_svc_value_t       enabled;
    ngx_svc_value_t       idp_entity_id;
    ngx_svc_value_t       idp_sso_url;
    ngx_svc_value_t       idp_certificates;
    ngx_svc_value_t       name_id_format;
    ngx_svc_value_t       attribute_mapping;
} ngx_svc_admin_saml_t;


static ngx_int_t ngx_svc_admin_saml_certificate(
    const ngx_svc_member_t *member, ngx_svc_value_t *value, const char *path,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_saml_format(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_saml_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_saml_needs(ngx_svc_request_t *sr,
    ngx_svc_value_t *value, const char *member);
static ngx_int_t ngx_svc_admin_saml_certificates(ngx_svc_request_t *sr,
    ngx_svc_value_t *certificates);


static const ngx_svc_member_t  ngx_svc_admin_saml_element = {
    .name = ngx_string("certificate"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_ADMIN_SAML_BYTES,
    .check = ngx_svc_admin_saml_certificate
};


static const ngx_svc_member_t  ngx_svc_admin_saml_members[] = {

    { .name = ngx_string("enabled"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_saml_t, enabled) },

    { .name = ngx_string("idpEntityId"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_SAML_ENTITY,
      .offset = offsetof(ngx_svc_admin_saml_t, idp_entity_id) },

    { .name = ngx_string("idpSsoUrl"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_URL_MAX,
      .check = ngx_svc_url_https,
      .offset = offsetof(ngx_svc_admin_saml_t, idp_sso_url) },

    { .name = ngx_string("idpCertificates"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_ADMIN_SAML_CERTIFICATES,
      .element = &ngx_svc_admin_saml_element,
      .offset = offsetof(ngx_svc_admin_saml_t, idp_certificates) },

    { .name = ngx_string("nameIdFormat"),
      .type = NGX_SVC_T_STRING,
      .check = ngx_svc_admin_saml_format,
      .offset = offsetof(ngx_svc_admin_saml_t, name_id_format) },

    { .name = ngx_string("attributeMapping"),
      .type = NGX_SVC_T_OBJECT|NGX_SVC_T_NULL,
      .check = ngx_svc_attribute_map_check,
      .offset = offsetof(ngx_svc_admin_saml_t, attribute_mapping) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_SAML_FORMAT   "emailAddress"


#define ngx_svc_admin_saml_column(field, member, absent)                      \
    ngx_svc_connection_column(ngx_svc_admin_saml_t, field, member, absent)

static const ngx_svc_connection_column_t  ngx_svc_admin_saml_columns[] = {
    ngx_svc_admin_saml_column(enabled, "enabled", "false"),
    ngx_svc_admin_saml_column(idp_entity_id, "idpEntityId", "null"),
    ngx_svc_admin_saml_column(idp_sso_url, "idpSsoUrl", "null"),
    ngx_svc_admin_saml_column(idp_certificates, "idpCertificates", "[]"),
    ngx_svc_admin_saml_column(name_id_format, "nameIdFormat",
                              "\"" NGX_SVC_ADMIN_SAML_FORMAT "\""),
    ngx_svc_admin_saml_column(attribute_mapping, "attributeMapping",
                              "{\"email\":\"email\"}"),
    ngx_svc_connection_shared(jit_provisioning, "jitProvisioning", "false"),
    ngx_svc_connection_shared(show_on_page, "showOnPage", "false"),
    ngx_svc_connection_column_end
};


#include "ngx_svc_admin_saml.sql.h"


const ngx_svc_route_t  ngx_svc_admin_saml[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/saml"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_saml } },

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/saml"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_CALLER,
      .members = ngx_svc_admin_saml_members,
      .body_size = sizeof(ngx_svc_admin_saml_t),
      .check = ngx_svc_admin_saml_check,
      .statements = { &ngx_svc_sql_admin_connections_lock,
                      &ngx_svc_sql_admin_connection_judge,
                      &ngx_svc_sql_admin_saml_put,
                      &ngx_svc_sql_admin_saml } },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_saml_certificate(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    const char  *why;

    if (ngx_svc_certificate_parse(&value->str, NULL, NULL, &why) == NGX_OK) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE, "\"%s\" must be %s.",
                        path, why);
}


static ngx_int_t
ngx_svc_admin_saml_format(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    const char *const  *known;

    static const char *const  formats[] = {
        NGX_SVC_ADMIN_SAML_FORMAT, "persistent", "transient", "unspecified",
        NULL
    };

    for (known = formats; *known; known++) {
        if (ngx_strlen(*known) == value->str.len
            && ngx_strncmp(*known, value->str.data, value->str.len) == 0)
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of \"emailAddress\", "
                        "\"persistent\", \"transient\" and \"unspecified\".",
                        path);
}


static ngx_int_t
ngx_svc_admin_saml_check(ngx_svc_request_t *sr, void *body)
{
    cJSON                 *item;
    size_t                 bytes;
    ngx_int_t              rc;
    ngx_svc_admin_saml_t  *saml = body;

    bytes = 0;

    if (saml->idp_certificates.set) {
        item = saml->idp_certificates.json->child;

        for ( /* void */ ; item; item = item->next) {
            bytes += ngx_strlen(item->valuestring);
        }
    }

    if (bytes > NGX_SVC_ADMIN_SAML_BYTES) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"idpCertificates\" must have at most %d bytes "
                            "together.", NGX_SVC_ADMIN_SAML_BYTES);
    }

    rc = NGX_OK;

    if (saml->enabled.integer) {
        rc = ngx_svc_admin_saml_needs(sr, &saml->idp_entity_id, "idpEntityId");

        if (rc == NGX_OK) {
            rc = ngx_svc_admin_saml_needs(sr, &saml->idp_sso_url, "idpSsoUrl");
        }

        if (rc == NGX_OK && bytes == 0) {
            saml->idp_certificates.null = 1;
            rc = ngx_svc_admin_saml_needs(sr, &saml->idp_certificates,
                                          "idpCertificates");
        }
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_saml_certificates(sr, &saml->idp_certificates);
    }

    return rc == NGX_OK ? ngx_svc_connection_take(sr, body,
                                                  ngx_svc_admin_saml_columns)
                        : rc;
}


static ngx_int_t
ngx_svc_admin_saml_needs(ngx_svc_request_t *sr, ngx_svc_value_t *value,
    const char *member)
{
    if (value->set && !value->null) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is required while \"enabled\" is true.",
                        member);
}


/* Puts the certificates into the form in which OpenSSL writes them. */

static ngx_int_t
ngx_svc_admin_saml_certificates(ngx_svc_request_t *sr,
    ngx_svc_value_t *certificates)
{
    cJSON       *item;
    u_char      *p;
    ngx_str_t    text, pem;
    const char  *why;

    if (!certificates->set) {
        return NGX_OK;
    }

    item = certificates->json->child;

    for ( /* void */ ; item; item = item->next) {
        text.data = (u_char *) item->valuestring;
        text.len = ngx_strlen(text.data);

        if (ngx_svc_certificate_parse(&text, sr->request->pool, &pem, &why)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        p = ngx_pnalloc(sr->request->pool, pem.len + 1);
        if (p == NULL) {
            return NGX_ERROR;
        }

        *ngx_cpymem(p, pem.data, pem.len) = '\0';
        item->valuestring = (char *) p;
    }

    return NGX_OK;
}
