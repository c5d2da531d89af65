/*
 * /v1/admin/domains: names of hosts at which a tenant's users sign in.
 */

#include "ngx_svc_admin_domain.h"
#include "ngx_svc_admin_tenant.h"
#include "ngx_svc_args.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_domain.h"


#define NGX_SVC_ADMIN_DOMAINS       100     /* of a tenant */
#define NGX_SVC_ADMIN_DOMAIN_TOKEN  32      /* random bytes */


typedef struct {
    ngx_svc_value_t  domain;
} ngx_svc_admin_domain_body_t;


static ngx_int_t ngx_svc_admin_domain_check(ngx_svc_request_t *sr, void *body);
static ngx_uint_t ngx_svc_admin_domain_ours(ngx_svc_request_t *sr,
    ngx_str_t *name);
static ngx_int_t ngx_svc_admin_domain_bind_name(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_domain_bind_token(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


static const ngx_svc_member_t  ngx_svc_admin_domain_members[] = {

    { .name = ngx_string("domain"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_DOMAIN_TEXT,
      .offset = offsetof(ngx_svc_admin_domain_body_t, domain) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_domains.sql.h"


const ngx_svc_route_t  ngx_svc_admin_domains[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/domains"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_domains_total,
                      &ngx_svc_sql_admin_domains_list },
      .list = "domains",
      .total = &ngx_svc_sql_admin_domains_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/domains"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_domain_members,
      .body_size = sizeof(ngx_svc_admin_domain_body_t),
      .check = ngx_svc_admin_domain_check,
      .statements = { &ngx_svc_sql_admin_domains_lock,
                      &ngx_svc_sql_admin_domains_create },
      .status = NGX_HTTP_CREATED },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/domains/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_admin_domain_read } },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/domains/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_domains_delete },
      .status = NGX_HTTP_NO_CONTENT,
      .committed = ngx_svc_admin_tenant_committed },

    ngx_svc_null_route
};


/*
 * The name to be stored is allocated from the request's pool, and takes the
 * place of the text in the body.
 */

static ngx_int_t
ngx_svc_admin_domain_check(ngx_svc_request_t *sr, void *body)
{
    u_char                       *name;
    ngx_int_t                     rc;
    ngx_str_t                    *domain;
    const char                   *why;
    ngx_svc_admin_domain_body_t  *members = body;

    domain = &members->domain.str;

    name = ngx_pnalloc(sr->request->pool, NGX_SVC_DOMAIN_MAX);
    if (name == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_domain_parse(domain, name, &domain->len, &why);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? ngx_svc_fail(&sr->error,
                                                 NGX_SVC_E_INVALID_VALUE,
                                                 "\"domain\" %s.", why)
                                  : rc;
    }

    domain->data = name;

    if (ngx_svc_admin_domain_ours(sr, domain)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"domain\" is the host of this service, where "
                            "all tenants sign in.");
    }

    return NGX_OK;
}


/* Returns 1 when the name is the host of svc_base_url. */

static ngx_uint_t
ngx_svc_admin_domain_ours(ngx_svc_request_t *sr, ngx_str_t *name)
{
    ngx_str_t           *host;
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);
    host = &slcf->base_host;

    return host->len >= name->len
           && ngx_strncasecmp(host->data, name->data, name->len) == 0
           && (host->len == name->len || host->data[name->len] == '.');
}


ngx_int_t
ngx_svc_admin_domain_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char      *name;
    size_t       len;
    ngx_int_t    rc;
    const char  *why;

    name = ngx_pnalloc(sr->request->pool, NGX_SVC_DOMAIN_MAX);
    if (name == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_domain_parse(&sr->params[0], name, &len, &why);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? ngx_svc_fail(&sr->error,
                                                 NGX_SVC_E_NOT_FOUND, "%s",
                                                 NGX_SVC_ADMIN_NO_DOMAIN)
                                  : rc;
    }

    ngx_svc_pg_bind(call, name, len);

    return NGX_OK;
}


/* Binds "q" if it is a name, as it would be stored; or NULL. */

static ngx_int_t
ngx_svc_admin_domain_bind_name(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char      *name;
    size_t       len;
    ngx_int_t    rc;
    ngx_str_t    q;
    const char  *why;

    rc = ngx_svc_text_argument(sr, "q", NGX_SVC_PAGE_QUERY, &q);

    if (rc != NGX_OK || q.len == 0) {
        ngx_svc_pg_bind_str(call, NULL);
        return rc;
    }

    name = ngx_pnalloc(sr->request->pool, NGX_SVC_DOMAIN_MAX);
    if (name == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_domain_parse(&q, name, &len, &why);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_DECLINED) {
        ngx_svc_pg_bind_str(call, NULL);

    } else {
        ngx_svc_pg_bind(call, name, len);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_domain_bind_token(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char  *text, token[NGX_SVC_ADMIN_DOMAIN_TOKEN];
    size_t   len;

    len = ngx_svc_base64url_len(NGX_SVC_ADMIN_DOMAIN_TOKEN);

    text = ngx_pnalloc(sr->request->pool, len);

    if (text == NULL
        || ngx_svc_random(token, NGX_SVC_ADMIN_DOMAIN_TOKEN) != NGX_OK)
    {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(text, token, NGX_SVC_ADMIN_DOMAIN_TOKEN);

    ngx_svc_pg_bind(call, text, len);

    return NGX_OK;
}
