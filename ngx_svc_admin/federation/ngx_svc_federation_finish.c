/*
 * GET /v1/auth/federation/finish: the browser, with its cookie, ends a flow
 * that has its proof.
 */

#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_keep.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_own.h"
#include "ngx_svc_federation_read.h"
#include "ngx_svc_federation_take.h"
#include "ngx_svc_form.h"


static ngx_int_t ngx_svc_federation_finish_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_finish_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_finish_reply(ngx_svc_request_t *sr);


const ngx_svc_route_t  ngx_svc_federation_finish[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/auth/federation/finish"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_PAGE,
      .statements = { &ngx_svc_sql_federation_tenant,
                      &ngx_svc_sql_federation_take,
                      &ngx_svc_sql_federation_user,
                      &ngx_svc_sql_federation_risk },
      .prepare = ngx_svc_federation_finish_prepare,
      .reply = ngx_svc_federation_finish_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_federation_finish_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_federation_take_prepare(sr, ngx_svc_federation_finish_take);
}


static ngx_int_t
ngx_svc_federation_finish_take(ngx_svc_login_t *login)
{
    ngx_int_t                   rc;
    ngx_svc_form_t              form;
    ngx_svc_error_t             err;
    ngx_svc_request_t          *sr;
    ngx_svc_federation_flow_t  *flow;

    sr = login->sr;
    flow = sr->data;
    flow->finishes = 1;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_form_parse(sr->request->pool, &sr->request->args, &form,
                            &err);

    if (rc == NGX_OK
        && ngx_svc_form_value(&form, "flow", &flow->state, &err) != NGX_OK)
    {
        ngx_str_null(&flow->state);
    }

    return rc == NGX_ERROR ? rc : ngx_svc_federation_take_client(flow);
}


static ngx_int_t
ngx_svc_federation_finish_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    rc = ngx_svc_federation_taken(flow);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_kept(flow);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_own_return(flow);
    }

    if (rc != NGX_OK) {
        return ngx_svc_federation_declined(sr, rc);
    }

    /* what the form has found knew of no session */

    if (sr->session) {
        ngx_str_null(&flow->facts);
        return ngx_svc_federation_own(flow);
    }

    return ngx_svc_federation_decide(flow,
                          ngx_svc_result(sr, &ngx_svc_sql_federation_tenant));
}
