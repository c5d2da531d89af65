/*
 * POST /v1/admin/federation/{connection}/test begins a test of a connection,
 * and GET /v1/admin/federation/tests/{id} shows what it has found.
 *
 * Between them is the journey of any flow.  What comes back by a form ends the
 * test at once, without the cookie: nothing but a result comes of it, which
 * sessions of the tenant alone see.
 */

#include "ngx_svc_federation_test.h"
#include "ngx_svc_admin_limit.h"
#include "ngx_svc_base_url.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_explain.h"
#include "ngx_svc_federation_invited.h"
#include "ngx_svc_federation_own.h"
#include "ngx_svc_federation_start.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_send.h"
#include "ngx_svc_submit.h"
#include "ngx_svc_time.h"
#include "ngx_svc_uri.h"


#define NGX_SVC_FEDERATION_NO_CONNECTION  "There is no such connection."
#define NGX_SVC_FEDERATION_NO_TEST  "There is no such test, or it ended more " \
                                    "than ten minutes ago."


static ngx_int_t ngx_svc_federation_test_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_federation_test_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_test_start(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_test_begin(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_test_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_test_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_test_end(ngx_svc_federation_flow_t *flow,
    const ngx_svc_federation_found_t *found);
static ngx_int_t ngx_svc_federation_bind_tested(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_federation_test_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_test_lead(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_test_page(ngx_svc_federation_flow_t *flow,
    ngx_str_t *url);
static ngx_int_t ngx_svc_federation_test_answer(ngx_svc_request_t *sr,
    const ngx_str_t *url);
static ngx_int_t ngx_svc_federation_test_show(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_test_open(ngx_svc_request_t *sr,
    const ngx_svc_row_federation_test_result_t *row, ngx_str_t *text);


#include "ngx_svc_federation_test.sql.h"


const ngx_svc_route_t  ngx_svc_federation_test[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/federation/tests/*"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_federation_test_result },
      .reply = ngx_svc_federation_test_show },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/federation/*/test"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_WRITE_POOL,
      .check = ngx_svc_federation_test_check,
      .statements = { &ngx_svc_sql_federation_test_asked },
      .reply = ngx_svc_federation_test_start },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_federation_test_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_login_t  *login;

    static const ngx_str_t  ldap = ngx_string("ldap");
    static const ngx_str_t  saml = ngx_string("saml");

    if (ngx_svc_same(&sr->params[0], &ldap)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE, "%s",
                            "A directory is tested by POST "
                            "/v1/admin/ldap/test.");
    }

    if (ngx_svc_same(&sr->params[0], &saml)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE, "%s",
                            "Nobody signs in by SAML: there is nothing to "
                            "test.");
    }

    login = ngx_svc_login_create(sr, sizeof(ngx_svc_federation_flow_t), NULL,
                                 ngx_svc_federation_test_take);

    if (login == NULL) {
        return NGX_ERROR;
    }

    return login->invalid ? NGX_DECLINED : NGX_OK;
}


static ngx_int_t
ngx_svc_federation_test_take(ngx_svc_login_t *login)
{
    ngx_svc_federation_flow_t  *flow;

    flow = login->sr->data;
    flow->purpose = NGX_SVC_FEDERATION_TEST;
    flow->ended = ngx_svc_federation_test_failed;
    flow->key = login->sr->params[0];

    if (ngx_svc_uri_bytes(flow->key.data, flow->key.len) < flow->key.len
        || flow->key.len > NGX_SVC_FEDERATION_KEY)
    {
        ngx_str_set(&flow->key, "-");
    }

    return ngx_svc_login_take_client(login, NULL) == NGX_OK
           ? ngx_svc_federation_flow_new(flow) : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_test_start(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_federation_own_tenant(sr->data);

    return ngx_svc_admin_limit(sr, NGX_SVC_LIMIT_CONNECTION, login->row.tenant,
                               "has connections tested",
                               ngx_svc_federation_test_begin);
}


/* From here on it is the start of any flow of a session. */

static ngx_int_t
ngx_svc_federation_test_begin(ngx_svc_request_t *sr)
{
    if (!ngx_svc_fetch_ready()) {
        (void) ngx_svc_federation_away(sr);
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_federation_start_begin,
                                 ngx_svc_federation_start_reply);
}


ngx_int_t
ngx_svc_federation_test_read(ngx_svc_federation_flow_t *flow)
{
    flow->step = NGX_SVC_FEDERATION_STEPS;

    return ngx_svc_request_again(flow->login.sr, NGX_SVC_PG_READ,
                                 ngx_svc_federation_test_calls,
                                 ngx_svc_federation_test_reply);
}


static ngx_int_t
ngx_svc_federation_test_calls(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_federation_match,
        &ngx_svc_sql_federation_user,
        &ngx_svc_sql_federation_invited,
        &ngx_svc_sql_federation_test_found,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_federation_test_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                       rc;
    ngx_svc_login_t                *login;
    ngx_svc_federation_flow_t      *flow;
    ngx_svc_federation_found_t      found;
    ngx_svc_row_federation_user_t   user;

    flow = sr->data;
    login = &flow->login;

    ngx_svc_row_federation_match(&found.match,
                        ngx_svc_result(sr, &ngx_svc_sql_federation_match), 0);
    ngx_svc_row_federation_test_found(&found.settings,
                   ngx_svc_result(sr, &ngx_svc_sql_federation_test_found), 0);
    ngx_svc_row_federation_user(&user,
                         ngx_svc_result(sr, &ngx_svc_sql_federation_user), 0);

    if (ngx_svc_federation_match(flow) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (flow->match == NGX_SVC_FEDERATION_NOBODY) {
        ngx_svc_federation_invited_match(flow,
                         ngx_svc_result(sr, &ngx_svc_sql_federation_invited));
    }

    rc = ngx_svc_login_bars(login,
                   &user.login_user.login_denied.login_governance.login_bars);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    found.barred = rc == NGX_DECLINED;
    flow->counts = !found.barred && found.settings.caller
                   && (flow->match == NGX_SVC_FEDERATION_LINKED
                       || flow->match == NGX_SVC_FEDERATION_LINK);

    return ngx_svc_federation_test_end(flow, &found);
}


ngx_int_t
ngx_svc_federation_test_failed(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_federation_test_end(flow, NULL);
}


static ngx_int_t
ngx_svc_federation_test_end(ngx_svc_federation_flow_t *flow,
    const ngx_svc_federation_found_t *found)
{
    u_char              id[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t           text, name;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;
    name.data = id;
    name.len = ngx_svc_uuid_text(id, flow->id.data ? flow->id.data
                                                   : sr->new_id)
               - id;

    if (ngx_svc_federation_explain(flow, found, &text) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* what has been refused is told by now */

    sr->error.kind = NGX_SVC_E_NONE;

    flow->kept.data = ngx_pnalloc(sr->request->pool,
                                  text.len + NGX_SVC_SEAL_OVERHEAD);

    if (flow->kept.data == NULL
        || ngx_svc_sealed_seal("federation_test", &name, &text, flow->kept.data,
                               &flow->kept.len)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_federation_test_write,
                                 ngx_svc_federation_test_lead);
}


static ngx_int_t
ngx_svc_federation_bind_tested(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind(call, flow->counts ? flow->proof.subject_hash.data : NULL,
                    NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


/*
 * The request that has begun the test has a session, and one that ends it
 * none.
 */

static ngx_int_t
ngx_svc_federation_test_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  ended[] = {
        &ngx_svc_sql_federation_test_ended,
        NULL
    };
    static const ngx_svc_pg_statement_t *const  tested[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_federation_tested,
        NULL
    };

    return ngx_svc_login_calls(sr, sr->session ? ended : tested);
}


static ngx_int_t
ngx_svc_federation_test_lead(ngx_svc_request_t *sr)
{
    ngx_str_t                   url;
    PGresult                   *res;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;
    res = ngx_svc_result(sr, sr->session ? &ngx_svc_sql_federation_test_ended
                                         : &ngx_svc_sql_federation_tested);

    if (PQntuples(res) == 0) {
        (void) ngx_svc_federation_over(sr);
        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_federation_test_page(flow, &url) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (sr->session) {
        return ngx_svc_federation_test_answer(sr, &url);
    }

    /* the start was counted by itself */

    if (!flow->posted) {
        ngx_svc_limit_give_back(&flow->login.limit);
    }

    return ngx_svc_send_see_other(sr, &url);
}


static ngx_int_t
ngx_svc_federation_test_page(ngx_svc_federation_flow_t *flow, ngx_str_t *url)
{
    u_char             *p;
    ngx_str_t          *slug;
    const ngx_str_t    *base;
    ngx_svc_request_t  *sr;

    static const char  page[] = "/account?tenant=";
    static const char  test[] = "&test=";

    sr = flow->login.sr;
    slug = &flow->login.asked.slug;
    base = ngx_svc_base_url(sr);

    p = ngx_pnalloc(sr->request->pool, base->len + sizeof(page) + slug->len
                                       + sizeof(test) + NGX_SVC_UUID_TEXT_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    url->data = p;

    p = ngx_sprintf(p, "%V%s%V%s", base, page, slug, test);
    p = ngx_svc_uuid_text(p, flow->id.data ? flow->id.data : sr->new_id);

    url->len = p - url->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_federation_test_answer(ngx_svc_request_t *sr, const ngx_str_t *url)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, sr->request->pool, url->len + 64)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_string(&w, "redirectTo", url->data, url->len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


/* What cannot be read any more is over, too. */

static ngx_int_t
ngx_svc_federation_test_show(ngx_svc_request_t *sr)
{
    u_char                                 at[NGX_SVC_TIME_LEN];
    ngx_int_t                              rc;
    ngx_str_t                              text;
    ngx_svc_json_writer_t                  w;
    ngx_svc_row_federation_test_result_t   row;

    ngx_svc_row_federation_test_result(&row,
                  ngx_svc_result(sr, &ngx_svc_sql_federation_test_result), 0);

    rc = ngx_svc_federation_test_open(sr, &row, &text);

    if (rc == NGX_DECLINED) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_FEDERATION_NO_TEST);
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, text.len + 256)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_plain(&w, "id", row.id.data, row.id.len);

    if (row.connection.data) {
        ngx_svc_json_string(&w, "connection", row.connection.data,
                            row.connection.len);
    } else {
        ngx_svc_json_null(&w, "connection");
    }

    ngx_svc_json_plain(&w, "testedAt", at,
                       ngx_svc_time_text(at, &row.tested_at) - at);
    ngx_svc_json_raw(&w, NULL, text.data, text.len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


static ngx_int_t
ngx_svc_federation_test_open(ngx_svc_request_t *sr,
    const ngx_svc_row_federation_test_result_t *row, ngx_str_t *text)
{
    ngx_svc_session_t  *session;

    session = sr->session;

    return ngx_svc_sealed_text(sr, sr->request->pool, "federation_test",
                               &row->id, &row->sealed, "the result of a test",
                               session->key, text);
}
