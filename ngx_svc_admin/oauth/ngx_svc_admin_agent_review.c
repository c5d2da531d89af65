/*
 * POST /v1/admin/agents/{clientId}/review: records that an administrator has
 * reviewed what an agent may do.
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


#include "ngx_svc_admin_agent_review.sql.h"


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
