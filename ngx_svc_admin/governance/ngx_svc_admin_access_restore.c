/*
 * /v1/admin/access-policy/versions/{id}/restore.
 */

#include "ngx_svc_admin_access.h"
#include "ngx_svc_admin_access_restore.row.h"


static ngx_int_t ngx_svc_admin_restore_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_restore_parse(ngx_svc_request_t *sr,
    const ngx_svc_row_admin_access_version_t *row);


#include "ngx_svc_admin_access_restore.sql.h"


const ngx_svc_route_t  ngx_svc_admin_access_restore[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/access-policy/versions/*/restore"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_access_version },
      .reply = ngx_svc_admin_restore_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_restore_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                           rc;
    ngx_svc_row_admin_access_version_t  row;

    ngx_svc_row_admin_access_version(&row,
                   ngx_svc_result(sr, &ngx_svc_sql_admin_access_version), 0);

    rc = sr->data ? NGX_OK : ngx_svc_admin_restore_parse(sr, &row);

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    return rc == NGX_OK ? ngx_svc_admin_access_change(sr, &row.version)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/*
 * A stored policy that was valid once may no longer be: a time zone may have
 * gone with an update.
 */

static ngx_int_t
ngx_svc_admin_restore_parse(ngx_svc_request_t *sr,
    const ngx_svc_row_admin_access_version_t *row)
{
    cJSON                   *json;
    ngx_str_t                snapshot;
    ngx_int_t                rc;
    ngx_pool_t              *pool;
    ngx_svc_admin_access_t  *access;

    pool = sr->request->pool;

    access = ngx_pcalloc(pool, sizeof(ngx_svc_admin_access_t));
    if (access == NULL) {
        return NGX_ERROR;
    }

    access->store = &ngx_svc_sql_admin_access_restore;
    sr->data = access;

    access->restored = ngx_svc_admin_access_copy(sr, row->id);
    snapshot = ngx_svc_admin_access_copy(sr, row->snapshot);

    if (access->restored.data == NULL || snapshot.data == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_json_parse(pool, &snapshot, &json, &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_access_parse(pool, ngx_svc_zones(), json, "snapshot", 0,
                                  &access->policy, &sr->error);
    }

    return rc == NGX_OK ? ngx_svc_admin_access_json(sr, access) : rc;
}
