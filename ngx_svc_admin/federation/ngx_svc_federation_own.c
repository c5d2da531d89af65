/*
 * Flows of a session: one that links an identity to its user, and a step-up.
 *
 * The session is that of any other request: it is alive, complete, and for a
 * link fresh, when the flow begins and when the browser comes back.
 */

#include "ngx_svc_federation_own.h"
#include "ngx_svc_auth.h"
#include "ngx_svc_federation_account.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_match.row.h"
#include "ngx_svc_federation_method.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_seen.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_federation_own_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_own_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_own_barred(
    ngx_svc_federation_flow_t *flow, ngx_int_t rc);
static ngx_int_t ngx_svc_federation_own_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_own_link(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_own_step_up(ngx_svc_request_t *sr);
static void ngx_svc_federation_own_committed(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_federation_own_written(ngx_svc_request_t *sr);


#include "ngx_svc_federation_own.sql.h"


/* What the callback is from then on, by the purpose. */

static const ngx_svc_route_t  ngx_svc_federation_own_routes[] = {

    { .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_PAGE },

    { .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_PAGE }
};


/* That the CSRF token is wrong is said only to who has the session. */

ngx_int_t
ngx_svc_federation_own_begin(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (ngx_svc_login_limited(login) != NGX_OK || login->invalid) {
        return NGX_DECLINED;
    }

    if (ngx_svc_auth_call(sr) != NGX_OK) {
        return NGX_ERROR;
    }

    return sr->error.kind == NGX_SVC_E_NONE ? ngx_svc_login_admitted(login)
                                            : NGX_OK;
}


void
ngx_svc_federation_own_tenant(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_session_t  *session;

    session = flow->login.sr->session;

    ngx_memcpy(flow->login.row.tenant, session->key, NGX_SVC_UUID_LEN);
}


ngx_int_t
ngx_svc_federation_own_return(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;
    ngx_svc_session_t  *session;

    sr = flow->login.sr;

    if (flow->purpose != NGX_SVC_FEDERATION_TO_LINK
        && flow->purpose != NGX_SVC_FEDERATION_STEP_UP)
    {
        return NGX_OK;
    }

    sr->route = &ngx_svc_federation_own_routes[flow->purpose
                                               - NGX_SVC_FEDERATION_TO_LINK];

    rc = ngx_svc_auth_take(sr);
    if (rc != NGX_OK) {
        return rc;
    }

    session = sr->session;

    return ngx_memcmp(session->key, flow->login.row.tenant, NGX_SVC_UUID_LEN)
           == 0 ? NGX_OK : ngx_svc_federation_over(sr);
}


/* A step-up is worth nothing if the person was signed in there before. */

ngx_int_t
ngx_svc_federation_own(ngx_svc_federation_flow_t *flow)
{
    ngx_str_t  *at;

    at = &flow->proof.auth_time;

    if (flow->purpose == NGX_SVC_FEDERATION_STEP_UP
        && (at->data == NULL || ngx_atotm(at->data, at->len) < flow->asked))
    {
        return ngx_svc_federation_declined(flow->login.sr,
                    ngx_svc_federation_fail(flow, "the ID token's "
                                            "\"auth_time\" is not since the "
                                            "step-up has begun"));
    }

    return ngx_svc_request_again(flow->login.sr, NGX_SVC_PG_READ,
                                 ngx_svc_federation_own_calls,
                                 ngx_svc_federation_own_reply);
}


static ngx_int_t
ngx_svc_federation_own_calls(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_federation_match,
        &ngx_svc_sql_federation_user,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_federation_own_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                       rc;
    ngx_svc_login_t                *login;
    ngx_svc_federation_flow_t      *flow;
    ngx_svc_row_login_user_t       *user;
    ngx_svc_row_federation_user_t   row;

    flow = sr->data;
    login = &flow->login;
    user = &row.login_user;

    ngx_svc_row_federation_user(&row,
                                ngx_svc_result(sr,
                                               &ngx_svc_sql_federation_user),
                                0);

    rc = ngx_svc_login_bars(login,
                            &user->login_denied.login_governance.login_bars);

    if (rc != NGX_OK) {
        return ngx_svc_federation_own_barred(flow, rc);
    }

    if (ngx_svc_federation_match(flow) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (flow->match != NGX_SVC_FEDERATION_LINKED
        && flow->match != NGX_SVC_FEDERATION_LINK)
    {
        return ngx_svc_federation_stop(flow);
    }

    if (ngx_svc_uuid_parse(user->id.data, user->id.len, login->row.user)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    login->user.data = login->row.user;
    login->user.len = NGX_SVC_UUID_LEN;

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_federation_own_write,
                                 ngx_svc_federation_own_written);
}


static ngx_int_t
ngx_svc_federation_own_barred(ngx_svc_federation_flow_t *flow, ngx_int_t rc)
{
    static const ngx_str_t  blocked = ngx_string("blocked");
    static const ngx_str_t  policy = ngx_string("policy");

    flow->why = flow->login.reason == NGX_SVC_LOGIN_BLOCKED ? blocked : policy;

    return ngx_svc_federation_declined(flow->login.sr, rc);
}


static ngx_int_t
ngx_svc_federation_own_write(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_federation_account_lock,
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_federation_match,
        NULL
    };

    flow = sr->data;
    rc = ngx_svc_login_calls(sr, list);

    if (rc == NGX_OK && flow->match == NGX_SVC_FEDERATION_LINK) {
        return ngx_svc_federation_own_link(sr);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_federation_used, NULL);
    }

    return rc == NGX_OK && flow->purpose == NGX_SVC_FEDERATION_STEP_UP
           ? ngx_svc_federation_own_step_up(sr) : rc;
}


static ngx_int_t
ngx_svc_federation_own_link(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_federation_link,
        &ngx_svc_sql_federation_own_notice,
        NULL
    };

    sr->op->committed = ngx_svc_federation_own_committed;

    return ngx_svc_federation_proof_seal(sr->data) == NGX_OK
           ? ngx_svc_login_calls(sr, list) : NGX_ERROR;
}


/* The session goes on under another cookie, as after any step-up. */

static ngx_int_t
ngx_svc_federation_own_step_up(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    if (login->written.factor) {
        ngx_str_set(&login->written.methods, "{" NGX_SVC_FEDERATION_METHOD ","
                                             NGX_SVC_FEDERATION_TWO "}");
    } else {
        ngx_str_set(&login->written.methods,
                    "{" NGX_SVC_FEDERATION_METHOD "}");
    }

    return ngx_svc_signin_key(&login->session, login->row.tenant) == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_federation_step_up, NULL)
           : NGX_ERROR;
}


static void
ngx_svc_federation_own_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                         &ngx_svc_sql_federation_own_notice));
}


static ngx_int_t
ngx_svc_federation_own_written(ngx_svc_request_t *sr)
{
    ngx_svc_login_t              *login;
    ngx_svc_federation_flow_t    *flow;
    ngx_svc_row_login_checked_t   row;

    flow = sr->data;
    login = &flow->login;

    ngx_svc_row_login_checked(&row,
                              ngx_svc_result(sr, &ngx_svc_sql_federation_match),
                              0, 0);

    if (row.verdict.len == 0 || row.verdict.data[0] != 'g') {
        (void) ngx_svc_federation_over(sr);
        return ngx_svc_send_error(sr);
    }

    if (flow->purpose == NGX_SVC_FEDERATION_STEP_UP
        && ngx_svc_session_set_cookies(sr, login->session.key) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_limit_give_back(&login->limit);
    ngx_svc_login_give_back(login, 1);

    return ngx_svc_federation_lead(login);
}
