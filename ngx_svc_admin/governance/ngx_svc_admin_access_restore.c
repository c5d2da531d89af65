/*
 * /v1/admin/access-policy/versions/{id}/restore.
 */

#include "ngx_svc_admin_access.h"


#define NGX_SVC_ADMIN_NO_VERSION  "There is no version with this id: it may " \
                                  "be older than the ones that are kept."


typedef struct {
    ngx_svc_access_policy_t  *policy;
    ngx_str_t                 json;
    ngx_str_t                 match;        /* versions; no data: any */
    ngx_str_t                 number;       /* of the latest version */
    ngx_str_t                 id;           /* of the one to restore */
    ngx_uint_t                tries;
} ngx_svc_admin_restore_t;


static ngx_int_t ngx_svc_admin_access_restore_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_access_restore_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_restore_read(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_restore_parse(ngx_svc_request_t *sr,
    ngx_svc_admin_restore_t *restore);
static ngx_int_t ngx_svc_admin_restore_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_restore_written(ngx_svc_request_t *sr);


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_access_version = {
    .name = "admin_access_version",
    .text =
        "SELECT v.id, v.snapshot, g.access_number, "
            NGX_SVC_IF_MATCH("$2", "g.access_number")
        " FROM svc.access_policy_version v"
        " JOIN svc.governance g USING (tenant_id) WHERE v.id = $1",
    .nparams = 2
};

ngx_svc_pg_statements_t  ngx_svc_admin_access_restore_statements[] = {
    &ngx_svc_sql_admin_access_version,
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_access_restore[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/access-policy/versions/*/restore"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .prepare = ngx_svc_admin_access_restore_prepare,
      .reply = ngx_svc_admin_access_restore_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_access_restore_prepare(ngx_svc_request_t *sr)
{
    ngx_svc_admin_restore_t  *restore;

    restore = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_restore_t));

    if (restore == NULL
        || ngx_svc_if_match(sr, &restore->match) != NGX_OK)
    {
        return NGX_ERROR;
    }

    sr->data = restore;

    return ngx_svc_admin_restore_read(sr);
}


static ngx_int_t
ngx_svc_admin_restore_read(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_pg_call_t        *call;
    ngx_svc_admin_restore_t  *restore;

    restore = sr->data;

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_admin_access_version);

    rc = ngx_svc_param_uuid(sr, 0, call, NGX_SVC_ADMIN_NO_VERSION);

    if (rc == NGX_OK) {
        ngx_svc_pg_bind_str(call, restore->match.data ? &restore->match
                                                      : NULL);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_access_restore_reply(ngx_svc_request_t *sr)
{
    PGresult                 *res;
    ngx_int_t                 rc;
    ngx_svc_access_caller_t   caller;
    ngx_svc_admin_restore_t  *restore;

    res = sr->results[0];
    restore = sr->data;

    if (PQntuples(res) == 0) {
        return ngx_svc_not_found(sr, NGX_SVC_ADMIN_NO_VERSION);
    }

    if (!ngx_svc_column_true(res, 0, 3)) {
        return ngx_svc_precondition_failed(sr);
    }

    rc = restore->policy ? NGX_OK : ngx_svc_admin_restore_parse(sr, restore);

    if (rc == NGX_OK) {
        rc = ngx_svc_access_caller(sr, &caller);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_access_lockout(restore->policy, &caller, &sr->error);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    restore->number = ngx_svc_admin_access_copy(sr, res, 2);

    if (rc != NGX_OK || restore->number.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_restore_write,
                                 ngx_svc_admin_restore_written);
}


/*
 * What was valid once may no longer be: a time zone may have gone with an
 * update.
 */

static ngx_int_t
ngx_svc_admin_restore_parse(ngx_svc_request_t *sr,
    ngx_svc_admin_restore_t *restore)
{
    cJSON       *json;
    ngx_str_t    snapshot;
    ngx_int_t    rc;
    ngx_pool_t  *pool;

    pool = sr->request->pool;

    restore->id = ngx_svc_admin_access_copy(sr, sr->results[0], 0);
    snapshot = ngx_svc_admin_access_copy(sr, sr->results[0], 1);

    if (restore->id.data == NULL || snapshot.data == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_json_parse(pool, &snapshot, &json, &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_access_parse(pool, ngx_svc_zones(), json, "snapshot", 0,
                                  &restore->policy, &sr->error);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_admin_access_json(sr, restore->policy, &restore->json);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_restore_write(ngx_svc_request_t *sr)
{
    ngx_svc_admin_restore_t  *restore;

    restore = sr->data;

    return ngx_svc_admin_access_store(sr, &restore->json, &restore->number,
                                      "restore", &restore->id);
}


static ngx_int_t
ngx_svc_admin_restore_written(ngx_svc_request_t *sr)
{
    PGresult                 *res;
    ngx_svc_json_writer_t     w;
    ngx_svc_admin_restore_t  *restore;

    res = sr->results[NGX_SVC_ADMIN_ACCESS_STORED];
    restore = sr->data;

    if (PQntuples(res) == 0) {

        if (++restore->tries == NGX_SVC_ADMIN_ACCESS_TRIES) {
            return ngx_svc_admin_access_busy(sr);
        }

        return ngx_svc_request_again(sr, NGX_SVC_PG_READ,
                                     ngx_svc_admin_restore_read,
                                     ngx_svc_admin_access_restore_reply);
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, 1024) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_admin_access_version_write(&w, res, 0, 0, 1);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
