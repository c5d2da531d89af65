/*
 * /v1/admin/tenant.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_admin_tenant.h"


#define NGX_SVC_ADMIN_TENANT_NAME    120    /* characters */
#define NGX_SVC_ADMIN_BRANDING_SIZE  16384  /* bytes */


#define NGX_SVC_ADMIN_LARGE                                                   \
    "\"branding\" would be larger than "                                      \
    ngx_value(NGX_SVC_ADMIN_BRANDING_SIZE) " bytes."


static ngx_int_t ngx_svc_admin_tenant_check(ngx_svc_request_t *sr, void *body);
static size_t ngx_svc_admin_tenant_least(cJSON *json);


static const ngx_svc_member_t  ngx_svc_admin_tenant_members[] = {

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT,
      .min = 1,
      .max = NGX_SVC_ADMIN_TENANT_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_admin_tenant_t, name) },

    { .name = ngx_string("branding"),
      .type = NGX_SVC_T_OBJECT,
      .members = ngx_svc_admin_branding_members,
      .offset = offsetof(ngx_svc_admin_tenant_t, branding) },

    ngx_svc_null_member
};


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant = {
    .name = "admin_tenant",
    .text =
        "SELECT " NGX_SVC_ADMIN_TENANT_COLUMNS("tenant")
        " FROM svc.tenant WHERE id = " NGX_SVC_TENANT,
    NGX_SVC_PARAMS(ngx_svc_param_base_url())
};

/*
 * The row is locked, compared with what it would become, and written only when
 * that differs.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant_patch = {
    .name = "admin_tenant_patch",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.tenant WHERE id = " NGX_SVC_TENANT
            " FOR UPDATE"
        "), n AS ("
            "SELECT id, coalesce($3, name) AS name, svc.json_merge(branding,"
                " coalesce($2::text::jsonb -> 'branding', '{}') - 'logoUrl')"
                " AS branding, "
                NGX_SVC_ADMIN_TENANT_MATCHES("$4") " AS matches FROM o"
        "), f AS ("
            "SELECT *, octet_length(branding::text) <= $5::int4 AS fits FROM n"
        "), u AS ("
            "UPDATE svc.tenant t SET name = f.name, branding = f.branding,"
                " updated_at = " NGX_SVC_CHANGED_AT("t")
            " FROM f, o WHERE t.id = f.id AND f.matches AND f.fits"
                " AND (f.name, " NGX_SVC_ADMIN_SWITCHES " || f.branding)"
                " <> (o.name, " NGX_SVC_ADMIN_SWITCHES " || o.branding)"
            " RETURNING t.*"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_TENANT_UPDATED, "u.id::text", "u.name",
                "jsonb_build_object('changed', to_jsonb("
                "array_remove(ARRAY["
                NGX_SVC_DIFFERS("name", "name")
                "], NULL) || ARRAY(SELECT 'branding.' || key FROM"
                " (SELECT * FROM jsonb_each(u.branding) EXCEPT SELECT *"
                " FROM jsonb_each(" NGX_SVC_ADMIN_SWITCHES " || o.branding))"
                " added"
                " UNION SELECT 'branding.' || key FROM"
                " (SELECT jsonb_object_keys(o.branding) AS key"
                " EXCEPT SELECT jsonb_object_keys(u.branding)) gone"
                " ORDER BY 1)))", "FROM u, o")
        "), r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT CASE WHEN NOT f.matches THEN 'precondition'"
            " WHEN NOT f.fits THEN 'large' END AS _verdict, "
            NGX_SVC_ADMIN_TENANT_COLUMNS("r")
        " FROM r, f",
    NGX_SVC_PARAMS(ngx_svc_param_base_url(),
                   ngx_svc_param_body(),
                   ngx_svc_param_text(ngx_svc_admin_tenant_t, name),
                   ngx_svc_param_if_match(),
                   ngx_svc_param_constant(NGX_SVC_ADMIN_BRANDING_SIZE)),
    NGX_SVC_VERDICTS(
        ngx_svc_verdict_precondition,
        { "large", NGX_SVC_E_INVALID_REQUEST, NGX_SVC_ADMIN_LARGE })
};


const ngx_svc_route_t  ngx_svc_admin_tenant[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/tenant"),
      .statements = { &ngx_svc_sql_admin_tenant },
      .object = "tenant" },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/admin/tenant"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_admin_tenant_members,
      .body_size = sizeof(ngx_svc_admin_tenant_t),
      .check = ngx_svc_admin_tenant_check,
      .statements = { &ngx_svc_sql_admin_tenant_patch },
      .object = "tenant",
      .committed = ngx_svc_admin_tenant_committed },

    ngx_svc_null_route
};


/* What is far too large need not be merged to tell. */

static ngx_int_t
ngx_svc_admin_tenant_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_tenant_t *tenant = body;

    if (tenant->branding.set
        && ngx_svc_admin_tenant_least(tenant->branding.json)
           > NGX_SVC_ADMIN_BRANDING_SIZE)
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST, "%s",
                            NGX_SVC_ADMIN_LARGE);
    }

    return NGX_OK;
}


/*
 * How many bytes the value's text has at least: all of it that is not null is
 * in what a merge makes.
 */

static size_t
ngx_svc_admin_tenant_least(cJSON *json)
{
    size_t   size;
    cJSON   *child;

    if (cJSON_IsString(json)) {
        return ngx_strlen(json->valuestring) + 2;
    }

    if (!cJSON_IsObject(json) && !cJSON_IsArray(json)) {
        return 1;
    }

    size = 2;

    for (child = json->child; child; child = child->next) {

        if (cJSON_IsObject(json)) {
            if (cJSON_IsNull(child)) {
                continue;
            }

            size += ngx_strlen(child->string) + 3;
        }

        size += ngx_svc_admin_tenant_least(child);
    }

    return size;
}


/* What the public sees of the tenant has changed, or may have. */

void
ngx_svc_admin_tenant_committed(const ngx_svc_pg_results_t *results)
{
    ngx_str_t  tenant;

    ngx_svc_request_committed(results);

    if (ngx_svc_committed_tenant(results, &tenant) == NGX_OK) {
        ngx_svc_cache_change(&tenant);
    }
}
