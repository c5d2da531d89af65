/*
 * /v1/admin/config and /v1/admin/config/plan.
 */

#include "ngx_svc_admin_config.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_row.h"


#define NGX_SVC_ADMIN_CONFIG_SIZE  4096     /* first guess, in bytes */


static ngx_int_t ngx_svc_admin_config_get_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_config_plan_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_config_plan_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_config_flag(ngx_svc_request_t *sr,
    const char *name, ngx_uint_t *flag);


const ngx_svc_route_t  ngx_svc_admin_config[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/config"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_bundle },
      .reply = ngx_svc_admin_config_get_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/config/plan"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_CALLER,
      .check = ngx_svc_admin_config_plan_check,
      .statements = { &ngx_svc_sql_admin_bundle },
      .reply = ngx_svc_admin_config_plan_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_config_get_reply(ngx_svc_request_t *sr)
{
    PGresult                *res;
    ngx_pool_t              *pool;
    ngx_svc_json_writer_t    w;
    ngx_svc_admin_bundle_t   bundle;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_bundle);
    pool = sr->request->pool;

    if (ngx_svc_admin_bundle_live(pool, res, &bundle) != NGX_OK
        || ngx_svc_json_writer_init(&w, pool, NGX_SVC_ADMIN_CONFIG_SIZE)
           != NGX_OK
        || ngx_svc_etag(sr, res, 0, ngx_svc_row_find(res, "revision"))
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_admin_bundle_write(&w, &bundle);

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_admin_config_plan_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_config_t  *config;

    config = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_config_t));
    if (config == NULL) {
        return NGX_ERROR;
    }

    sr->data = config;

    return ngx_svc_admin_config_take(sr, config);
}


static ngx_int_t
ngx_svc_admin_config_plan_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                rc;
    ngx_pool_t              *pool;
    ngx_svc_json_writer_t    w;
    ngx_svc_admin_config_t  *config;

    config = sr->data;
    pool = sr->request->pool;

    rc = ngx_svc_admin_config_plan(sr, pool, config);

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK
        || ngx_svc_json_writer_init(&w, pool, NGX_SVC_ADMIN_CONFIG_SIZE)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_admin_plan_write(&w, &config->plan, config->detail,
                             &config->live.revision);

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


ngx_int_t
ngx_svc_admin_config_take(ngx_svc_request_t *sr,
    ngx_svc_admin_config_t *config)
{
    ngx_int_t  rc;

    rc = ngx_svc_admin_config_flag(sr, "detail", &config->detail);

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_config_flag(sr, "prune", &config->plan.prune);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_bundle_parse(sr->request->pool, ngx_svc_zones(),
                                        sr->json, &config->candidate,
                                        &sr->error);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    config->plan.live = &config->live;
    config->plan.candidate = &config->candidate;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_config_flag(ngx_svc_request_t *sr, const char *name,
    ngx_uint_t *flag)
{
    ngx_int_t  rc, n;

    static const char *const  words[] = { "false", "true", "0", "1", NULL };

    rc = ngx_svc_word_argument(sr, name, words, &n);

    *flag = (n == 1 || n == 3);

    return rc;
}


ngx_int_t
ngx_svc_admin_config_plan(ngx_svc_request_t *sr, ngx_pool_t *pool,
    ngx_svc_admin_config_t *config)
{
    PGresult                *res;
    ngx_int_t                rc;
    ngx_str_t                tenant;
    ngx_svc_admin_bundle_t  *live;

    live = &config->live;
    res = ngx_svc_result(sr, &ngx_svc_sql_admin_bundle);

    if (ngx_svc_admin_bundle_live(pool, res, live) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_admin_plan_groups(&config->plan, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    if (config->candidate.sections & (1 << NGX_SVC_ADMIN_ACCESS)) {

        tenant = ngx_svc_auth_tenant(sr->op->results);

        live->access = ngx_svc_access_cached(ngx_svc_zones(), &tenant,
                           ngx_atoof(live->access_number.data,
                                     live->access_number.len),
                           &live->access_json, sr->request->connection->log);

        if (ngx_svc_access_caller(sr, &config->plan.caller) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return ngx_svc_admin_plan_make(pool, &config->plan);
}
