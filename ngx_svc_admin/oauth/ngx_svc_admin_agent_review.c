/*
 * POST /v1/admin/agents/{clientId}/review: somebody has looked at what an agent
 * may do, and says so.
 */

#include "ngx_svc_agent.h"


#define NGX_SVC_ADMIN_REVIEW_NOTE  500      /* characters */


typedef struct {
    ngx_svc_value_t  note;
} ngx_svc_admin_review_t;


static const ngx_svc_member_t  ngx_svc_admin_review_members[] = {

    { .name = ngx_string("note"),
      .type = NGX_SVC_T_TEXT|NGX_SVC_T_NULL,
      .min = 0,
      .max = NGX_SVC_ADMIN_REVIEW_NOTE,
      .offset = offsetof(ngx_svc_admin_review_t, note) },

    ngx_svc_null_member
};


static const ngx_svc_pg_statement_t  ngx_svc_sql_admin_agent_review = {
    .name = "admin_agent_review",
    .text =
        "WITH u AS ("
            "UPDATE svc.application a SET reviewed_at = now(),"
                " reviewed_by = " NGX_SVC_AGENT_CALLER ","
                " updated_at = " NGX_SVC_CHANGED_AT("a")
            " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.client_id = $1"
                " AND a.type = 'agent'"
            " RETURNING a.client_id, a.name"
        "), e AS ("
            NGX_SVC_AUDIT(NGX_SVC_A_AGENT_REVIEWED, "u.client_id", "u.name",
                "jsonb_strip_nulls(jsonb_build_object('note',"
                " nullif($2, '')))", "FROM u")
        ")"
        " SELECT FROM u",
    NGX_SVC_PARAMS(ngx_svc_param_application(0),
                   ngx_svc_param_text(ngx_svc_admin_review_t, note))
};


const ngx_svc_route_t  ngx_svc_admin_agent_review[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/agents/*/review"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_EMPTY,
      .members = ngx_svc_admin_review_members,
      .body_size = sizeof(ngx_svc_admin_review_t),
      .statements = { &ngx_svc_sql_admin_agent_review,
                      &ngx_svc_sql_admin_agent_get } },

    ngx_svc_null_route
};
