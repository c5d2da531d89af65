/*
 * POST /v1/auth/organizations and /v1/auth/organizations/verify: make a tenant
 * and its owner, where the operator lets anybody sign up an organization.
 */

#include "ngx_svc_bidi.h"
#include "ngx_svc_email.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_signup.h"


#define NGX_SVC_ORGANIZATIONS        10000  /* sign-ups that wait for a code */
#define NGX_SVC_ORGANIZATION_NAME    120    /* characters */
#define NGX_SVC_ORGANIZATION_KIND    "organization"


static ngx_int_t ngx_svc_organization_signup_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_organization_signup_tenant(ngx_svc_signup_t *signup);
static ngx_int_t ngx_svc_organization_signup_made(ngx_svc_account_t *account);
static ngx_int_t ngx_svc_organization_signup_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_organization_signup_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_organization_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_organization_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_organization_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_organization_write(ngx_svc_request_t *sr);
static void ngx_svc_organization_committed(
    const ngx_svc_pg_results_t *results);
static void ngx_svc_organization_signed_in(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_organization_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_organization_taken(ngx_svc_request_t *sr);


static const ngx_svc_member_t  ngx_svc_organization_signup_members[] = {

    { .name = ngx_string("slug"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_SLUG,
      .check = ngx_svc_login_slug,
      .offset = offsetof(ngx_svc_signup_body_t, slug) },

    { .name = ngx_string("name"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ORGANIZATION_NAME,
      .check = ngx_svc_check_name,
      .offset = offsetof(ngx_svc_signup_body_t, name) },

    ngx_svc_signup_email,
    ngx_svc_account_proof,

    ngx_svc_null_member
};


#include "ngx_svc_organization_signup.sql.h"


const ngx_svc_route_t  ngx_svc_organization_signup[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/organizations"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_organization_signup_members,
      .statements = { &ngx_svc_sql_organization_read },
      .status = NGX_HTTP_ACCEPTED,
      .prepare = ngx_svc_signup_prepare,
      .reply = ngx_svc_organization_signup_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/organizations/verify"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE
               |NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_email_presented_members,
      .statements = { &ngx_svc_sql_organization_try },
      .status = NGX_HTTP_CREATED,
      .prepare = ngx_svc_organization_prepare,
      .reply = ngx_svc_organization_reply },

    ngx_svc_null_route
};


/* It is no secret that a slug is taken: the tenant's page is public. */

static ngx_int_t
ngx_svc_organization_signup_reply(ngx_svc_request_t *sr)
{
    PGresult                         *res;
    ngx_svc_signup_t                 *signup;
    ngx_svc_row_organization_read_t   row;

    signup = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_organization_read);
    ngx_svc_row_organization_read(&row, res, 0);

    if (row.taken) {
        return ngx_svc_organization_taken(sr);
    }

    if (ngx_svc_organization_signup_tenant(signup) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_account_make(&signup->account, res,
                                ngx_svc_organization_signup_made);
}


/* Makes the id of the future tenant, which the proof is sealed for. */

static ngx_int_t
ngx_svc_organization_signup_tenant(ngx_svc_signup_t *signup)
{
    signup->tenant.data = signup->account.login.row.tenant;
    signup->tenant.len = NGX_SVC_UUID_LEN;

    return ngx_svc_uuid_new(signup->tenant.data);
}


static ngx_int_t
ngx_svc_organization_signup_made(ngx_svc_account_t *account)
{
    ngx_svc_request_t  *sr;

    sr = account->login.sr;

    if (ngx_svc_signup_challenge(sr->data, NGX_SVC_ORGANIZATION_KIND)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* all sign-ups share one backlog: that of the id 0, which no tenant has */

    sr->tenant_known = 1;

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_organization_signup_write,
                                 ngx_svc_organization_signup_written);
}


static ngx_int_t
ngx_svc_organization_signup_write(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_organization_open, NULL);
}


static ngx_int_t
ngx_svc_organization_signup_written(ngx_svc_request_t *sr)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_svc_mail_t    mail;
    ngx_svc_login_t  *login;

    login = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_organization_open);

    if (PQntuples(res) == 0) {
        rc = ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                          "Too many organizations are being signed up: try "
                          "again later.");
        return ngx_svc_account_failed(sr, rc);
    }

    rc = ngx_svc_email_challenge_mail(login, res, "/login", "#organization=",
                                      &mail);

    if (rc == NGX_OK) {
        mail.kind = NGX_SVC_MAIL_SIGNUP;
        rc = ngx_svc_email_challenge_send(login, &mail);
    }

    return rc == NGX_OK ? ngx_svc_email_challenge_accepted(login, res)
                        : ngx_svc_account_failed(sr, rc);
}


static ngx_int_t
ngx_svc_organization_prepare(ngx_svc_request_t *sr)
{
    sr->tenant_known = 1;

    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_signup_t), NULL,
                                 ngx_svc_organization_take);
}


static ngx_int_t
ngx_svc_organization_take(ngx_svc_login_t *login)
{
    return ngx_svc_email_challenge_presented(login, NGX_SVC_ORGANIZATION_KIND);
}


static ngx_int_t
ngx_svc_organization_reply(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_signup_presented(sr->data,
                          ngx_svc_result(sr, &ngx_svc_sql_organization_try));

    if (rc != NGX_OK) {
        return ngx_svc_account_failed(sr, rc);
    }

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_organization_write,
                                 ngx_svc_organization_written);
}


static ngx_int_t
ngx_svc_organization_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_organization_create,
        &ngx_svc_sql_organization_user,
        NULL
    };

    return ngx_svc_account_write(sr->data, list,
                                 ngx_svc_organization_committed,
                                 ngx_svc_organization_signed_in);
}


static void
ngx_svc_organization_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_committed(results, &ngx_svc_sql_organization_user);
}


static void
ngx_svc_organization_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_signed_in(results, &ngx_svc_sql_organization_user);
}


static ngx_int_t
ngx_svc_organization_written(ngx_svc_request_t *sr)
{
    ngx_svc_row_organization_create_t  row;

    ngx_svc_row_organization_create(&row,
                    ngx_svc_result(sr, &ngx_svc_sql_organization_create), 0);

    switch (row.verdict.data[0]) {

    case 'm':
        return ngx_svc_login_end(sr->data);

    case 't':
        return ngx_svc_organization_taken(sr);

    default:
        return ngx_svc_account_failed(sr, ngx_svc_email_challenge_over(sr));
    }
}


static ngx_int_t
ngx_svc_organization_taken(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_SLUG_TAKEN,
                        "A tenant with this slug exists already: take another "
                        "one.");

    return ngx_svc_send_error(sr);
}
