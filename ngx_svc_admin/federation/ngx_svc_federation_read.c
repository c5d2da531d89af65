/*
 * Whom a proof is of, and how the sign-in ends.
 */

#include "ngx_svc_federation_read.h"
#include "ngx_svc_federation_account.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_invited.h"
#include "ngx_svc_federation_keep.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_match.row.h"
#include "ngx_svc_federation_own.h"
#include "ngx_svc_federation_test.h"
#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_write.h"


static ngx_int_t ngx_svc_federation_read_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_read_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_read_written(ngx_svc_request_t *sr);


#include "ngx_svc_federation_read.sql.h"


ngx_int_t
ngx_svc_federation_read(ngx_svc_federation_flow_t *flow)
{
    if (flow->purpose == NGX_SVC_FEDERATION_TEST) {
        return ngx_svc_federation_test_read(flow);
    }

    return flow->login.sr->session
           ? ngx_svc_federation_own(flow)
           : ngx_svc_request_again(flow->login.sr, NGX_SVC_PG_READ,
                                   ngx_svc_federation_read_calls,
                                   ngx_svc_federation_read_reply);
}


static ngx_int_t
ngx_svc_federation_read_calls(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_way,
        &ngx_svc_sql_federation_match,
        &ngx_svc_sql_federation_user,
        &ngx_svc_sql_federation_risk,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_federation_read_reply(ngx_svc_request_t *sr)
{
    return ngx_svc_federation_decide(sr->data,
                                     ngx_svc_result(sr,
                                                    &ngx_svc_sql_signin_way));
}


ngx_int_t
ngx_svc_federation_decide(ngx_svc_federation_flow_t *flow, PGresult *tenant)
{
    ngx_int_t  rc;

    switch (ngx_svc_federation_judge(flow, tenant)) {

    case NGX_OK:
        rc = flow->known ? flow->known(flow) : NGX_DECLINED;
        return rc == NGX_DECLINED ? ngx_svc_federation_end(flow) : rc;

    case NGX_DECLINED:
        return ngx_svc_login_declined(&flow->login);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


ngx_int_t
ngx_svc_federation_judge(ngx_svc_federation_flow_t *flow, PGresult *tenant)
{
    ngx_int_t                       rc;
    PGresult                       *user;
    ngx_svc_request_t              *sr;
    ngx_svc_row_federation_user_t   row;

    sr = flow->login.sr;
    user = ngx_svc_result(sr, &ngx_svc_sql_federation_user);
    ngx_svc_row_federation_user(&row, user, 0);

    flow->login.read.few_sessions = row.few;

    rc = ngx_svc_login_decide(&flow->login, tenant, user);

    if (rc != NGX_OK) {
        return rc;
    }

    ngx_svc_login_take_risk(&flow->login,
                            ngx_svc_result(sr, &ngx_svc_sql_federation_risk));

    return flow->finishes ? NGX_OK : ngx_svc_federation_match(flow);
}


ngx_int_t
ngx_svc_federation_end(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_login_t  *login;

    login = &flow->login;

    if (flow->match == NGX_SVC_FEDERATION_INVITED
        || flow->match == NGX_SVC_FEDERATION_NOBODY)
    {
        return ngx_svc_federation_invited(flow);
    }

    if (flow->match != NGX_SVC_FEDERATION_LINKED
        && flow->match != NGX_SVC_FEDERATION_LINK
        && flow->match != NGX_SVC_FEDERATION_NEW)
    {
        if (flow->mailable
            && ngx_svc_federation_keep_mailable(flow) != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return ngx_svc_federation_stop(flow);
    }

    /* of who has made an account beforehand no factor is left */

    if (flow->match == NGX_SVC_FEDERATION_LINK && !flow->proved) {
        login->read.enrolled = 0;
    }

    ngx_svc_federation_stage(login);

    return flow->match == NGX_SVC_FEDERATION_NEW
           ? ngx_svc_federation_account(flow)
           : ngx_svc_login_succeed_by(login, ngx_svc_login_success,
                                      flow->written
                                      ? flow->written
                                      : ngx_svc_federation_read_written);
}


static ngx_int_t
ngx_svc_federation_read_written(ngx_svc_request_t *sr)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    if (flow->complete) {
        flow->complete(flow);
    }

    return ngx_svc_login_success_reply(sr);
}
