/*
 * /v1/auth/federation/mail: a code by mail proves that the address of a proof
 * is its user's, where the proof alone does not do.
 *
 * The flow has kept the proof.  The code is bound to the flow and to the
 * proof's subject: neither another subject can spend it, nor the same one whose
 * address is another by now.
 */

#include "ngx_svc_email_challenge.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_keep.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_method.h"
#include "ngx_svc_federation_read.h"
#include "ngx_svc_federation_take.h"
#include "ngx_svc_hex.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_write.h"


#define NGX_SVC_FEDERATION_MAIL_KIND   "link"
#define NGX_SVC_FEDERATION_MAIL_TEXT   128      /* bytes of a member */
#define NGX_SVC_FEDERATION_MAIL_HITS   2        /* of the requests between the
                                                   first and the last one */


typedef struct {
    ngx_svc_value_t            flow;
    ngx_svc_value_t            id;
    ngx_svc_value_t            code;
} ngx_svc_federation_mail_body_t;


static ngx_int_t ngx_svc_federation_mail_start(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_mail_verify(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_mail_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_federation_mail_taken(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_mail_mac(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_mail_user(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_mail_started(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_mail_make(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_mail_open(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_mail_opened(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_mail_send(ngx_svc_login_t *login,
    PGresult *res);
static ngx_int_t ngx_svc_federation_mail_presented(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_mail_bound(
    ngx_svc_federation_flow_t *flow, u_char hash[NGX_SVC_SHA256_LEN]);
static ngx_int_t ngx_svc_federation_mail_code(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_mail_proof(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_mail_written(ngx_svc_request_t *sr);


#define ngx_svc_federation_mail_member(member, field)                         \
    { .name = ngx_string(member),                                             \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .min = 1,                                                               \
      .max = NGX_SVC_FEDERATION_MAIL_TEXT,                                    \
      .offset = offsetof(ngx_svc_federation_mail_body_t, field) }

static const ngx_svc_member_t  ngx_svc_federation_mail_start_members[] = {

    ngx_svc_federation_mail_member("flow", flow),

    ngx_svc_null_member
};

static const ngx_svc_member_t  ngx_svc_federation_mail_verify_members[] = {

    ngx_svc_federation_mail_member("flow", flow),
    ngx_svc_federation_mail_member("challengeId", id),
    ngx_svc_federation_mail_member("code", code),

    ngx_svc_null_member
};


#include "ngx_svc_federation_mail.sql.h"


static const ngx_svc_login_method_t  ngx_svc_federation_mail_method = {
    .methods = ngx_string("{email," NGX_SVC_FEDERATION_METHOD "}"),
    .error = NGX_SVC_E_CODE,
    .wrong = "The code is wrong.",
    .lost = ngx_svc_federation_over,
    .check = &ngx_svc_sql_federation_match,
    .session = &ngx_svc_sql_federation_session,
    .user_done = &ngx_svc_sql_signin_user_done,
    .proof = ngx_svc_federation_mail_proof,
    .committed = ngx_svc_federation_login_committed
};


const ngx_svc_route_t  ngx_svc_federation_mail[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/federation/mail/start"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_federation_mail_start_members,
      .statements = { &ngx_svc_sql_federation_tenant,
                      &ngx_svc_sql_federation_take,
                      &ngx_svc_sql_federation_user,
                      &ngx_svc_sql_federation_mail_lock },
      .status = NGX_HTTP_ACCEPTED,
      .prepare = ngx_svc_federation_mail_start,
      .reply = ngx_svc_federation_mail_started },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/federation/mail/verify"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_federation_mail_verify_members,
      .statements = { &ngx_svc_sql_federation_tenant,
                      &ngx_svc_sql_federation_take,
                      &ngx_svc_sql_federation_user,
                      &ngx_svc_sql_federation_mail_lock,
                      &ngx_svc_sql_federation_risk,
                      &ngx_svc_sql_email_challenge_try },
      .prepare = ngx_svc_federation_mail_verify,
      .reply = ngx_svc_federation_mail_presented },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_federation_mail_start(ngx_svc_request_t *sr)
{
    return ngx_svc_email_challenge_prepare(sr,
                                           sizeof(ngx_svc_federation_flow_t),
                                           &ngx_svc_federation_mail_method,
                                           ngx_svc_federation_mail_take);
}


static ngx_int_t
ngx_svc_federation_mail_verify(ngx_svc_request_t *sr)
{
    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_federation_flow_t),
                                 &ngx_svc_federation_mail_method,
                                 ngx_svc_federation_mail_take);
}


static ngx_int_t
ngx_svc_federation_mail_take(ngx_svc_login_t *login)
{
    ngx_int_t                        rc;
    ngx_svc_request_t               *sr;
    ngx_svc_federation_flow_t       *flow;
    ngx_svc_federation_mail_body_t   body;

    static const ngx_svc_value_t  none;

    sr = login->sr;
    flow = sr->data;
    flow->finishes = 1;
    flow->mailed = 1;
    flow->written = ngx_svc_federation_mail_written;

    ngx_memzero(&body, sizeof(ngx_svc_federation_mail_body_t));

    rc = ngx_svc_schema_object(sr->route->members, 0, sr->json, &body,
                               &sr->error);

    if (rc == NGX_OK && body.code.set) {
        rc = ngx_svc_email_challenge_take(login, NGX_SVC_FEDERATION_MAIL_KIND,
                                          &body.id, &body.code, &none);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    flow->state = body.flow.str;

    return ngx_svc_federation_take_client(flow);
}


/*
 * For a reply: takes the flow, whom it has found, and whether that user may
 * sign in from here and now.  Returns NGX_OK; NGX_DECLINED with sr->error set,
 * when the answer is that of ngx_svc_login_declined(); NGX_ERROR.
 */

static ngx_int_t
ngx_svc_federation_mail_taken(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = flow->login.sr;

    rc = ngx_svc_federation_taken(flow);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_kept(flow);
    }

    /* a flow that has ended otherwise may have a proof, too */

    if (rc == NGX_OK && !flow->mailable) {
        rc = ngx_svc_federation_over(sr);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_mail_mac(flow);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_judge(flow,
                          ngx_svc_result(sr, &ngx_svc_sql_federation_tenant));
    }

    return rc == NGX_OK ? ngx_svc_federation_mail_user(flow) : rc;
}


/*
 * The mails to an address are counted by it, whatever the flow has begun with.
 */

static ngx_int_t
ngx_svc_federation_mail_mac(ngx_svc_federation_flow_t *flow)
{
    ngx_str_t  *mac;

    mac = &flow->login.mailed.mac;

    mac->len = NGX_SVC_LIMIT_MAC_LEN;
    mac->data = ngx_pnalloc(flow->login.sr->request->pool,
                            NGX_SVC_LIMIT_MAC_LEN);

    return mac->data ? ngx_svc_limit_email(&flow->proof.email, mac->data)
                     : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_mail_user(ngx_svc_federation_flow_t *flow)
{
    PGresult                           *res;
    ngx_svc_request_t                  *sr;
    ngx_svc_row_federation_mail_lock_t  row;

    sr = flow->login.sr;
    res = ngx_svc_result(sr, &ngx_svc_sql_federation_mail_lock);

    if (PQntuples(res) == 0) {
        return ngx_svc_federation_over(sr);
    }

    ngx_svc_row_federation_mail_lock(&row, res, 0);

    return row.locked > 0 ? ngx_svc_login_locked(sr, row.locked) : NGX_OK;
}


static ngx_int_t
ngx_svc_federation_mail_started(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    rc = ngx_svc_federation_mail_taken(flow);

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_mail_make(flow);
    }

    switch (rc) {

    case NGX_OK:
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_federation_mail_open,
                                     ngx_svc_federation_mail_opened);

    case NGX_DECLINED:
        return ngx_svc_login_declined(&flow->login);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static ngx_int_t
ngx_svc_federation_mail_make(ngx_svc_federation_flow_t *flow)
{
    ngx_str_t  *data;

    data = &flow->login.mailed.data;

    data->len = NGX_SVC_SHA256_LEN;
    data->data = ngx_pnalloc(flow->login.sr->request->pool,
                             NGX_SVC_SHA256_LEN);

    return data->data
           && ngx_svc_federation_mail_bound(flow, data->data) == NGX_OK
           ? ngx_svc_email_challenge_new(&flow->login,
                                         NGX_SVC_FEDERATION_MAIL_KIND, 0)
           : NGX_ERROR;
}


/* What a challenge of the flow has as its data. */

static ngx_int_t
ngx_svc_federation_mail_bound(ngx_svc_federation_flow_t *flow,
    u_char hash[NGX_SVC_SHA256_LEN])
{
    u_char  text[NGX_SVC_UUID_LEN + NGX_SVC_SHA256_LEN];

    ngx_memcpy(ngx_cpymem(text, flow->id.data, NGX_SVC_UUID_LEN),
               flow->proof.subject_hash.data, NGX_SVC_SHA256_LEN);

    return ngx_svc_sha256(text, sizeof(text), hash);
}


static ngx_int_t
ngx_svc_federation_mail_open(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_federation_match,
        &ngx_svc_sql_email_challenge_lock,
        &ngx_svc_sql_federation_mail_open,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


/* Nobody gets a mail whom a code would not help any more. */

static ngx_int_t
ngx_svc_federation_mail_opened(ngx_svc_request_t *sr)
{
    ngx_int_t   rc;
    PGresult   *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_federation_mail_open);

    rc = PQntuples(res) ? ngx_svc_federation_mail_send(sr->data, res)
                        : ngx_svc_federation_over(sr);

    switch (rc) {

    case NGX_OK:
        return ngx_svc_email_challenge_accepted(sr->data, res);

    case NGX_DECLINED:
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static ngx_int_t
ngx_svc_federation_mail_send(ngx_svc_login_t *login, PGresult *res)
{
    ngx_svc_mail_t  mail;

    if (ngx_svc_email_challenge_mail(login, res, NULL, NULL, &mail)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    mail.kind = NGX_SVC_MAIL_SIGN_IN;

    return ngx_svc_email_challenge_send(login, &mail);
}


static ngx_int_t
ngx_svc_federation_mail_presented(ngx_svc_request_t *sr)
{
    ngx_int_t                   rc;
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    rc = ngx_svc_federation_mail_taken(flow);

    if (rc == NGX_DECLINED) {
        return ngx_svc_login_declined(&flow->login);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_mail_code(flow);
    }

    switch (rc) {

    case NGX_OK:
        flow->match = NGX_SVC_FEDERATION_LINK;
        return ngx_svc_federation_end(flow);

    case NGX_DECLINED:
        flow->login.asked.mac = flow->login.mailed.mac;
        flow->login.reason = NGX_SVC_LOGIN_WRONG;
        return ngx_svc_login_fail(&flow->login);

    case NGX_ABORT:
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/*
 * Returns as ngx_svc_email_challenge_verify(); the code of another flow, or of
 * another subject, is as one that is over, whether it is right or not.
 */

static ngx_int_t
ngx_svc_federation_mail_code(ngx_svc_federation_flow_t *flow)
{
    size_t                         len;
    u_char                         hash[NGX_SVC_SHA256_LEN];
    u_char                         bound[NGX_SVC_SHA256_LEN];
    PGresult                      *tried;
    ngx_svc_request_t             *sr;
    ngx_svc_row_challenge_tried_t  row;

    sr = flow->login.sr;
    tried = ngx_svc_result(sr, &ngx_svc_sql_email_challenge_try);
    ngx_svc_row_challenge_tried(&row, tried, 0, 0);

    if (ngx_svc_federation_mail_bound(flow, bound) != NGX_OK) {
        return NGX_ERROR;
    }

    len = sizeof(hash);

    if (row.id.len
        && (ngx_svc_hex_bytea(&row.data, hash, &len) != NGX_OK
            || len != sizeof(hash) || !ngx_svc_equal(hash, bound, len)))
    {
        (void) ngx_svc_email_challenge_over(sr);
        return NGX_ABORT;
    }

    return ngx_svc_email_challenge_verify(&flow->login, tried);
}


static ngx_int_t
ngx_svc_federation_mail_proof(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_email_challenge_use, NULL)
           == NGX_OK ? ngx_svc_federation_login_proof(sr) : NGX_ERROR;
}


/* The code may have been used, or be over, since it was looked at. */

static ngx_int_t
ngx_svc_federation_mail_written(ngx_svc_request_t *sr)
{
    PGresult                     *used;
    ngx_str_t                     mac;
    ngx_svc_login_t              *login;
    ngx_svc_row_login_checked_t   row;

    login = sr->data;
    used = ngx_svc_result(sr, &ngx_svc_sql_email_challenge_use);
    ngx_svc_row_login_checked(&row, ngx_svc_result(sr, login->method->check),
                              0, 0);

    if (row.verdict.len == 0 || row.verdict.data[0] != 'g') {
        return ngx_svc_login_lost(sr, row.locked);
    }

    if (PQgetisnull(used, 0, 0)) {
        (void) ngx_svc_email_challenge_over(sr);
        return ngx_svc_send_error(sr);
    }

    /* of the requests between, the client alone was counted */

    if (login->stage == NGX_SVC_STAGE_FULL) {
        mac = login->asked.mac;
        ngx_str_null(&login->asked.mac);

        ngx_svc_login_give_back(login, NGX_SVC_FEDERATION_MAIL_HITS);

        login->asked.mac = mac;
    }

    return ngx_svc_login_end(login);
}
