/*
 * POST /v1/auth/password/forgot: mails a link to set a password.
 *
 * The answer is sent first, and the user of the address is looked up a while
 * later, when the answer has arrived.  So no client can tell from the time of
 * an answer whether there is a user, not even by how busy the processor is.
 */

#include "ngx_svc_base64.h"
#include "ngx_svc_email_challenge.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_notice.h"
#include "ngx_svc_password_method.h"


#define NGX_SVC_FORGOT_TOKEN   32       /* bytes */
#define NGX_SVC_FORGOT_BEGIN   250      /* ms */


/* sr->data, in the request's pool.  It begins with the sign-in. */

typedef struct {
    ngx_svc_login_t   login;
    u_char            token[ngx_svc_base64url_len(NGX_SVC_FORGOT_TOKEN)];
    u_char            digest[NGX_SVC_SHA256_LEN];
    ngx_str_t         hash;             /* points to digest */
} ngx_svc_forgot_t;


/* What is done after the answer, in a pool of its own. */

typedef struct {
    ngx_str_t         host;
    ngx_str_t         slug;             /* no data: none was named */
    ngx_str_t         email;
    ngx_str_t         ip;
    ngx_str_t         country;
    ngx_str_t         user_agent;
    ngx_str_t         request_id;
    ngx_str_t         hash;
    ngx_str_t         base;
    ngx_str_t         languages;
    ngx_str_t         link;
    u_char            tenant[NGX_SVC_UUID_LEN];
    ngx_svc_pg_op_t  *op;
    ngx_event_t       timer;
} ngx_svc_forgot_later_t;


static ngx_int_t ngx_svc_password_forgot_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_forgot_take(ngx_svc_login_t *login);
static ngx_int_t ngx_svc_password_forgot_token(ngx_svc_forgot_t *forgot);
static ngx_int_t ngx_svc_password_forgot_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_forgot_begin(ngx_svc_forgot_t *forgot,
    PGresult *tenant);
static ngx_svc_forgot_later_t *ngx_svc_password_forgot_later(
    ngx_svc_forgot_t *forgot, ngx_pool_t *pool, PGresult *tenant);
static ngx_uint_t ngx_svc_password_forgot_copy(ngx_pool_t *pool, ngx_str_t *to,
    const ngx_str_t *from);
static ngx_int_t ngx_svc_password_forgot_op(ngx_svc_forgot_later_t *later,
    ngx_pool_t *pool);
static void ngx_svc_password_forgot_submit(ngx_event_t *ev);
static void ngx_svc_password_forgot_written(ngx_svc_pg_op_t *op);
static void ngx_svc_password_forgot_mail(ngx_svc_forgot_later_t *later,
    ngx_pool_t *pool, PGresult *user);
static ngx_int_t ngx_svc_password_forgot_accepted(ngx_svc_request_t *sr);


#include "ngx_svc_password_forgot.sql.h"


const ngx_svc_route_t  ngx_svc_password_forgot[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/password/forgot"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_login_address_members,
      .statements = { &ngx_svc_sql_signin_tenant,
                      &ngx_svc_sql_password_forgot_blocked },
      .status = NGX_HTTP_ACCEPTED,
      .prepare = ngx_svc_password_forgot_prepare,
      .reply = ngx_svc_password_forgot_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_password_forgot_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_email_challenge_prepare(sr, sizeof(ngx_svc_forgot_t), NULL,
                                           ngx_svc_password_forgot_take);
}


static ngx_int_t
ngx_svc_password_forgot_take(ngx_svc_login_t *login)
{
    ngx_int_t  rc;

    login->limit.family = NGX_SVC_LIMIT_SIGNUP;

    rc = ngx_svc_login_address(login);

    return rc == NGX_OK ? ngx_svc_password_forgot_token(login->sr->data) : rc;
}


