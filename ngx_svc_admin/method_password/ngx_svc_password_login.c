/*
 * POST /v1/auth/login: a sign-in with a password.
 */

#include "ngx_svc_admin_conf.h"
#include "ngx_svc_email.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_new_password.h"
#include "ngx_svc_password_text.h"


#define NGX_SVC_PASSWORD_ANY  65536     /* bytes, more than a body has */


typedef struct {
    ngx_svc_login_body_t       login;
    ngx_svc_value_t            password;
    ngx_svc_value_t            connection;
} ngx_svc_password_login_body_t;


static ngx_int_t ngx_svc_password_login_connection(
    const ngx_svc_member_t *member, ngx_svc_value_t *value, const char *path,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_password_login_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_login_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_password_login_values(ngx_svc_login_t *login,
    ngx_svc_password_login_body_t *body);
static ngx_int_t ngx_svc_password_login_bad(ngx_svc_login_t *login,
    ngx_svc_password_login_body_t *body);
static ngx_int_t ngx_svc_password_login_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_login_here(ngx_svc_login_t *login);
static const ngx_svc_login_directory_t *ngx_svc_password_login_directory(
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_login_stored(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_password_login_risk(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_login_risk_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_login_hash(ngx_svc_login_t *login);
static void ngx_svc_password_login_hashed(ngx_svc_password_job_t *job);
static ngx_int_t ngx_svc_password_login_verdict(ngx_svc_login_t *login,
    ngx_svc_password_job_t *job);
static ngx_int_t ngx_svc_password_login_right(ngx_svc_login_t *login,
    ngx_svc_password_work_t *work);
static ngx_int_t ngx_svc_password_login_proof(ngx_svc_request_t *sr);


#define ngx_svc_password_login_member_list(least, most)                       \
                                                                              \
    ngx_svc_login_members,                                                    \
                                                                              \
    { .name = ngx_string("password"),                                         \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .min = least,                                                           \
      .max = most,                                                            \
      .offset = offsetof(ngx_svc_password_login_body_t, password) },          \
                                                                              \
    { .name = ngx_string("connection"),                                       \
      .type = NGX_SVC_T_STRING,                                               \
      .check = ngx_svc_password_login_connection,                             \
      .offset = offsetof(ngx_svc_password_login_body_t, connection) },        \
                                                                              \
    ngx_svc_null_member

static const ngx_svc_member_t  ngx_svc_password_login_members[] = {
    ngx_svc_password_login_member_list(1, NGX_SVC_PASSWORD_LEN)
};

/* Those of a password that is nobody's. */

static const ngx_svc_member_t  ngx_svc_password_login_any[] = {
    ngx_svc_password_login_member_list(0, NGX_SVC_PASSWORD_ANY)
};


const ngx_svc_login_method_t  ngx_svc_password_login_method = {
    .methods = ngx_string("{password}"),
    .error = NGX_SVC_E_CREDENTIALS,
    .wrong = "The e-mail address or the password is wrong.",
    .check = &ngx_svc_sql_signin_check,
    .user_done = &ngx_svc_sql_signin_user_done,
    .proof = ngx_svc_password_login_proof
};


const ngx_svc_route_t  ngx_svc_password_login[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/login"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .statements = { &ngx_svc_sql_signin_way,
                      &ngx_svc_sql_signin_user },
      .prepare = ngx_svc_password_login_prepare,
      .reply = ngx_svc_password_login_reply },

    ngx_svc_null_route
};


/* The password is one that is stored here, and no directory's. */

static ngx_int_t
ngx_svc_password_login_connection(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    static const ngx_str_t  local = ngx_string("local");

    return ngx_svc_same(&value->str, &local)
           ? NGX_OK
           : ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                          "\"%s\" must be \"local\".", path);
}


static ngx_int_t
ngx_svc_password_login_prepare(ngx_svc_request_t *sr)
{
    const ngx_svc_login_directory_t  *directory;

    directory = ngx_svc_password_login_directory(sr);

    return ngx_svc_login_prepare(sr, directory ? directory->size
                                               : sizeof(ngx_svc_login_t),
                                 &ngx_svc_password_login_method,
                                 ngx_svc_password_login_take);
}


static ngx_int_t
ngx_svc_password_login_take(ngx_svc_login_t *login)
{
    ngx_int_t                       rc;
    ngx_svc_password_login_body_t   body;

    login->password.began = ngx_current_msec;

    rc = ngx_svc_password_login_values(login, &body);

    if (rc == NGX_DECLINED && ngx_svc_password_login_directory(login->sr)) {
        rc = ngx_svc_password_login_bad(login, &body);
    }

    if (rc == NGX_OK) {
        login->password.sent = body.password.str;
        login->asked.stored = body.connection.set;
        rc = ngx_svc_login_take_address(login, &body.login);
    }

    return rc == NGX_OK ? ngx_svc_login_take_session(login) : rc;
}


static ngx_int_t
ngx_svc_password_login_values(ngx_svc_login_t *login,
    ngx_svc_password_login_body_t *body)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = login->sr;
    ngx_memzero(body, sizeof(ngx_svc_password_login_body_t));

    rc = ngx_svc_schema_object(ngx_svc_password_login_members, 0, sr->json,
                               body, &sr->error);

    return rc == NGX_OK
           ? ngx_svc_new_password_text(sr, "password", &body->password.str,
                                       &login->password.text)
           : rc;
}


