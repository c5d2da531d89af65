/*
 * POST /v1/applications.
 */

#include "ngx_svc_application_secret.h"
#include "ngx_svc_application_store.h"
#include "ngx_svc_oauth_jwks.h"


static ngx_int_t ngx_svc_admin_application_new(ngx_svc_request_t *sr,
    void *body);
static void ngx_svc_admin_application_created(
    const ngx_svc_pg_results_t *results);


#include "ngx_svc_admin_application_create.sql.h"


const ngx_svc_route_t  ngx_svc_admin_application_create[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/applications"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_SENSITIVE|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_application_create_members,
      .body_size = sizeof(ngx_svc_application_t),
      .check = ngx_svc_admin_application_new,
      .statements = { &ngx_svc_sql_admin_applications_lock,
                      &ngx_svc_sql_admin_applications_create },
      .status = NGX_HTTP_CREATED,
      .committed = ngx_svc_admin_application_created,
      .more = ngx_svc_application_secret_write },

    ngx_svc_null_route
};


/* Makes the clientId and the secret, which are sr->data until the answer. */

static ngx_int_t
ngx_svc_admin_application_new(ngx_svc_request_t *sr, void *body)
{
    u_char                             random[NGX_SVC_APPLICATION_RANDOM];
    ngx_int_t                          rc;
    ngx_str_t                          id;
    ngx_svc_application_t             *app = body;
    const ngx_svc_application_type_t  *type;

    rc = ngx_svc_application_check(sr, body);
    if (rc != NGX_OK) {
        return rc;
    }

    type = ngx_svc_application_type(&app->type.str);
    id.data = ngx_pnalloc(sr->request->pool, NGX_SVC_APPLICATION_ID);

    if (type == NULL || id.data == NULL
        || ngx_svc_random(random, sizeof(random)) != NGX_OK)
    {
        return NGX_ERROR;
    }

    id.len = NGX_SVC_APPLICATION_ID;
    ngx_hex_dump(ngx_cpymem(id.data, type->prefix, NGX_SVC_APPLICATION_PREFIX),
                 random, sizeof(random));

    sr->data = ngx_svc_application_secret_new(sr, &id,
                                       ngx_strcmp(type->method, "none") != 0
                                       && !ngx_svc_application_by_keys(app));

    return sr->data ? NGX_OK : NGX_ERROR;
}


static void
ngx_svc_admin_application_created(const ngx_svc_pg_results_t *results)
{
    ngx_svc_row_admin_applications_create_t  row;

    ngx_svc_row_admin_applications_create(&row,
        ngx_svc_pg_result(results, &ngx_svc_sql_admin_applications_create), 0);

    ngx_svc_oauth_jwks_committed(results, &row.fetch);
}