static ngx_int_t
ngx_svc_password_forgot_token(ngx_svc_forgot_t *forgot)
{
    u_char  secret[NGX_SVC_FORGOT_TOKEN];

    forgot->hash.data = forgot->digest;
    forgot->hash.len = NGX_SVC_SHA256_LEN;

    if (ngx_svc_random(secret, sizeof(secret)) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_svc_base64url(forgot->token, secret, sizeof(secret));
    ngx_explicit_memzero(secret, sizeof(secret));

    if (ngx_svc_wipe_later(forgot->login.sr->request->pool, forgot->token,
                           sizeof(forgot->token))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_sha256(forgot->token, sizeof(forgot->token),
                          forgot->digest);
}


/* The tenant is read first, as a write waits in its tenant's backlog. */

static ngx_int_t
ngx_svc_password_forgot_reply(ngx_svc_request_t *sr)
{
    PGresult                               *tenant;
    ngx_int_t                               rc;
    ngx_svc_forgot_t                       *forgot;
    ngx_svc_row_password_forgot_blocked_t   block;

    forgot = sr->data;
    tenant = ngx_svc_result(sr, &ngx_svc_sql_signin_tenant);
    ngx_svc_row_password_forgot_blocked(&block,
                ngx_svc_result(sr, &ngx_svc_sql_password_forgot_blocked), 0);

    rc = ngx_svc_login_tenant(&forgot->login, tenant);

    if (rc == NGX_OK && block.blocked) {
        rc = ngx_svc_login_barred(sr);
    }

    if (rc == NGX_OK && sr->tenant_known) {
        rc = ngx_svc_password_forgot_begin(forgot, tenant);
    }

    switch (rc) {

    case NGX_OK:
        return ngx_svc_password_forgot_accepted(sr);

    case NGX_DECLINED:
        return ngx_svc_send_error(sr);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static ngx_int_t
ngx_svc_password_forgot_begin(ngx_svc_forgot_t *forgot, PGresult *tenant)
{
    ngx_pool_t              *pool;
    ngx_svc_forgot_later_t  *later;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    later = ngx_svc_password_forgot_later(forgot, pool, tenant);

    if (later == NULL || ngx_svc_password_forgot_op(later, pool) != NGX_OK) {
        ngx_destroy_pool(pool);
        return NGX_ERROR;
    }

    later->timer.handler = ngx_svc_password_forgot_submit;
    later->timer.data = later;
    later->timer.log = ngx_cycle->log;

    ngx_add_timer(&later->timer, NGX_SVC_FORGOT_BEGIN);

    return NGX_OK;
}


/* Copies what is the request's, which does not wait. */

static ngx_svc_forgot_later_t *
ngx_svc_password_forgot_later(ngx_svc_forgot_t *forgot, ngx_pool_t *pool,
    PGresult *tenant)
{
    ngx_str_t                    token, link, languages;
    ngx_svc_login_t             *login;
    ngx_svc_forgot_later_t      *later;
    ngx_svc_row_login_tenant_t   row;

    login = &forgot->login;
    ngx_svc_row_login_tenant(&row, tenant, 0, 0);
    token.data = forgot->token;
    token.len = sizeof(forgot->token);
    ngx_str_null(&languages);

    later = ngx_pcalloc(pool, sizeof(ngx_svc_forgot_later_t));

    if (later == NULL
        || ngx_svc_language(login->sr, &languages) != NGX_OK
        || ngx_svc_base_url_page(login->sr, NGX_SVC_RESET_PATH, &row.slug,
                                 "#token=", &token, &link)
           != NGX_OK)
    {
        return NULL;
    }

    ngx_memcpy(later->tenant, login->sr->tenant, NGX_SVC_UUID_LEN);

    return ngx_svc_password_forgot_copy(pool, &later->host, &login->asked.host)
           && ngx_svc_password_forgot_copy(pool, &later->slug,
                                           &login->asked.slug)
           && ngx_svc_password_forgot_copy(pool, &later->email,
                                        &login->asked.email)
           && ngx_svc_password_forgot_copy(pool, &later->ip, &login->client.ip)
           && ngx_svc_password_forgot_copy(pool, &later->country,
                                        &login->client.country)
           && ngx_svc_password_forgot_copy(pool, &later->user_agent,
                                        &login->client.user_agent)
           && ngx_svc_password_forgot_copy(pool, &later->request_id,
                                        &login->asked.request_id)
           && ngx_svc_password_forgot_copy(pool, &later->hash, &forgot->hash)
           && ngx_svc_password_forgot_copy(pool, &later->base,
                                        ngx_svc_base_url(login->sr))
           && ngx_svc_password_forgot_copy(pool, &later->languages, &languages)
           && ngx_svc_password_forgot_copy(pool, &later->link, &link)
           && ngx_svc_wipe_later(pool, later->link.data, later->link.len)
              == NGX_OK
           ? later : NULL;
}


/*
 * Returns 0 when memory runs out, or else 1.  A string without data is copied
 * as one without data.
 */

static ngx_uint_t
ngx_svc_password_forgot_copy(ngx_pool_t *pool, ngx_str_t *to,
    const ngx_str_t *from)
{
    if (from->data == NULL) {
        return 1;
    }

    to->len = from->len;
    to->data = ngx_pnalloc(pool, from->len + 1);

    if (to->data == NULL) {
        return 0;
    }

    ngx_memcpy(to->data, from->data, from->len);

    return 1;
}


static ngx_int_t
ngx_svc_password_forgot_op(ngx_svc_forgot_later_t *later, ngx_pool_t *pool)
{
    ngx_svc_pg_op_t    *op;
    ngx_svc_pg_call_t  *call;

    op = ngx_svc_pg_op_create(pool, NGX_SVC_PG_WRITE,
                              ngx_svc_password_forgot_written, later);
    if (op == NULL) {
        return NGX_ERROR;
    }

    later->op = op;

    op->tenant = later->tenant;
    op->committed = ngx_svc_request_committed;

    call = ngx_svc_pg_call(op, &ngx_svc_sql_signin_tenant_write);
    if (call == NULL) {
        return NGX_ERROR;
    }

    /* a string without data is bound as NULL */

    ngx_svc_pg_bind_str(call, &later->host);
    ngx_svc_pg_bind_str(call, later->slug.data ? &later->slug : NULL);
    ngx_svc_pg_bind_str(call, later->ip.data ? &later->ip : NULL);
    ngx_svc_pg_bind_str(call, &later->user_agent);
    ngx_svc_pg_bind_str(call, &later->request_id);

    call = ngx_svc_pg_call(op, &ngx_svc_sql_password_forgot);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &later->email);
    ngx_svc_pg_bind_str(call, &later->hash);
    ngx_svc_pg_bind_str(call, &later->base);

    return NGX_OK;
}


static void
ngx_svc_password_forgot_submit(ngx_event_t *ev)
{
    ngx_svc_forgot_later_t  *later;

    later = ev->data;

    if (ngx_svc_pg_submit(later->op) != NGX_OK) {
        later->op->status = NGX_SVC_PG_BUSY;
        ngx_svc_password_forgot_written(later->op);
    }
}


static void
ngx_svc_password_forgot_written(ngx_svc_pg_op_t *op)
{
    PGresult  *res;

    if (op->status == NGX_SVC_PG_OK) {
        res = ngx_svc_pg_op_result(op, &ngx_svc_sql_password_forgot);

        ngx_svc_password_forgot_mail(op->data, op->pool, res);

    } else {
        ngx_svc_pg_op_failed(op, "a link to set a password cannot be made");
    }

    ngx_destroy_pool(op->pool);
}


/*
 * Without a user the mail is void, and to the address that was asked for.  The
 * user's own language comes before those of the request.
 */

static void
ngx_svc_password_forgot_mail(ngx_svc_forgot_later_t *later, ngx_pool_t *pool,
    PGresult *user)
{
    u_char          *p;
    ngx_str_t        own;
    ngx_svc_mail_t   mail;

    if (ngx_svc_notice_read(&mail, user) != NGX_OK) {
        return;
    }

    own = mail.locale;

    p = ngx_pnalloc(pool, own.len + 1 + later->languages.len);
    if (p == NULL) {
        return;
    }

    mail.locale.data = p;
    p = ngx_sprintf(p, "%V%s%V", &own,
                    own.len && later->languages.len ? "," : "",
                    &later->languages);
    mail.locale.len = p - mail.locale.data;

    mail.kind = NGX_SVC_MAIL_RESET;
    mail.not_after = ngx_time() + NGX_SVC_RESET_LIFE;
    mail.ip = later->ip;
    mail.country = later->country;
    mail.link = later->link;

    if (mail.to.len == 0) {
        mail.nobody = 1;
        mail.to = later->email;
    }

    ngx_svc_mail_tell(&mail);
}


static ngx_int_t
ngx_svc_password_forgot_accepted(ngx_svc_request_t *sr)
{
    ngx_svc_json_writer_t  w;

    if (ngx_svc_signin_no_store(sr) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 16) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}
