/*
 * PUT /v1/admin/domains/{domain}/sign-in: by which connection alone the people
 * of a domain come in.
 *
 * The domain's trigger writes the event, and tells it to those who read the
 * tenant's row; see svc.domain_sign_in().
 */

#include "ngx_svc_admin_domain.h"
#include "ngx_svc_admin_tenant.h"
#include "ngx_svc_ceremony.h"


#define NGX_SVC_ADMIN_CONNECTION  64        /* bytes of a connection's key */


typedef struct {
    ngx_svc_value_t  connection;
    ngx_svc_value_t  include_subdomains;
    ngx_svc_value_t  end_sessions;
} ngx_svc_admin_sign_in_t;


ngx_svc_bind_function(ngx_svc_admin_sign_in_rp);


static const ngx_svc_member_t  ngx_svc_admin_sign_in_members[] = {

    { .name = ngx_string("connection"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_CONNECTION,
      .offset = offsetof(ngx_svc_admin_sign_in_t, connection) },

    { .name = ngx_string("includeSubdomains"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_sign_in_t, include_subdomains) },

    { .name = ngx_string("endSessions"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_sign_in_t, end_sessions) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_domain_sign_in.sql.h"


const ngx_svc_route_t  ngx_svc_admin_domain_sign_in[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/domains/*/sign-in"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_sign_in_members,
      .body_size = sizeof(ngx_svc_admin_sign_in_t),
      .statements = { &ngx_svc_sql_admin_domain_sign_in_lock,
                      &ngx_svc_sql_admin_domain_sign_in },
      .committed = ngx_svc_admin_tenant_committed },

    ngx_svc_null_route
};


/* The rpId of svc_base_url; NULL: browsers make no passkeys there. */

ngx_int_t
ngx_svc_admin_sign_in_rp(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t                     rc;
    ngx_svc_webauthn_ceremony_t   ceremony;

    rc = ngx_svc_ceremony(sr, NGX_SVC_WEBAUTHN_SIGN_IN, 0, &ceremony);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    sr->error.kind = NGX_SVC_E_NONE;

    ngx_svc_pg_bind_str(call, rc == NGX_OK ? &ceremony.rp_id : NULL);

    return NGX_OK;
}
