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


#include "ngx_svc_admin_tenant.sql.h"


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


/* Branding that is far too large is refused before it is merged. */

static ngx_int_t
ngx_svc_admin_tenant_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_tenant_t *tenant = body;

    if (tenant->branding.set
        && ngx_svc_admin_tenant_least(tenant->branding.json)
           > NGX_SVC_ADMIN_BRANDING_SIZE)
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                            NGX_SVC_ADMIN_LARGE);
    }

    return NGX_OK;
}


/*
 * Returns how many bytes the value's text has at least: all its members but
 * nulls are in the merged object.
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


/* The tenant's public data has changed, or may have. */

void
ngx_svc_admin_tenant_committed(const ngx_svc_pg_results_t *results)
{
    ngx_str_t  tenant;

    ngx_svc_request_committed(results);

    if (ngx_svc_committed_tenant(results, &tenant) == NGX_OK) {
        ngx_svc_cache_change(&tenant);
    }
}
