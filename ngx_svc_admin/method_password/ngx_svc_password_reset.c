/*
 * POST /v1/auth/password/reset: sets a new password for the token of a link.
 */

#include "ngx_svc_limit_then.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_new_password.h"
#include "ngx_svc_password_text.h"


#define NGX_SVC_RESET_TOKEN_MAX  128        /* bytes */


typedef struct {
    ngx_svc_value_t            token;
    ngx_svc_value_t            password;
    ngx_svc_value_t            tenant;
} ngx_svc_reset_body_t;

/* sr->data, in the request's pool.  It begins with the sign-in. */

typedef struct {
    ngx_svc_login_t            login;
    u_char                     digest[NGX_SVC_SHA256_LEN];
    ngx_str_t                  token;       /* points to digest */
    ngx_str_t                  sealed;
    ngx_str_t                  email;       /* its limits are cleared */
    ngx_str_t                  failures;    /* text: number of its failures */
} ngx_svc_reset_t;


static ngx_int_t ngx_svc_password_reset_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_reset_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_password_reset_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_reset_hash(ngx_svc_reset_t *reset,
    PGresult *res);
static void ngx_svc_password_reset_hashed(ngx_svc_password_job_t *job);
static ngx_int_t ngx_svc_password_reset_write(ngx_svc_request_t *sr);
static void ngx_svc_password_reset_committed(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_password_reset_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_reset_done(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_reset_invalid(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_password_reset_members[] = {

    { .name = ngx_string("token"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_RESET_TOKEN_MAX,
      .offset = offsetof(ngx_svc_reset_body_t, token) },

    { .name = ngx_string("password"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_PASSWORD_LEN,
      .offset = offsetof(ngx_svc_reset_body_t, password) },

    { .name = ngx_string("tenant"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_ADMIN_SLUG,
      .check = ngx_svc_login_slug,
      .offset = offsetof(ngx_svc_reset_body_t, tenant) },

    ngx_svc_null_member
};


#define ngx_svc_reset_param(field)  ngx_svc_param_data(ngx_svc_reset_t, field)


#include "ngx_svc_password_reset.sql.h"


const ngx_svc_route_t  ngx_svc_password_reset[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/password/reset"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_password_reset_members,
      .statements = { &ngx_svc_sql_signin_tenant, &ngx_svc_sql_reset_read },
      .status = NGX_HTTP_NO_CONTENT,
      .prepare = ngx_svc_password_reset_prepare,
      .reply = ngx_svc_password_reset_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_password_reset_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_reset_t), NULL,
                                 ngx_svc_password_reset_take);
}


static ngx_int_t
ngx_svc_password_reset_take(ngx_svc_login_t *login)
{
    ngx_int_t              rc;
    ngx_svc_reset_t       *reset;
    ngx_svc_request_t     *sr;
    ngx_svc_reset_body_t   body;

    sr = login->sr;
    reset = sr->data;

    ngx_memzero(&body, sizeof(ngx_svc_reset_body_t));

    rc = ngx_svc_schema_object(sr->route->members, 0, sr->json, &body,
                               &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_new_password_text(sr, "password", &body.password.str,
                                       &login->password.text);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    reset->token.data = reset->digest;
    reset->token.len = NGX_SVC_SHA256_LEN;

    if (ngx_svc_sha256(body.token.str.data, body.token.str.len, reset->digest)
        != NGX_OK
        || ngx_svc_login_take_client(login, &body.tenant) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_password_reset_reply(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_svc_reset_t  *reset;

    reset = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_reset_read);

    rc = ngx_svc_login_tenant(&reset->login,
                              ngx_svc_result(sr, &ngx_svc_sql_signin_tenant));

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (PQntuples(res) == 0) {
        return ngx_svc_password_reset_invalid(sr);
    }

    return ngx_svc_password_reset_hash(reset, res);
}


static ngx_int_t
ngx_svc_password_reset_hash(ngx_svc_reset_t *reset, PGresult *res)
{
    ngx_svc_login_t           *login;
    ngx_svc_password_job_t    *job;
    ngx_svc_row_reset_read_t   row;

    login = &reset->login;
    ngx_svc_row_reset_read(&row, res, 0);

    if (row.forced) {
        (void) ngx_svc_login_forced(login->sr);
        return ngx_svc_send_error(login->sr);
    }

    if (ngx_svc_uuid_parse(row.user.data, row.user.len, login->row.user)
           != NGX_OK
        || ngx_svc_login_copy(login, &login->password.version, row.password)
           != NGX_OK
        || ngx_svc_login_copy(login, &reset->email, row.email) != NGX_OK
        || ngx_svc_login_copy(login, &reset->failures, row.failures)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    login->user.data = login->row.user;
    login->user.len = NGX_SVC_UUID_LEN;

    job = ngx_svc_new_password_job(login->sr, &login->password.text,
                                   &login->row,
                                   res);
    if (job == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_signin_post(login->sr, job, ngx_svc_password_reset_hashed,
                               reset);
}


static void
ngx_svc_password_reset_hashed(ngx_svc_password_job_t *job)
{
    ngx_int_t            rc;
    ngx_connection_t    *c;
    ngx_svc_reset_t     *reset;
    ngx_svc_request_t   *sr;

    reset = job->data;
    sr = reset->login.sr;
    c = sr->request->connection;

    ngx_http_set_log_request(c->log, sr->request);

    rc = ngx_svc_new_password_result(sr, job, &reset->login.row,
                                     &reset->sealed);

    rc = (rc == NGX_OK)
         ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_password_reset_write,
                                 ngx_svc_password_reset_written)
         : rc == NGX_DECLINED ? ngx_svc_send_error(sr)
                              : NGX_HTTP_INTERNAL_SERVER_ERROR;

    ngx_http_finalize_request(sr->request, rc);

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_password_reset_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_reset_check,
        &ngx_svc_sql_reset_store,
        NULL
    };

    sr->op->committed = ngx_svc_password_reset_committed;

    return ngx_svc_login_calls(sr, list);
}


static void
ngx_svc_password_reset_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                             &ngx_svc_sql_reset_store));
}


static ngx_int_t
ngx_svc_password_reset_written(ngx_svc_request_t *sr)
{
    PGresult         *res;
    ngx_svc_reset_t  *reset;

    reset = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_reset_store);

    if (PQntuples(res) == 0) {
        return ngx_svc_password_reset_invalid(sr);
    }

    return ngx_svc_limit_clear_then(sr, &reset->email, &reset->failures,
                                    ngx_svc_password_reset_done);
}


static ngx_int_t
ngx_svc_password_reset_done(ngx_svc_request_t *sr)
{
    if (ngx_svc_signin_no_store(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_send_empty(sr, NGX_HTTP_NO_CONTENT);
}


static ngx_int_t
ngx_svc_password_reset_invalid(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_TOKEN,
                        "The token is unknown, expired or has been used: ask "
                        "for another one.");

    return ngx_svc_send_error(sr);
}
