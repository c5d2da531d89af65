/*
 * POST /v1/applications/{clientId}/secret, and the same for an agent.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_application_secret.h"


#define NGX_SVC_ADMIN_SECRET_GRACE    86400     /* seconds */
#define NGX_SVC_ADMIN_SECRET_RETIRED  90        /* days a retired one is kept */
#define NGX_SVC_ADMIN_SECRETS         100       /* kept of an application */


typedef struct {
    ngx_svc_value_t  grace;
    ngx_svc_value_t  revoke;
    ngx_svc_value_t  type;      /* that the application must have; a check
                                   sets it */
} ngx_svc_admin_rotation_t;


static ngx_int_t ngx_svc_admin_agent_rotate(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_application_rotate(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_secrets_rotated(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_secrets_cut(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_secrets_send(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_admin_rotation_members[] = {

    { .name = ngx_string("graceSeconds"),
      .type = NGX_SVC_T_INTEGER,
      .min = 0,
      .max = NGX_SVC_ADMIN_SECRET_GRACE,
      .offset = offsetof(ngx_svc_admin_rotation_t, grace) },

    { .name = ngx_string("revokeTokens"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_admin_rotation_t, revoke) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_application_secret.sql.h"


#define ngx_svc_admin_secret_rotates                                          \
      .members = ngx_svc_admin_rotation_members,                              \
      .body_size = sizeof(ngx_svc_admin_rotation_t),                          \
      .statements = { &ngx_svc_sql_admin_application_lock,                    \
                      &ngx_svc_sql_admin_secrets_expire,                      \
                      &ngx_svc_sql_admin_secrets_rotate },                    \
      .more = ngx_svc_application_secret_write,                               \
      .reply = ngx_svc_admin_secrets_rotated

const ngx_svc_route_t  ngx_svc_admin_application_secret[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/applications/*/secret"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_EMPTY|NGX_SVC_ROUTE_STRICT,
      .check = ngx_svc_admin_application_rotate,
      ngx_svc_admin_secret_rotates },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/agents/*/secret"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_EMPTY|NGX_SVC_ROUTE_STRICT,
      .check = ngx_svc_admin_agent_rotate,
      ngx_svc_admin_secret_rotates },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_agent_rotate(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_rotation_t  *rotation = body;

    rotation->type.set = 1;
    ngx_str_set(&rotation->type.str, "agent");

    return ngx_svc_admin_application_rotate(sr, body);
}


static ngx_int_t
ngx_svc_admin_application_rotate(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_admin_rotation_t  *rotation = body;

    /* tokens are revoked although the client may leave meanwhile */

    sr->goes_on = (rotation->revoke.integer == 1);

    if (!ngx_svc_application_id(&sr->params[0])) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_NO_APPLICATION);
    }

    sr->data = ngx_svc_application_secret_new(sr, &sr->params[0], 1);

    return sr->data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_admin_secrets_rotated(ngx_svc_request_t *sr)
{
    PGresult                            *res;
    ngx_svc_row_admin_secrets_rotate_t   row;

    res = ngx_svc_route_final(sr);
    ngx_svc_row_admin_secrets_rotate(&row, res, 0);

    return row.revokes
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_admin_secrets_cut,
                                   ngx_svc_admin_secrets_send)
           : ngx_svc_route_row(sr, res);
}


static ngx_int_t
ngx_svc_admin_secrets_cut(ngx_svc_request_t *sr)
{
    /* the op writes no event to the audit log */

    sr->op->committed = NULL;

    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_secrets_cut, NULL);
}


static ngx_int_t
ngx_svc_admin_secrets_send(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_admin_secrets_cut);

    if (PQntuples(res)) {
        return ngx_svc_route_row(sr, res);
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                        NGX_SVC_NO_APPLICATION);

    return ngx_svc_send_error(sr);
}
