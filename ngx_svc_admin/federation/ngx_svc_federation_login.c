/*
 * A sign-in by a proof of another server: what it writes.
 */

#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_attributes.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_method.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_seen.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_federation_bind_purged(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


#include "ngx_svc_federation_login.sql.h"


const ngx_svc_login_method_t  ngx_svc_federation_login_method = {
    .methods = ngx_string("{" NGX_SVC_FEDERATION_METHOD "}"),
    .unguessed = 1,
    .error = NGX_SVC_E_ACCESS_DENIED,
    .wrong = "Signing in is not allowed from here and now.",
    .lost = ngx_svc_federation_over,
    .check = &ngx_svc_sql_federation_match,
    .session = &ngx_svc_sql_federation_session,
    .user_done = &ngx_svc_sql_signin_user_kept,
    .proof = ngx_svc_federation_login_proof,
    .committed = ngx_svc_federation_login_committed,
    .answer = ngx_svc_federation_lead
};


ngx_int_t
ngx_svc_federation_login_proof(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    if (flow->match == NGX_SVC_FEDERATION_LINKED) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_federation_used, NULL);

        return rc == NGX_OK ? ngx_svc_federation_attributes_calls(sr) : rc;
    }

    rc = flow->proved ? NGX_OK
         : ngx_svc_route_call(sr, &ngx_svc_sql_federation_purge, NULL);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_proof_seal(flow);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_federation_link, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_federation_notice, NULL);
    }

    return rc == NGX_OK ? ngx_svc_federation_attributes_calls(sr) : rc;
}


/* A new account has no past, and that of a session keeps its own. */

static ngx_int_t
ngx_svc_federation_bind_purged(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind_bool(call, flow->match == NGX_SVC_FEDERATION_LINK
                               && !flow->proved && sr->session == NULL);

    return NGX_OK;
}


void
ngx_svc_federation_login_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice(NGX_SVC_MAIL_CHANGED,
                   ngx_svc_pg_result(results, &ngx_svc_sql_federation_notice));
    ngx_svc_login_completed(results);
}


void
ngx_svc_federation_stage(ngx_svc_login_t *login)
{
    ngx_svc_federation_flow_t  *flow;

    flow = login->sr->data;

    if (login->written.factor) {
        login->stage = NGX_SVC_STAGE_FULL;
        ngx_str_set(&login->written.methods, "{" NGX_SVC_FEDERATION_METHOD ","
                                             NGX_SVC_FEDERATION_TWO "}");

    } else {
        ngx_svc_login_stage(login, flow->mailed);
    }
}