/*
 * When nothing but the password is wrong: to a directory it is a wrong one, as
 * others are, and anywhere else it is refused when that is known.
 */

static ngx_int_t
ngx_svc_password_login_bad(ngx_svc_login_t *login,
    ngx_svc_password_login_body_t *body)
{
    ngx_svc_error_t     err, *bad;
    ngx_svc_request_t  *sr;

    sr = login->sr;
    err.kind = NGX_SVC_E_NONE;
    ngx_memzero(body, sizeof(ngx_svc_password_login_body_t));

    if (ngx_svc_schema_object(ngx_svc_password_login_any, 0, sr->json, body,
                              &err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    bad = ngx_palloc(sr->request->pool, sizeof(ngx_svc_error_t));
    if (bad == NULL) {
        return NGX_ERROR;
    }

    *bad = sr->error;
    login->password.bad = bad;
    sr->error.kind = NGX_SVC_E_NONE;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_password_login_reply(ngx_svc_request_t *sr)
{
    PGresult                  *way;
    ngx_int_t                  rc;
    ngx_str_t                  id;
    ngx_svc_login_t           *login;
    ngx_svc_row_signin_way_t   row;

    login = sr->data;
    way = ngx_svc_result(sr, &ngx_svc_sql_signin_way);

    ngx_str_null(&id);

    if (PQntuples(way)) {
        ngx_svc_row_signin_way(&row, way, 0);
        id = row.directory;
    }

    if (id.data == NULL && login->password.bad) {
        sr->error = *login->password.bad;
        return ngx_svc_send_error(sr);
    }

    rc = ngx_svc_login_decide(login, way,
                              ngx_svc_result(sr, &ngx_svc_sql_signin_user));

    if (rc == NGX_DECLINED) {
        return ngx_svc_login_declined(login);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return id.data ? ngx_svc_password_login_directory(sr)->ask(login, &id)
                   : ngx_svc_password_login_here(login);
}


static ngx_int_t
ngx_svc_password_login_here(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (ngx_svc_password_login_stored(login) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return login->risk.enabled
           ? ngx_svc_request_again(sr, NGX_SVC_PG_READ,
                                   ngx_svc_password_login_risk,
                                   ngx_svc_password_login_risk_reply)
           : ngx_svc_password_login_hash(login);
}


static const ngx_svc_login_directory_t *
ngx_svc_password_login_directory(ngx_svc_request_t *sr)
{
    ngx_svc_admin_main_conf_t  *amcf;

    amcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_admin_module);

    return amcf->directory;
}


/*
 * The risk is read only where the tenant looks at risks, in a round trip of its
 * own, whether or not there is a user.  For all other tenants its statement
 * would take a fifth of a sign-in.
 */

static ngx_int_t
ngx_svc_password_login_risk(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_route_call(sr, &ngx_svc_sql_signin_tenant, NULL);

    return rc == NGX_OK ? ngx_svc_route_call(sr, &ngx_svc_sql_signin_risk, NULL)
                        : rc;
}


/* The write looks again whether the tenant still exists. */

static ngx_int_t
ngx_svc_password_login_risk_reply(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_login_take_risk(login,
                            ngx_svc_result(sr, &ngx_svc_sql_signin_risk));

    return ngx_svc_password_login_hash(login);
}


/*
 * A hash that cannot be opened makes the request fail: the password is neither
 * right nor wrong.
 */

static ngx_int_t
ngx_svc_password_login_stored(ngx_svc_login_t *login)
{
    ngx_svc_row_signin_user_t  row;

    if (login->user.data == NULL) {
        return NGX_OK;
    }

    ngx_svc_row_signin_user(&row,
                      ngx_svc_result(login->sr, &ngx_svc_sql_signin_user), 0);

    login->password.expired = row.expired;
    login->read.unfailed = row.unfailed;
    login->read.few_sessions = row.few;
    login->read.few_devices = row.few_devices;

    if (ngx_svc_login_copy(login, &login->password.version, row.version)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (login->reason != NGX_SVC_LOGIN_WRONG) {
        return NGX_OK;
    }

    if (row.hash.data == NULL) {
        login->reason = NGX_SVC_LOGIN_NO_PASSWORD;
        return NGX_OK;
    }

    return ngx_svc_stored_open(login->sr, &login->row, &row.hash,
                               &login->password.stored);
}


/* Without a hash to compare with, a dummy takes as long. */

static ngx_int_t
ngx_svc_password_login_hash(ngx_svc_login_t *login)
{
    ngx_svc_password_job_t  *job;

    job = ngx_svc_password_create(login->sr->request->pool,
                                  &login->password.text);
    if (job == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (login->password.stored.data == NULL) {
        job->work.dummy = 1;

    } else if (ngx_svc_password_add(job, &login->password.stored) != NGX_OK) {
        ngx_svc_password_cancel(job);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    job->work.make = NGX_SVC_PASSWORD_RENEW;

    return ngx_svc_signin_post(login->sr, job, ngx_svc_password_login_hashed,
                               login);
}


static void
ngx_svc_password_login_hashed(ngx_svc_password_job_t *job)
{
    ngx_connection_t    *c;
    ngx_svc_login_t     *login;
    ngx_http_request_t  *r;

    login = job->data;
    r = login->sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_password_login_verdict(login, job));

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_password_login_verdict(ngx_svc_login_t *login,
    ngx_svc_password_job_t *job)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (job->rc == NGX_BUSY) {
        return ngx_svc_signin_busy(sr);
    }

    if (job->rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (job->work.refused != -1) {
        ngx_log_error(NGX_LOG_ALERT, sr->request->connection->log, 0,
                      "svc: the stored password of a user is damaged");
    }

    if (job->work.matched == -1) {

        if (!sr->tenant_known) {
            (void) ngx_svc_login_wrong(sr);
            return ngx_svc_login_refused(login);
        }

        return ngx_svc_login_fail(login);
    }

    return ngx_svc_password_login_right(login, &job->work);
}


static ngx_int_t
ngx_svc_password_login_right(ngx_svc_login_t *login,
    ngx_svc_password_work_t *work)
{
    if (work->made_len
        && ngx_svc_stored_seal(login->sr, &login->row, work->made,
                               work->made_len, &login->password.rehash)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_login_stage(login, 0);

    return ngx_svc_login_succeed(login);
}


static ngx_int_t
ngx_svc_password_login_proof(ngx_svc_request_t *sr)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    return login->password.rehash.data
           ? ngx_svc_route_call(sr, &ngx_svc_sql_signin_rehash, NULL)
           : NGX_OK;
}
