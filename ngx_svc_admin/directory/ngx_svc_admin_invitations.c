/*
 * /v1/admin/invitations: invitations of people to a tenant; they are accepted
 * in ngx_svc_invitation_accept.c.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_admin_secret.h"
#include "ngx_svc_admin_search.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_email.h"
#include "ngx_svc_notice.h"


#define NGX_SVC_ADMIN_INVITATIONS        1000   /* pending ones in a tenant */
#define NGX_SVC_ADMIN_INVITATION_GROUPS  100
#define NGX_SVC_ADMIN_INVITATION_DAYS    30
#define NGX_SVC_ADMIN_INVITATION_PATH    "/invite"
#define NGX_SVC_ADMIN_NO_INVITATION      "There is no invitation with this id."


typedef struct {
    ngx_svc_value_t  email;
    ngx_svc_value_t  role;
    ngx_svc_value_t  group_ids;
    ngx_svc_value_t  days;
} ngx_svc_admin_invitation_t;


static ngx_int_t ngx_svc_admin_invitation_group(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_invitation_bind_groups(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_invitation_bind_hash(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static void ngx_svc_admin_invitation_url(ngx_svc_json_writer_t *w,
    ngx_svc_request_t *sr);
static void ngx_svc_admin_invitation_mail(ngx_svc_request_t *sr,
    PGresult *res, time_t until, const ngx_str_t *url);


static const char *const  ngx_svc_admin_invitation_statuses[] = {
    "pending", "accepted", "expired", "revoked", NULL
};

static const ngx_svc_member_t  ngx_svc_admin_invitation_element = {
    .name = ngx_string("groupId"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_admin_invitation_group
};

static const ngx_svc_member_t  ngx_svc_admin_invitation_members[] = {

    { .name = ngx_string("email"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_email_check,
      .offset = offsetof(ngx_svc_admin_invitation_t, email) },

    { .name = ngx_string("role"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = NGX_SVC_ADMIN_ROLE_MAX,
      .offset = offsetof(ngx_svc_admin_invitation_t, role) },

    { .name = ngx_string("groupIds"),
      .type = NGX_SVC_T_ARRAY,
      .max = NGX_SVC_ADMIN_INVITATION_GROUPS,
      .element = &ngx_svc_admin_invitation_element,
      .offset = offsetof(ngx_svc_admin_invitation_t, group_ids) },

    { .name = ngx_string("expiresInDays"),
      .type = NGX_SVC_T_INTEGER,
      .min = 1,
      .max = NGX_SVC_ADMIN_INVITATION_DAYS,
      .offset = offsetof(ngx_svc_admin_invitation_t, days) },

    ngx_svc_null_member
};


#define NGX_SVC_ADMIN_INVITATION_VERDICTS                                     \
    NGX_SVC_ADMIN_ROLE_VERDICTS,                                              \
    NGX_SVC_ADMIN_TOKEN_VERDICT,                                              \
    { "grouped", NGX_SVC_E_FORBIDDEN,                                         \
      "An invitation into groups needs the permission \"groups:manage\", as" \
      " adding a member to them does." },                                     \
    { "email", NGX_SVC_E_EMAIL_TAKEN,                                         \
      "A user with this e-mail address exists already." },                    \
    { "full", NGX_SVC_E_LIMIT_EXCEEDED,                                       \
      "The tenant has " ngx_value(NGX_SVC_ADMIN_INVITATIONS)                  \
      " pending invitations: revoke one." }


#include "ngx_svc_admin_invitations.sql.h"


const ngx_svc_route_t  ngx_svc_admin_invitations[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/invitations"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .check = ngx_svc_admin_search_check,
      .statements = { &ngx_svc_sql_admin_invitations_total,
                      &ngx_svc_sql_admin_invitations_list },
      .list = "invitations",
      .total = &ngx_svc_sql_admin_invitations_total },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/invitations"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE_POOL
               |NGX_SVC_ROUTE_CREATE|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE,
      .members = ngx_svc_admin_invitation_members,
      .body_size = sizeof(ngx_svc_admin_invitation_t),
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_invitations_expire,
                      &ngx_svc_sql_admin_invitations_create },
      .status = NGX_HTTP_CREATED,
      .more = ngx_svc_admin_invitation_url },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/invitations/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .statements = { &ngx_svc_sql_admin_invitations_get } },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/admin/invitations/*/resend"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL|NGX_SVC_ROUTE_CALLER
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_SENSITIVE,
      .statements = { &ngx_svc_sql_admin_governance_lock,
                      &ngx_svc_sql_admin_invitations_resend },
      .more = ngx_svc_admin_invitation_url },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/invitations/*"),
      .permission = NGX_SVC_P_MEMBERS_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_invitations_revoke },
      .status = NGX_HTTP_NO_CONTENT },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_invitation_group(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_id_exact(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" is no group's id.", path);
}


static ngx_int_t
ngx_svc_admin_invitation_bind_groups(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    cJSON                       *json;
    ngx_svc_admin_invitation_t  *invitation = body;

    json = invitation->group_ids.json;

    return ngx_svc_admin_bind_ids(sr, call, json ? json->child : NULL,
                                  json ? cJSON_GetArraySize(json) : 0);
}


/* Makes the token, which stays in sr->data until the answer. */

static ngx_int_t
ngx_svc_admin_invitation_bind_hash(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_admin_secret_t  *secret;

    secret = ngx_svc_admin_secret_new(sr, "");
    if (secret == NULL) {
        return NGX_ERROR;
    }

    sr->data = secret;

    ngx_svc_pg_bind(call, secret->hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


/* Writes the link of an invitation that is committed, and queues its mail. */

static void
ngx_svc_admin_invitation_url(ngx_svc_json_writer_t *w, ngx_svc_request_t *sr)
{
    PGresult                       *res;
    ngx_str_t                       url;
    ngx_svc_admin_secret_t         *secret;
    ngx_svc_row_invitation_made_t   row;

    secret = sr->data;
    res = ngx_svc_route_final(sr);
    ngx_svc_row_invitation_made(&row, res, 0, 0);

    if (ngx_svc_base_url_page(sr, NGX_SVC_ADMIN_INVITATION_PATH, &row.of,
                              "#token=", &secret->text, &url)
        != NGX_OK)
    {
        w->failed = 1;
        return;
    }

    ngx_svc_json_secret(w, "inviteUrl", url.data, url.len);

    ngx_svc_admin_invitation_mail(sr, res, row.until, &url);
}


/*
 * The inviting user has the link, too, so that nothing waits for the mail or
 * needs it.  The language of the invited person is not known: the mail is in
 * that of the inviting user.
 */

static void
ngx_svc_admin_invitation_mail(ngx_svc_request_t *sr, PGresult *res,
    time_t until, const ngx_str_t *url)
{
    ngx_svc_mail_t  mail;

    if (ngx_svc_notice_read(&mail, res) != NGX_OK
        || ngx_svc_language(sr, &mail.locale) != NGX_OK)
    {
        return;
    }

    mail.kind = NGX_SVC_MAIL_INVITE;
    mail.not_after = until;
    mail.link = *url;

    ngx_svc_mail_tell(&mail);
}
