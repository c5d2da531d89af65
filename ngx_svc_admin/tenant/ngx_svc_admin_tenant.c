/*
 * /v1/admin/tenant.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_tenant.h"


#define NGX_SVC_ADMIN_TENANT_NAME    120    /* characters */
#define NGX_SVC_ADMIN_BRANDING_SIZE  16384  /* bytes */


typedef struct {
    ngx_svc_value_t  name;
    ngx_svc_value_t  branding;
} ngx_svc_admin_tenant_t;


static ngx_int_t ngx_svc_admin_tenant_get_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_tenant_patch_prepare(ngx_svc_request_t *sr);
static size_t ngx_svc_admin_tenant_least(cJSON *json);
static ngx_int_t ngx_svc_admin_tenant_large(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_tenant_members[] = {

    { ngx_string("name"), NGX_SVC_T_TEXT, 0, 1, NGX_SVC_ADMIN_TENANT_NAME,
      NULL, NULL, NULL, offsetof(ngx_svc_admin_tenant_t, name) },

    { ngx_string("branding"), NGX_SVC_T_OBJECT, 0, 0, 0, NULL,
      NULL, NULL, offsetof(ngx_svc_admin_tenant_t, branding) },

    ngx_svc_null_member
};


/*
 * The row is locked, compared with what it would become, and written only when
 * that differs.  The two columns before the tenant's say whether the row is the
 * one that If-Match names, and whether the branding fits.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant = {
    .name = "admin_tenant",
    .text =
        "SELECT true, true, " NGX_SVC_ADMIN_TENANT_COLUMNS
        " FROM svc.tenant WHERE id = " NGX_SVC_TENANT,
    .nparams = 1
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_tenant_patch = {
    .name = "admin_tenant_patch",
    .text =
        "WITH o AS ("
            "SELECT * FROM svc.tenant WHERE id = " NGX_SVC_TENANT
            " FOR UPDATE"
        "), n AS ("
            "SELECT id, coalesce($3, name) AS name, svc.json_merge(branding,"
                " coalesce($2::text::jsonb -> 'branding', '{}') - 'logoUrl')"
                " AS branding, " NGX_SVC_ADMIN_TENANT_MATCHES("$4") " AS matches"
            " FROM o"
        "), f AS ("
            "SELECT *, octet_length(branding::text) <= $5::int4 AS fits FROM n"
        "), u AS ("
            "UPDATE svc.tenant t SET name = f.name, branding = f.branding,"
                " updated_at = " NGX_SVC_ADMIN_TENANT_MOVED
            " FROM f, o WHERE t.id = f.id AND f.matches AND f.fits"
                " AND (f.name, " NGX_SVC_ADMIN_SWITCHES " || f.branding)"
                " <> (o.name, " NGX_SVC_ADMIN_SWITCHES " || o.branding)"
            " RETURNING t.*"
        "), e AS ("
            "INSERT INTO svc.audit_event (action, target_type, target_id,"
                " target_name, details)"
            " SELECT 'tenant.updated', 'tenant', u.id::text, u.name,"
                " jsonb_build_object('changed', to_jsonb("
                "array_remove(ARRAY[CASE WHEN u.name <> o.name THEN 'name' END],"
                " NULL) || ARRAY(SELECT 'branding.' || key FROM"
                " (SELECT * FROM jsonb_each(u.branding) EXCEPT SELECT *"
                " FROM jsonb_each(" NGX_SVC_ADMIN_SWITCHES " || o.branding))"
                " added"
                " UNION SELECT 'branding.' || key FROM"
                " (SELECT jsonb_object_keys(o.branding) AS key"
                " EXCEPT SELECT jsonb_object_keys(u.branding)) gone"
                " ORDER BY 1)))"
            " FROM u, o"
        "), r AS ("
            "SELECT * FROM u"
            " UNION ALL SELECT * FROM o WHERE NOT EXISTS (SELECT FROM u)"
        ")"
        " SELECT f.matches, f.fits, " NGX_SVC_ADMIN_TENANT_COLUMNS_OF("r")
        " FROM r, f",
    .nparams = 5
};

ngx_svc_pg_statements_t  ngx_svc_admin_tenant_statements[] = {
    &ngx_svc_sql_admin_tenant,
    &ngx_svc_sql_admin_tenant_patch,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_tenant[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/tenant"),
      .prepare = ngx_svc_admin_tenant_get_prepare,
      .reply = ngx_svc_admin_tenant_reply },

    { .method = NGX_HTTP_PATCH,
      .path = ngx_string("/admin/tenant"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL,
      .prepare = ngx_svc_admin_tenant_patch_prepare,
      .reply = ngx_svc_admin_tenant_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_tenant_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_admin_tenant_call(sr, &ngx_svc_sql_admin_tenant)
           ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_tenant_patch_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_str_t                match;
    ngx_svc_value_t          any;
    ngx_svc_pg_call_t       *call;
    ngx_svc_admin_tenant_t   tenant;

    ngx_memzero(&tenant, sizeof(ngx_svc_admin_tenant_t));

    rc = ngx_svc_schema_object(ngx_svc_admin_tenant_members, 0, sr->json,
                               &tenant, &sr->error);

    if (rc == NGX_OK && tenant.branding.set) {
        rc = ngx_svc_schema_nested(ngx_svc_admin_branding_members, "branding",
                                   tenant.branding.json, &any, &sr->error);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (tenant.branding.set
        && ngx_svc_admin_tenant_least(tenant.branding.json)
           > NGX_SVC_ADMIN_BRANDING_SIZE)
    {
        return ngx_svc_admin_tenant_large(sr);
    }

    call = ngx_svc_admin_tenant_call(sr, &ngx_svc_sql_admin_tenant_patch);

    if (call == NULL || ngx_svc_if_match(sr, &match) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &sr->body);
    ngx_svc_pg_bind_str(call, tenant.name.set ? &tenant.name.str : NULL);
    ngx_svc_pg_bind_str(call, match.data ? &match : NULL);

    sr->op->committed = ngx_svc_admin_tenant_committed;

    return ngx_svc_pg_bind_int(sr->op, call, NGX_SVC_ADMIN_BRANDING_SIZE);
}


/*
 * How many bytes the value's text has at least: all of it that is not null is
 * in what a merge makes.  What is far too large need not be merged to tell.
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


static ngx_int_t
ngx_svc_admin_tenant_large(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "\"branding\" would be larger than %d bytes.",
                        NGX_SVC_ADMIN_BRANDING_SIZE);
}


ngx_svc_pg_call_t *
ngx_svc_admin_tenant_call(ngx_svc_request_t *sr,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_str_t           *url;
    ngx_svc_pg_call_t   *call;
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);
    url = &slcf->base_url;

    call = ngx_svc_pg_call(sr->op, statement);

    if (call) {
        ngx_svc_pg_bind_str(call, url);
    }

    return call;
}


ngx_int_t
ngx_svc_admin_tenant_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->results[0];

    if (PQntuples(res) == 0
        || ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_column_true(res, 0, 0)) {
        return ngx_svc_precondition_failed(sr);
    }

    if (!ngx_svc_column_true(res, 0, 1)) {
        (void) ngx_svc_admin_tenant_large(sr);
        return ngx_svc_send_error(sr);
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "tenant", '{');

    ngx_svc_column_text(&w, "id", res, 0, 2);
    ngx_svc_column_text(&w, "name", res, 0, 3);
    ngx_svc_column_text(&w, "slug", res, 0, 4);
    ngx_svc_column_raw(&w, "branding", res, 0, 5);
    ngx_svc_column_time(&w, "createdAt", res, 0, 6);
    ngx_svc_column_time(&w, "updatedAt", res, 0, 7);

    ngx_svc_json_close(&w, '}');
    ngx_svc_json_close(&w, '}');

    if (ngx_svc_etag(sr, res, 0, 8) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


/* What the public sees of the tenant has changed, or may have. */

void
ngx_svc_admin_tenant_committed(PGresult **results)
{
    ngx_str_t  tenant;

    ngx_svc_request_committed(results);

    if (results == NULL) {
        ngx_svc_cache_change(NULL);
        return;
    }

    if (PQntuples(results[0]) && !PQgetisnull(results[0], 0, 0)) {
        tenant = ngx_svc_pg_value(results[0], 0, 0);
        ngx_svc_cache_change(&tenant);
    }
}
