/*
 * POST /v1/admin/agents/{clientId}/policy/simulate: what a policy would have
 * made of the tokens of the last days, and what becomes of the live ones.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_application_resource.h"


#define NGX_SVC_ADMIN_AGENT_SIMULATE_DAYS    30
#define NGX_SVC_ADMIN_AGENT_SIMULATE_TOKENS  10000
#define NGX_SVC_ADMIN_AGENT_SIMULATE_VALUES  100


static ngx_int_t ngx_svc_admin_agent_issuer(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_admin_agent_simulate.sql.h"


const ngx_svc_route_t  ngx_svc_admin_agent_simulate[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/agents/*/policy/simulate"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SLOW_POOL|NGX_SVC_ROUTE_STRICT,
      .members = ngx_svc_agent_policy_members,
      .body_size = sizeof(ngx_svc_agent_policy_t),
      .check = ngx_svc_agent_policy_check,
      .statements = { &ngx_svc_sql_admin_agent_simulate } },

    ngx_svc_null_route
};


/* Binds the key of a tenant's issuer without the slug that it ends with. */

static ngx_int_t
ngx_svc_admin_agent_issuer(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char              *p;
    ngx_str_t            uri, key;
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    uri.len = slcf->base_url.len + sizeof("/oauth/t/") - 1;

    p = ngx_pnalloc(sr->request->pool, 2 * uri.len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    uri.data = p;
    key.data = p + uri.len;

    p = ngx_cpymem(p, slcf->base_url.data, slcf->base_url.len);
    ngx_memcpy(p, "/oauth/t/", sizeof("/oauth/t/") - 1);

    ngx_svc_pg_bind_str(call, ngx_svc_application_resource(&uri, &key) == NGX_OK
                              ? &key : NULL);

    return NGX_OK;
}
