/*
 * /v1/admin/saml-idp: what a tenant is to applications that speak SAML.
 *
 * The first GET or POST of a tenant finds no key, and has one made, see
 * ngx_svc_admin_saml_idp_key.c.
 */

#include "ngx_svc_admin_saml_idp_key.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_url.h"


#define NGX_SVC_ADMIN_SAML_APPS      100    /* of a tenant */
#define NGX_SVC_ADMIN_SAML_APP_NAME  100    /* characters */

#define NGX_SVC_ADMIN_NO_SAML_APP                                             \
    "There is no SAML application with this id."


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  sp_entity_id;
    ngx_svc_value_t  acs_url;
} ngx_svc_admin_saml_app_t;


static ngx_int_t ngx_svc_admin_saml_idp_reply(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_saml_app_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_SAML_APP_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_admin_saml_app_t, name) },

    { .name = ngx_string("spEntityId"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_URL_MAX,
      .check = ngx_svc_url_https,
      .offset = offsetof(ngx_svc_admin_saml_app_t, sp_entity_id) },

    { .name = ngx_string("acsUrl"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_URL_MAX,
      .check = ngx_svc_url_https,
      .offset = offsetof(ngx_svc_admin_saml_app_t, acs_url) },

    ngx_svc_null_member
};


/* $1: "svc_base_url" */

#define NGX_SVC_ADMIN_SAML_IDP_URL                                            \
    "$1 || '/v1/tenants/' || t.slug || '/saml-idp"

#define NGX_SVC_ADMIN_SAML_IDP_APPS                                           \
    "(SELECT coalesce(json_agg(json_build_object('id', a.id, 'name', a.name," \
        " 'spEntityId', a.sp_entity_id, 'acsUrl', a.acs_url,"                 \
        " 'nameIdFormat', a.name_id_format, 'enabled', a.enabled,"            \
        " 'createdAt', to_char(a.created_at AT TIME ZONE 'UTC',"              \
            " 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))"                          \
        " ORDER BY a.created_at DESC, a.id DESC), '[]')"                      \
    " FROM svc.saml_app a WHERE a.tenant_id = " NGX_SVC_TENANT ")"

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_saml_idp = {
    .name = "admin_saml_idp",
    .text =
        "SELECT i.tenant_id IS NULL AS _keyless, t.slug AS _slug, "
            NGX_SVC_ADMIN_SAML_IDP_URL "/metadata' AS \"entityId\", "
            NGX_SVC_ADMIN_SAML_IDP_URL "/sso' AS \"ssoUrl\", "
            NGX_SVC_ADMIN_SAML_IDP_URL "/metadata' AS \"metadataUrl\","
            " i.certificate, " NGX_SVC_ADMIN_SAML_IDP_APPS " AS apps"
        " FROM svc.tenant t LEFT JOIN svc.saml_idp i ON i.tenant_id = t.id"
        " WHERE t.id = " NGX_SVC_TENANT,
    NGX_SVC_PARAMS(ngx_svc_param_base_url())
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_saml_apps_lock = {
    .name = "admin_saml_apps_lock",
    .text = NGX_SVC_LIMIT_LOCK("svc.saml_app")
};

/* Without a key nothing is added. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_saml_apps_create = {
    .name = "admin_saml_apps_create",
    .text =
        "WITH n AS ("
            "SELECT " NGX_SVC_TENANT_OR_NULL " AS tenant, (SELECT count(*)"
                " FROM svc.saml_app a WHERE a.tenant_id = " NGX_SVC_TENANT
                ") < $5::int4 AS room, EXISTS (SELECT FROM svc.saml_app a"
                    " WHERE a.tenant_id = " NGX_SVC_TENANT
                    " AND a.sp_entity_id = $3) AS own,"
                " EXISTS (SELECT FROM svc.saml_idp i"
                    " WHERE i.tenant_id = " NGX_SVC_TENANT ") AS keyed,"
                " (SELECT t.slug FROM svc.tenant t"
                    " WHERE t.id = " NGX_SVC_TENANT ") AS slug"
        "), a AS ("
            "INSERT INTO svc.saml_app (tenant_id, id, name, sp_entity_id,"
                " acs_url)"
            " SELECT n.tenant, $1::uuid, $2, $3, $4 FROM n"
            " WHERE n.tenant IS NOT NULL AND n.keyed AND n.room AND NOT n.own"
            " ON CONFLICT DO NOTHING RETURNING *"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SAML_UPDATED, "a.id::text", "a.name",
                          "jsonb_build_object('changed', '[\"apps\"]'::jsonb,"
                          " 'added', a.sp_entity_id)", "FROM a")
        ")"
        " SELECT CASE WHEN NOT n.keyed THEN NULL WHEN n.own THEN 'taken'"
            " WHEN NOT n.room THEN 'full' WHEN a.id IS NULL THEN 'taken' END"
            " AS _verdict, NOT n.keyed AS _keyless, n.slug AS _slug,"
            " a.id, a.name, a.sp_entity_id AS \"spEntityId\","
            " a.acs_url AS \"acsUrl\", a.name_id_format AS \"nameIdFormat\","
            " a.enabled, a.created_at AS \"createdAt\""
        " FROM n LEFT JOIN a ON true",
    NGX_SVC_PARAMS(ngx_svc_param_new_id(),
                   ngx_svc_param_text(ngx_svc_admin_saml_app_t, name),
                   ngx_svc_param_text(ngx_svc_admin_saml_app_t, sp_entity_id),
                   ngx_svc_param_text(ngx_svc_admin_saml_app_t, acs_url),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_SAML_APPS)),
    NGX_SVC_VERDICTS(
        { "taken", NGX_SVC_E_CONFLICT,
          "There is an application with this \"spEntityId\" already." },
        { "full", NGX_SVC_E_LIMIT_EXCEEDED,
          "The tenant has " ngx_value(NGX_SVC_ADMIN_SAML_APPS)
          " SAML applications: delete one." })
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_saml_apps_delete = {
    .name = "admin_saml_apps_delete",
    .text =
        "WITH a AS ("
            "DELETE FROM svc.saml_app a WHERE a.tenant_id = " NGX_SVC_TENANT
                " AND a.id = $1::uuid RETURNING a.id, a.name, a.sp_entity_id"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_SAML_UPDATED, "a.id::text", "a.name",
                          "jsonb_build_object('changed', '[\"apps\"]'::jsonb,"
                          " 'removed', a.sp_entity_id)", "FROM a")
        ")"
        " SELECT a.id FROM a",
    NGX_SVC_PARAMS(ngx_svc_param_path_id(0, NGX_SVC_ADMIN_NO_SAML_APP)),
    .missing = NGX_SVC_ADMIN_NO_SAML_APP
};


const ngx_svc_route_t  ngx_svc_admin_saml_idp[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/saml-idp"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .statements = { &ngx_svc_sql_admin_saml_idp },
      .reply = ngx_svc_admin_saml_idp_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/saml-idp/apps"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE,
      .members = ngx_svc_admin_saml_app_members,
      .body_size = sizeof(ngx_svc_admin_saml_app_t),
      .statements = { &ngx_svc_sql_admin_saml_apps_lock,
                      &ngx_svc_sql_admin_saml_apps_create },
      .reply = ngx_svc_admin_saml_idp_reply,
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/saml-idp/apps/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_saml_apps_delete },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_saml_idp_reply(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_route_final(sr);

    if (ngx_svc_row_true(res, 0, "_keyless")) {
        return ngx_svc_admin_saml_idp_make(sr, res);
    }

    return ngx_svc_route_answer(sr);
}
