/*
 * POST /v1/auth/federation/start: begins a flow, and tells where it leads.
 */

#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_ask.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_meta.h"
#include "ngx_svc_federation_own.h"
#include "ngx_svc_federation_start.h"
#include "ngx_svc_federation_start.row.h"
#include "ngx_svc_federation_wish.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_policy.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_url.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_uri.h"


#define NGX_SVC_FEDERATION_ADDRESS_FEW  5       /* open flows */
#define NGX_SVC_FEDERATION_ADDRESS_MAX  100
#define NGX_SVC_FEDERATION_TENANT_MAX   10000


/* The body. */

typedef struct {
    ngx_svc_value_t            connection;
    ngx_svc_value_t            tenant;
    ngx_svc_value_t            return_to;
    ngx_svc_value_t            email;
    ngx_svc_value_t            purpose;
    ngx_svc_value_t            token;
} ngx_svc_federation_body_t;


static ngx_int_t ngx_svc_federation_start_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_start_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_start_purpose(
    ngx_svc_federation_flow_t *flow, ngx_svc_federation_body_t *body);
static ngx_int_t ngx_svc_federation_start_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_federation_start_email(
    ngx_svc_federation_flow_t *flow, ngx_svc_value_t *email);
static ngx_int_t ngx_svc_federation_bind_again(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_federation_start_tenant(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_start_wait(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_start_begun(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_start_none(
    ngx_svc_federation_flow_t *flow, const ngx_str_t *error);
static ngx_int_t ngx_svc_federation_start_connection(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_begin_t *row);
static ngx_int_t ngx_svc_federation_start_policy(
    ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_begin_t *row);
static ngx_int_t ngx_svc_federation_start_answer(
    ngx_svc_federation_flow_t *flow);


static const ngx_svc_member_t  ngx_svc_federation_start_members[] = {

    { .name = ngx_string("connection"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_FEDERATION_KEY,
      .offset = offsetof(ngx_svc_federation_body_t, connection) },

    { .name = ngx_string("tenant"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_SLUG,
      .check = ngx_svc_login_slug,
      .offset = offsetof(ngx_svc_federation_body_t, tenant) },

    { .name = ngx_string("returnTo"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .offset = offsetof(ngx_svc_federation_body_t, return_to) },

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_EMAIL_MAX,
      .check = ngx_svc_email_form_check,
      .offset = offsetof(ngx_svc_federation_body_t, email) },

    { .name = ngx_string("purpose"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = 16,
      .check = ngx_svc_federation_start_check,
      .offset = offsetof(ngx_svc_federation_body_t, purpose) },

    { .name = ngx_string("token"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_INVITATION_TOKEN_MAX,
      .offset = offsetof(ngx_svc_federation_body_t, token) },

    ngx_svc_null_member
};


#include "ngx_svc_federation_start.sql.h"


const ngx_svc_route_t  ngx_svc_federation_start[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/federation/start"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_federation_start_members,
      .statements = { &ngx_svc_sql_signin_tenant,
                      &ngx_svc_sql_federation_begin },
      .prepare = ngx_svc_federation_start_prepare,
      .reply = ngx_svc_federation_start_reply },

    ngx_svc_null_route
};


/* The same, of who is invited: the token tells the tenant. */

static const ngx_svc_route_t  ngx_svc_federation_start_invited = {
    .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_NO_STORE
             |NGX_SVC_ROUTE_WRITE_POOL,
    .statements = { &ngx_svc_sql_invitation_tenant,
                    &ngx_svc_sql_federation_begin },
    .prepare = ngx_svc_federation_start_prepare,
    .reply = ngx_svc_federation_start_reply
};


/* The same, of a session: for a link it must be fresh. */

static const ngx_svc_route_t  ngx_svc_federation_start_own[] = {

    { .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_SENSITIVE
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_federation_begin },
      .prepare = ngx_svc_federation_start_prepare,
      .reply = ngx_svc_federation_start_reply },

    { .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_federation_begin },
      .prepare = ngx_svc_federation_start_prepare,
      .reply = ngx_svc_federation_start_reply }
};


/* Nobody is sent away whose answer could not be looked at. */

static ngx_int_t
ngx_svc_federation_start_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    ngx_svc_login_t  *login;

    if (sr->data == NULL) {

        if (!ngx_svc_fetch_ready()) {
            return ngx_svc_federation_away(sr);
        }

        login = ngx_svc_login_create(sr, sizeof(ngx_svc_federation_flow_t),
                                     NULL, ngx_svc_federation_start_take);
        if (login == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        rc = ngx_svc_login_limit(login);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return sr->session ? ngx_svc_federation_own_begin(sr->data)
                       : ngx_svc_login_admitted(sr->data);
}


static ngx_int_t
ngx_svc_federation_start_take(ngx_svc_login_t *login)
{
    ngx_int_t                   rc;
    ngx_svc_request_t          *sr;
    ngx_svc_federation_flow_t  *flow;
    ngx_svc_federation_body_t   body;

    sr = login->sr;
    flow = sr->data;

    ngx_memzero(&body, sizeof(ngx_svc_federation_body_t));

    rc = ngx_svc_schema_object(ngx_svc_federation_start_members, 0, sr->json,
                               &body, &sr->error);
    if (rc != NGX_OK) {
        return rc;
    }

    flow->key = body.connection.str;

    if (ngx_svc_uri_bytes(flow->key.data, flow->key.len) < flow->key.len) {
        ngx_str_set(&flow->key, "-");
    }

    if (body.return_to.set && !body.return_to.null
        && ngx_svc_login_url_leads(&body.return_to.str))
    {
        flow->return_to = body.return_to.str;
    }

    if (ngx_svc_federation_start_email(flow, &body.email) != NGX_OK
        || ngx_svc_federation_wish(flow) != NGX_OK
        || ngx_svc_login_take_client(login, &body.tenant) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_svc_federation_flow_new(flow);

    return rc == NGX_OK ? ngx_svc_federation_start_purpose(flow, &body) : rc;
}


static ngx_int_t
ngx_svc_federation_start_purpose(ngx_svc_federation_flow_t *flow,
    ngx_svc_federation_body_t *body)
{
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;

    if (body->purpose.set && !body->purpose.null) {
        while (!ngx_svc_same(&body->purpose.str,
                             &ngx_svc_federation_purposes[flow->purpose]))
        {
            flow->purpose++;
        }
    }

    /* who is signed in there signs in once more, and it is said when */

    flow->again |= flow->purpose == NGX_SVC_FEDERATION_STEP_UP;

    switch (flow->purpose) {

    case NGX_SVC_FEDERATION_SIGN_IN:
        return NGX_OK;

    case NGX_SVC_FEDERATION_INVITE:
        sr->route = &ngx_svc_federation_start_invited;

        return !body->token.set || body->token.null
               ? ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                              "\"token\" is required: that of the "
                              "invitation.")
               : ngx_svc_invitation_token(&flow->invited, &body->token.str);

    default:
        sr->route = &ngx_svc_federation_start_own[flow->purpose
                                              - NGX_SVC_FEDERATION_TO_LINK];
        return ngx_svc_auth_take(sr);
    }
}


static ngx_int_t
ngx_svc_federation_start_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_FEDERATION_TEST; i++) {
        if (ngx_svc_same(&value->str, &ngx_svc_federation_purposes[i])) {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be one of \"sign_in\", \"link\", "
                        "\"step_up\" and \"invite\".", path);
}


/* An address that is named is counted, and fills the field of the provider. */

static ngx_int_t
ngx_svc_federation_start_email(ngx_svc_federation_flow_t *flow,
    ngx_svc_value_t *email)
{
    u_char  *mac;

    if (!email->set || email->null) {
        return NGX_OK;
    }

    mac = ngx_pnalloc(flow->login.sr->request->pool, NGX_SVC_LIMIT_MAC_LEN);

    if (mac == NULL || ngx_svc_limit_email(&email->str, mac) != NGX_OK) {
        return NGX_ERROR;
    }

    flow->hint = email->str;
    flow->login.asked.mac.data = mac;
    flow->login.asked.mac.len = NGX_SVC_LIMIT_MAC_LEN;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_federation_bind_again(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind_bool(call, flow->again);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_start_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                        rc;
    ngx_svc_federation_flow_t       *flow;
    ngx_svc_row_federation_begin_t   row;

    flow = sr->data;
    rc = ngx_svc_federation_start_tenant(flow);

    if (rc == NGX_OK) {
        ngx_svc_row_federation_begin(&row,
                            ngx_svc_result(sr, &ngx_svc_sql_federation_begin),
                            0);
        rc = ngx_svc_federation_start_connection(flow, &row);
    }

    if (rc == NGX_OK && !row.ready) {
        return ngx_svc_federation_start_wait(flow);
    }

    return rc == NGX_OK ? ngx_svc_federation_start_answer(flow)
                        : ngx_svc_federation_declined(sr, rc);
}


static ngx_int_t
ngx_svc_federation_start_tenant(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;

    if (sr->session) {
        ngx_svc_federation_own_tenant(flow);
        return NGX_OK;
    }

    if (flow->purpose == NGX_SVC_FEDERATION_INVITE) {
        return ngx_svc_invitation_good(sr,
                         ngx_svc_result(sr, &ngx_svc_sql_invitation_tenant));
    }

    return ngx_svc_login_tenant(&flow->login,
                             ngx_svc_result(sr, &ngx_svc_sql_signin_tenant));
}


/* What was not begun begins when the metadata are there. */

static ngx_int_t
ngx_svc_federation_start_wait(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t  rc;

    rc = ngx_svc_published_refresh(&ngx_svc_federation_meta,
                                   flow->login.row.tenant,
                                   &flow->connection.id);

    if (rc == NGX_OK) {
        rc = ngx_svc_published_wait(&ngx_svc_federation_meta,
                                    &flow->connection.id, flow->login.sr,
                                    NGX_SVC_PG_WRITE,
                                    ngx_svc_federation_start_begin,
                                    ngx_svc_federation_start_begun);
    }

    if (rc == NGX_DECLINED) {
        (void) ngx_svc_federation_away(flow->login.sr);
    }

    return rc == NGX_DONE ? NGX_DONE
                          : ngx_svc_federation_declined(flow->login.sr, rc);
}


ngx_int_t
ngx_svc_federation_start_begin(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_federation_begin,
        NULL
    };

    return ngx_svc_login_calls(sr, sr->session ? list + 1 : list);
}


static ngx_int_t
ngx_svc_federation_start_begun(ngx_svc_request_t *sr)
{
    ngx_int_t                        rc;
    ngx_svc_federation_flow_t       *flow;
    ngx_svc_row_federation_begin_t   row;

    flow = sr->data;
    ngx_svc_row_federation_begin(&row,
                        ngx_svc_result(sr, &ngx_svc_sql_federation_begin), 0);

    rc = ngx_svc_federation_start_connection(flow, &row);

    if (rc == NGX_OK && !row.ready) {
        rc = ngx_svc_federation_start_none(flow, &row.error);
    }

    return rc == NGX_OK ? ngx_svc_federation_start_answer(flow)
                        : ngx_svc_federation_declined(sr, rc);
}


static ngx_int_t
ngx_svc_federation_start_none(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *error)
{
    return error->data ? ngx_svc_federation_fail(flow, "%V", error)
                       : ngx_svc_federation_away(flow->login.sr);
}


/*
 * Takes the connection.  With metadata, or without need of any, the flow has
 * begun, unless too many are open.
 */

static ngx_int_t
ngx_svc_federation_start_connection(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_begin_t *row)
{
    ngx_svc_login_t                  *login;
    ngx_svc_federation_connection_t  *connection;

    login = &flow->login;
    connection = &flow->connection;
    connection->settings.provider = ngx_svc_provider(&row->provider);

    if (row->id.len == 0 || connection->settings.provider == NULL) {
        return ngx_svc_fail(&login->sr->error, NGX_SVC_E_NOT_FOUND,
                            "There is no such connection.");
    }

    if (flow->purpose == NGX_SVC_FEDERATION_INVITE && !row->invited) {
        return ngx_svc_invitation_over(login->sr);
    }

    if (row->ready && !row->begun) {
        return ngx_svc_fail(&login->sr->error, NGX_SVC_E_RATE_LIMITED,
                            "Too many sign-ins have begun: end one, or wait.");
    }

    if (ngx_svc_federation_flow_id(flow, &connection->id, &row->id) != NGX_OK
        || ngx_svc_login_copy(login, &login->asked.slug, row->slug) != NGX_OK
        || ngx_svc_login_copy(login, &connection->key, row->provider) != NGX_OK
        || ngx_svc_login_copy(login, &connection->client_id, row->client_id)
           != NGX_OK
        || ngx_svc_login_copy(login, &connection->settings.issuer, row->issuer)
           != NGX_OK
        || ngx_svc_login_copy(login, &connection->settings.tenant_id,
                              row->directory)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_login_copy(login, &connection->document, row->document)
           == NGX_OK ? ngx_svc_federation_start_policy(flow, row) : NGX_ERROR;
}


/* Two factors there are none here, if the tenant believes them. */

static ngx_int_t
ngx_svc_federation_start_policy(ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_begin_t *row)
{
    ngx_svc_access_action_e          action;
    const ngx_svc_row_login_bars_t  *bars;

    if (!row->trust_mfa) {
        return NGX_OK;
    }

    bars = &row->login_governance.login_bars;

    if (ngx_svc_login_policy(flow->login.sr, &bars->tenant, bars->version,
                             bars->policy, &action)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return action == NGX_SVC_ACCESS_MFA
           ? ngx_svc_federation_wish_acr(flow, &row->contexts) : NGX_OK;
}


static ngx_int_t
ngx_svc_federation_start_answer(ngx_svc_federation_flow_t *flow)
{
    ngx_str_t               url;
    ngx_svc_request_t      *sr;
    ngx_svc_json_writer_t   w;

    sr = flow->login.sr;

    if (ngx_svc_federation_ask(flow, &url) != NGX_OK
        || ngx_svc_federation_flow_set_cookie(flow) != NGX_OK
        || ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, url.len + 64)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_string(&w, "redirectTo", url.data, url.len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}
