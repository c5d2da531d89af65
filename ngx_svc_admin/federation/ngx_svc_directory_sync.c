/*
 * /v1/admin/ldap/sync: the import of the tenant's directory.
 */

#include "ngx_svc_admin_limit.h"
#include "ngx_svc_directory_import.h"
#include "ngx_svc_ldap_directory.h"
#include "ngx_svc_submit.h"


typedef struct {
    ngx_svc_value_t  force;
} ngx_svc_directory_sync_t;


static ngx_uint_t ngx_svc_directory_sync_later(const void *body);
static ngx_int_t ngx_svc_directory_sync_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_directory_sync_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_directory_sync_ask(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_directory_sync_write(ngx_svc_request_t *sr);
static void ngx_svc_directory_sync_committed(
    const ngx_svc_pg_results_t *results);


static const ngx_svc_member_t  ngx_svc_directory_sync_members[] = {

    { .name = ngx_string("force"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_directory_sync_t, force) },

    ngx_svc_null_member
};


#include "ngx_svc_directory_sync.sql.h"


/* The second statement of POST runs when the limit has admitted the request. */

const ngx_svc_route_t  ngx_svc_directory_sync[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/ldap/sync"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .statements = { &ngx_svc_sql_directory_sync } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/ldap/sync"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_EMPTY|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_directory_sync_members,
      .body_size = sizeof(ngx_svc_directory_sync_t),
      .check = ngx_svc_directory_sync_check,
      .statements = { &ngx_svc_sql_directory_sync,
                      &ngx_svc_sql_directory_sync_begin },
      .reply = ngx_svc_directory_sync_reply,
      .status = NGX_HTTP_ACCEPTED },

    ngx_svc_null_route
};


static ngx_uint_t
ngx_svc_directory_sync_later(const void *body)
{
    return 0;
}


static ngx_int_t
ngx_svc_directory_sync_check(ngx_svc_request_t *sr, void *body)
{
    sr->data = ngx_palloc(sr->request->pool, sizeof(ngx_svc_directory_sync_t));

    if (sr->data == NULL) {
        return NGX_ERROR;
    }

    *(ngx_svc_directory_sync_t *) sr->data = *(ngx_svc_directory_sync_t *) body;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_directory_sync_reply(ngx_svc_request_t *sr)
{
    u_char     tenant[NGX_SVC_UUID_LEN];
    ngx_str_t  text;

    if (ngx_svc_result(sr, &ngx_svc_sql_directory_sync_begin)) {
        return ngx_svc_route_answer(sr);
    }

    text = ngx_svc_auth_tenant(sr->op->results);

    if (ngx_svc_uuid_parse(text.data, text.len, tenant) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_admin_limit(sr, NGX_SVC_LIMIT_DIRECTORY, tenant,
                               "has its directory asked",
                               ngx_svc_directory_sync_ask);
}


static ngx_int_t
ngx_svc_directory_sync_ask(ngx_svc_request_t *sr)
{
    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_directory_sync_write,
                                 ngx_svc_route_results);
}


static ngx_int_t
ngx_svc_directory_sync_write(ngx_svc_request_t *sr)
{
    sr->op->committed = ngx_svc_directory_sync_committed;

    return ngx_svc_route_call(sr, &ngx_svc_sql_directory_sync_begin, sr->data);
}


static void
ngx_svc_directory_sync_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_request_committed(results);
    ngx_svc_directory_import_wake();
}
