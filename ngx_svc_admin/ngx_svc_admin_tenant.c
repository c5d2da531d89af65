/*
 * /v1/admin/tenant.
 */

#include "ngx_svc_admin.h"


/* The two switches are always there; a key that is stored comes last, and wins. */

const ngx_svc_pg_statement_t  ngx_svc_admin_tenant_statements[] = {

    { "admin_tenant",
      "SELECT id, name, slug,"
      " '{\"allowSelfSignup\":false,\"allowPasswordless\":false}'::jsonb"
      " || branding, created_at, updated_at FROM svc.tenant"
      " WHERE id = " NGX_SVC_ADMIN_TENANT, 0 },

    { NULL, NULL, 0 }
};


ngx_int_t
ngx_svc_admin_tenant_get_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_pg_call(sr->op, &ngx_svc_admin_tenant_statements[0])
           ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_admin_tenant_reply(ngx_svc_request_t *sr)
{
    PGresult               *res;
    ngx_svc_json_writer_t   w;

    res = sr->op->results[1];

    if (PQntuples(res) == 0
        || ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "tenant", '{');

    ngx_svc_admin_text(&w, "id", res, 0, 0);
    ngx_svc_admin_text(&w, "name", res, 0, 1);
    ngx_svc_admin_text(&w, "slug", res, 0, 2);
    ngx_svc_admin_raw(&w, "branding", res, 0, 3);
    ngx_svc_admin_time(&w, "createdAt", res, 0, 4);
    ngx_svc_admin_time(&w, "updatedAt", res, 0, 5);

    ngx_svc_json_close(&w, '}');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
