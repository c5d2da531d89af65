/*
 * POST /v1/admin/users/{userId}/reset-link: mails a user a link to set a
 * password, for an administrator, who never sees it.
 */

#include "ngx_svc_admin_limit.h"
#include "ngx_svc_admin_secret.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_email_challenge.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_notice.h"
#include "ngx_svc_password_method.h"


#define NGX_SVC_PASSWORD_LINKS  5       /* that are good, for a user */


#define NGX_SVC_PASSWORD_LINK_VERDICTS                                        \
    { "directory", NGX_SVC_E_DIRECTORY, NGX_SVC_PASSWORD_DIRECTORY },         \
    { "forced", NGX_SVC_E_SSO_REQUIRED, NGX_SVC_LOGIN_FORCED }


/* Allocated from the request's pool. */

typedef struct {
    ngx_svc_limit_t          limit;
    ngx_str_t                address;
    ngx_svc_admin_secret_t  *secret;
    u_char                   mac[NGX_SVC_LIMIT_MAC_LEN];
} ngx_svc_password_link_t;


static ngx_uint_t ngx_svc_password_link_later(const void *body);
static ngx_int_t ngx_svc_password_link_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_password_link_bind_address(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_password_link_bind_hash(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_password_link_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_link_count(ngx_svc_request_t *sr,
    PGresult *res);
static ngx_int_t ngx_svc_password_link_counted(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_link_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_link_written(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_password_link_mail(ngx_svc_request_t *sr,
    PGresult *res, const ngx_str_t *slug);


#include "ngx_svc_password_link.sql.h"


/* The second statement runs when the limit has admitted the request. */

const ngx_svc_route_t  ngx_svc_password_link[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/users/*/reset-link"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_CALLER|NGX_SVC_ROUTE_SENSITIVE,
      .check = ngx_svc_password_link_check,
      .statements = { &ngx_svc_sql_password_link_address,
                      &ngx_svc_sql_password_link },
      .reply = ngx_svc_password_link_reply },

    ngx_svc_null_route
};


static ngx_uint_t
ngx_svc_password_link_later(const void *body)
{
    return 0;
}


static ngx_int_t
ngx_svc_password_link_check(ngx_svc_request_t *sr, void *body)
{
    return ngx_svc_mail_ready() ? NGX_OK : ngx_svc_email_challenge_away(sr);
}


static ngx_int_t
ngx_svc_password_link_bind_address(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_password_link_t  *link;

    link = sr->data;

    ngx_svc_pg_bind_str(call, &link->address);

    return NGX_OK;
}


/* The token stays in the request's pool until it is mailed. */

static ngx_int_t
ngx_svc_password_link_bind_hash(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_password_link_t  *link;

    link = sr->data;

    link->secret = ngx_svc_admin_secret_new(sr, "");
    if (link->secret == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, link->secret->hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


/* Called twice: without the second statement, and then with it alone. */

static ngx_int_t
ngx_svc_password_link_reply(ngx_svc_request_t *sr)
{
    PGresult                     *res;
    ngx_svc_json_writer_t         w;
    ngx_svc_row_password_link_t   row;

    res = ngx_svc_result(sr, &ngx_svc_sql_password_link);

    if (res == NULL) {
        return ngx_svc_password_link_count(sr,
                      ngx_svc_result(sr, &ngx_svc_sql_password_link_address));
    }

    ngx_svc_row_password_link(&row, res, 0);

    if (row.wait > 0) {
        sr->retry_after = row.wait;

        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_RATE_LIMITED,
                            "The user has been sent %d links that are good: "
                            "try again in %i seconds.",
                            NGX_SVC_PASSWORD_LINKS, row.wait);

        return ngx_svc_send_error(sr);
    }

    if (ngx_svc_password_link_mail(sr, res, &row.slug) != NGX_OK
        || ngx_svc_json_writer_init(&w, sr->request->pool, 16) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_ACCEPTED, &w, NULL);
}


/*
 * An address is counted over all tenants and users, as whoever is erased and
 * made again is another user.  Links that people ask for themselves are counted
 * apart, so that nobody keeps them from that.
 */

static ngx_int_t
ngx_svc_password_link_count(ngx_svc_request_t *sr, PGresult *res)
{
    ngx_svc_password_link_t              *link;
    ngx_svc_row_password_link_address_t   row;

    ngx_svc_row_password_link_address(&row, res, 0);

    link = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_password_link_t));
    if (link == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    link->address.len = row.user_name.len;
    link->address.data = ngx_pstrdup(sr->request->pool, &row.user_name);

    if (link->address.data == NULL
        || ngx_svc_limit_email(&link->address, link->mac) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    link->limit.family = NGX_SVC_LIMIT_LINK;
    link->limit.mac = link->mac;
    sr->data = link;

    return ngx_svc_admin_limit_address(sr, &link->limit, "has been sent links",
                                       ngx_svc_password_link_counted);
}


static ngx_int_t
ngx_svc_password_link_counted(ngx_svc_request_t *sr)
{
    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_password_link_write,
                                 ngx_svc_password_link_written);
}


static ngx_int_t
ngx_svc_password_link_write(ngx_svc_request_t *sr)
{
    ngx_int_t  rc;

    rc = ngx_svc_route_call(sr, &ngx_svc_sql_admin_user_lock, NULL);

    return rc == NGX_OK ? ngx_svc_route_call(sr, &ngx_svc_sql_password_link,
                                             NULL)
                        : rc;
}


/* What is refused sends no mail, and does not count. */

static ngx_int_t
ngx_svc_password_link_written(ngx_svc_request_t *sr)
{
    PGresult                     *res;
    ngx_svc_password_link_t      *link;
    ngx_svc_row_password_link_t   row;

    link = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_password_link);
    ngx_svc_row_password_link(&row, res, 0);

    if (PQntuples(res) == 0 || row.verdict.data || row.wait > 0) {
        ngx_svc_limit_give_back(&link->limit);
    }

    return ngx_svc_route_results(sr);
}


/* The administrator's address and place are none of the user's business. */

static ngx_int_t
ngx_svc_password_link_mail(ngx_svc_request_t *sr, PGresult *res,
    const ngx_str_t *slug)
{
    ngx_svc_mail_t            mail;
    ngx_svc_password_link_t  *link;

    link = sr->data;

    if (ngx_svc_notice_read(&mail, res) != NGX_OK
        || ngx_svc_base_url_page(sr, NGX_SVC_RESET_PATH, slug, "#token=",
                                 &link->secret->text, &mail.link)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    mail.kind = NGX_SVC_MAIL_RESET;
    mail.not_after = ngx_time() + NGX_SVC_RESET_LIFE;

    ngx_svc_mail_tell(&mail);

    return NGX_OK;
}
