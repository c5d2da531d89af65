/*
 * POST /v1/auth/password: a user sets a new password, and presents the old one.
 */

#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_new_password.h"
#include "ngx_svc_password_method.h"
#include "ngx_svc_password_text.h"


typedef struct {
    ngx_svc_value_t            current;
    ngx_svc_value_t            new;
} ngx_svc_change_body_t;

/* sr->data, in the request's pool.  It begins with the sign-in. */

typedef struct {
    ngx_svc_login_t            login;       /* its password is the new one */
    ngx_str_t                  current;     /* no data: it is not needed */
    ngx_str_t                  sealed;
    ngx_uint_t                 waiting;     /* 1: the session waits for this */
    PGresult                  *res;         /* copy of what has been read */
} ngx_svc_change_t;


static ngx_int_t ngx_svc_password_change_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_password_change_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_change_read(ngx_svc_change_t *change,
    PGresult *res);
static ngx_int_t ngx_svc_password_change_verify(ngx_svc_change_t *change);
static void ngx_svc_password_change_verified(ngx_svc_password_job_t *job);
static ngx_int_t ngx_svc_password_change_verdict(ngx_svc_change_t *change,
    ngx_svc_password_job_t *job);
static ngx_int_t ngx_svc_password_change_hash(ngx_svc_change_t *change);
static void ngx_svc_password_change_hashed(ngx_svc_password_job_t *job);
static void ngx_svc_password_change_end(ngx_svc_request_t *sr, ngx_int_t rc);
static ngx_int_t ngx_svc_password_change_write(ngx_svc_request_t *sr);
static void ngx_svc_password_change_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_password_change_signed_in(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_password_change_written(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_password_change_members[] = {

    { .name = ngx_string("currentPassword"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .min = 1,
      .max = NGX_SVC_PASSWORD_LEN,
      .offset = offsetof(ngx_svc_change_body_t, current) },

    { .name = ngx_string("newPassword"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_PASSWORD_LEN,
      .offset = offsetof(ngx_svc_change_body_t, new) },

    ngx_svc_null_member
};


#include "ngx_svc_password_change.sql.h"


const ngx_svc_route_t  ngx_svc_password_change[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/password"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_PENDING_PASSWORD
               |NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_password_change_members,
      .body_size = sizeof(ngx_svc_change_body_t),
      .check = ngx_svc_password_change_check,
      .statements = { &ngx_svc_sql_change_read },
      .reply = ngx_svc_password_change_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_password_change_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t               rc;
    ngx_svc_change_t       *change;
    ngx_svc_change_body_t  *members = body;

    change = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_change_t));
    if (change == NULL) {
        return NGX_ERROR;
    }

    change->login.sr = sr;
    sr->data = change;

    if (members->current.set && !members->current.null) {
        rc = ngx_svc_new_password_text(sr, "currentPassword",
                                       &members->current.str,
                                       &change->current);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    rc = ngx_svc_new_password_text(sr, "newPassword", &members->new.str,
                                   &change->login.password.text);

    return rc == NGX_OK ? ngx_svc_login_take_client(&change->login, NULL) : rc;
}


static ngx_int_t
ngx_svc_password_change_reply(ngx_svc_request_t *sr)
{
    PGresult          *res;
    ngx_int_t          rc;
    ngx_svc_change_t  *change;

    change = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_change_read);

    if (PQntuples(res) == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_password_change_read(change, res);

    if (rc == NGX_OK) {
        return change->current.data ? ngx_svc_password_change_verify(change)
                                    : ngx_svc_password_change_hash(change);
    }

    return ngx_svc_login_unread(sr, rc);
}


/* Copies the result, which is gone before the hash is made. */

static ngx_int_t
ngx_svc_password_change_read(ngx_svc_change_t *change, PGresult *res)
{
    ngx_svc_request_t          *sr;
    ngx_svc_row_change_read_t   row;

    sr = change->login.sr;

    change->res = ngx_svc_pg_result_copy(res, sr->request->pool);
    ngx_svc_row_change_read(&row, res, 0);

    if (change->res == NULL
        || ngx_svc_login_take_user(&change->login, &row.login_session)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_svc_login_bars(&change->login, &row.login_session.login_bars)
        != NGX_OK)
    {
        return sr->error.kind == NGX_SVC_E_NONE ? NGX_ERROR : NGX_DECLINED;
    }

    change->login.reason = NGX_SVC_LOGIN_WRONG;
    change->waiting = row.waiting;

    if (row.directory) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_DIRECTORY, "%s",
                            NGX_SVC_PASSWORD_DIRECTORY);
    }

    if (row.locked > 0) {
        return ngx_svc_login_locked(sr, row.locked);
    }

    if (change->current.data == NULL && !change->waiting) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"currentPassword\" is required.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_password_change_verify(ngx_svc_change_t *change)
{
    ngx_int_t                   rc;
    ngx_str_t                   stored;
    ngx_svc_login_t            *login;
    ngx_svc_password_job_t     *job;
    ngx_svc_row_change_read_t   row;

    login = &change->login;
    ngx_svc_row_change_read(&row, change->res, 0);

    ngx_str_null(&stored);

    rc = row.hash.data ? ngx_svc_stored_open(login->sr, &login->row, &row.hash,
                                             &stored)
                       : NGX_OK;

    job = (rc != NGX_OK) ? NULL
          : ngx_svc_password_create(login->sr->request->pool,
                                    &change->current);
    if (job == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (stored.data == NULL) {
        job->work.dummy = 1;

    } else if (ngx_svc_password_add(job, &stored) != NGX_OK) {
        ngx_svc_password_cancel(job);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_signin_post(change->login.sr, job,
                               ngx_svc_password_change_verified, change);
}


static void
ngx_svc_password_change_verified(ngx_svc_password_job_t *job)
{
    ngx_svc_change_t  *change;

    change = job->data;

    ngx_http_set_log_request(change->login.sr->request->connection->log,
                             change->login.sr->request);

    ngx_svc_password_change_end(change->login.sr,
                             ngx_svc_password_change_verdict(change, job));
}


static ngx_int_t
ngx_svc_password_change_verdict(ngx_svc_change_t *change,
    ngx_svc_password_job_t *job)
{
    if (job->rc == NGX_BUSY) {
        return ngx_svc_signin_busy(change->login.sr);
    }

    if (job->rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (job->work.matched == -1) {
        return ngx_svc_request_again(change->login.sr, NGX_SVC_PG_WRITE,
                                     ngx_svc_login_failed_again,
                                     ngx_svc_login_failure_reply);
    }

    return ngx_svc_password_change_hash(change);
}


static ngx_int_t
ngx_svc_password_change_hash(ngx_svc_change_t *change)
{
    ngx_svc_password_job_t  *job;

    job = ngx_svc_new_password_job(change->login.sr,
                                   &change->login.password.text,
                                   &change->login.row, change->res);
    if (job == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_signin_post(change->login.sr, job,
                               ngx_svc_password_change_hashed, change);
}


static void
ngx_svc_password_change_hashed(ngx_svc_password_job_t *job)
{
    ngx_int_t           rc;
    ngx_svc_change_t   *change;
    ngx_svc_request_t  *sr;

    change = job->data;
    sr = change->login.sr;

    ngx_http_set_log_request(sr->request->connection->log, sr->request);

    rc = ngx_svc_new_password_result(sr, job, &change->login.row,
                                     &change->sealed);

    rc = (rc == NGX_OK)
         ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_password_change_write,
                                 ngx_svc_password_change_written)
         : rc == NGX_DECLINED ? ngx_svc_send_error(sr)
                              : NGX_HTTP_INTERNAL_SERVER_ERROR;

    ngx_svc_password_change_end(sr, rc);
}


static void
ngx_svc_password_change_end(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_connection_t  *c;

    c = sr->request->connection;

    ngx_http_finalize_request(sr->request, rc);

    ngx_http_run_posted_requests(c);
}


/* The same write completes a sign-in that has waited for a new password. */

static ngx_int_t
ngx_svc_password_change_write(ngx_svc_request_t *sr)
{
    ngx_int_t          rc;
    ngx_svc_change_t  *change;

    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_lock,
        &ngx_svc_sql_change_check,
        &ngx_svc_sql_change_store,
        &ngx_svc_sql_change_rotate,
        NULL
    };

    change = sr->data;

    if (ngx_svc_signin_key(&change->login.session, change->login.row.tenant)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    sr->op->committed = ngx_svc_password_change_committed;
    rc = ngx_svc_login_calls(sr, list);

    if (rc == NGX_OK && change->waiting) {
        sr->op->committed = ngx_svc_password_change_signed_in;
        rc = ngx_svc_login_complete(sr);
    }

    return rc == NGX_OK
           ? ngx_svc_route_call(sr, &ngx_svc_sql_signin_session_made, NULL)
           : rc;
}


static void
ngx_svc_password_change_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice_changed(results,
                           ngx_svc_pg_result(results,
                                             &ngx_svc_sql_change_store));
}


static void
ngx_svc_password_change_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_notice(NGX_SVC_MAIL_CHANGED,
                   ngx_svc_pg_result(results, &ngx_svc_sql_change_store));
    ngx_svc_login_completed(results);
}


static ngx_int_t
ngx_svc_password_change_written(ngx_svc_request_t *sr)
{
    ngx_svc_change_t             *change;
    ngx_svc_row_login_checked_t   row;

    change = sr->data;
    ngx_svc_row_login_checked(&row,
                         ngx_svc_result(sr, &ngx_svc_sql_change_check), 0, 0);

    if (row.verdict.len == 0 || row.verdict.data[0] != 'g') {
        return ngx_svc_login_lost(sr, row.locked);
    }

    if (ngx_svc_session_set_cookies(sr, change->login.session.key) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (change->waiting) {
        ngx_svc_login_give_back(&change->login, 1);
    }

    return ngx_svc_signin_session(sr,
                        ngx_svc_result(sr, &ngx_svc_sql_signin_session_made),
                        change->login.session.key);
}
