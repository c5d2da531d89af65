/*
 * What the routes of one's own address share.
 */

#include "ngx_svc_own_email.h"


static ngx_int_t ngx_svc_own_email_verify(ngx_svc_login_t *login);


const ngx_svc_member_t  ngx_svc_own_email_members[] = {

    { .name = ngx_string("code"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = NGX_SVC_OWN_EMAIL_CODE,
      .offset = offsetof(ngx_svc_own_email_body_t, code) },

    { .name = ngx_string("token"),
      .type = NGX_SVC_T_STRING,
      .min = 1,
      .max = NGX_SVC_OWN_EMAIL_TOKEN,
      .offset = offsetof(ngx_svc_own_email_body_t, token) },

    ngx_svc_null_member
};


/* $9: the user, $10: the address, $11: the session. */

const ngx_svc_pg_statement_t  ngx_svc_sql_own_email_open = {
    .name = "own_email_open",
    .text =
        NGX_SVC_EMAIL_CHALLENGE_OPEN(
            "SELECT k.id, k.user_name, k.display_name, k.locale"
            " FROM svc.user_account k"
            " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.id = $9"
                " AND k.user_name_key = (SELECT svc.address_key($10::text))"
            " FOR KEY SHARE",
            "u.id", NGX_SVC_OWN_EMAIL_ROOT("$11")),
    NGX_SVC_PARAMS(NGX_SVC_EMAIL_CHALLENGE_PARAMS,
                   ngx_svc_login_param(user),
                   ngx_svc_factor_param(email),
                   ngx_svc_param_session())
};

/*
 * A code is the session's newest one, or that with the id $1; none is good that
 * is older than the user's last cut-off.
 */

#define NGX_SVC_OWN_EMAIL_OF(user)                                            \
    "SELECT k.* FROM svc.email_challenge k"                                   \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.user_id BETWEEN " user " AND " user                           \
    " ORDER BY k.user_id OFFSET 0"

#define NGX_SVC_OWN_EMAIL_WHICH                                               \
    "c.id = (SELECT k.id"                                                     \
    " FROM (" NGX_SVC_SESSION_ROW("k.root_id, k.user_id", "$5") ") s"         \
    " CROSS JOIN LATERAL ("                                                   \
        NGX_SVC_ROW("k.valid_after", "svc.user_account", "s.user_id") ") u"   \
    " CROSS JOIN LATERAL (" NGX_SVC_OWN_EMAIL_OF("s.user_id") ") k"           \
    " WHERE k.kind = $3 AND NOT k.void"                                       \
        " AND k.used_at IS NULL AND k.expires_at > now()"                     \
        " AND k.created_at >= coalesce(u.valid_after, '-infinity')"           \
        " AND k.id = coalesce($1::uuid, k.id)"                                \
        " AND CASE WHEN $2::bytea IS NULL THEN k.root_id = s.root_id"         \
            " ELSE k.token_hash = $2 END"                                     \
    " ORDER BY k.created_at DESC LIMIT 1)"

const ngx_svc_pg_statement_t  ngx_svc_sql_own_email_try = {
    .name = "own_email_try",
    .text =
        NGX_SVC_EMAIL_CHALLENGE_TRY(NGX_SVC_OWN_EMAIL_WHICH,
            "c.root_id = " NGX_SVC_OWN_EMAIL_ROOT("$5")),
    NGX_SVC_PARAMS(NGX_SVC_EMAIL_CHALLENGE_TRIED,
                   ngx_svc_param_session())
};


ngx_svc_own_email_t *
ngx_svc_own_email_create(ngx_svc_request_t *sr)
{
    ngx_svc_own_email_t  *own;

    own = (ngx_svc_own_email_t *)
          ngx_svc_factor_create(sr, sizeof(ngx_svc_own_email_t));

    if (own && !ngx_svc_mail_ready()) {
        (void) ngx_svc_email_challenge_away(sr);
        return NULL;
    }

    return own;
}


/* To whom the address is already no code goes. */

ngx_int_t
ngx_svc_own_email_mail(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_mail_kind_e kind, const char *path, const char *fragment)
{
    ngx_int_t             rc;
    ngx_svc_mail_t        mail;
    ngx_svc_login_t      *login;

    login = sr->data;

    if (kind == NGX_SVC_MAIL_EXISTS) {
        ngx_str_null(&login->mailed.code);
        ngx_str_set(&login->mailed.token, "");
    }

    rc = ngx_svc_email_challenge_mail(login, res, path, fragment, &mail);

    if (rc == NGX_OK) {
        mail.kind = kind;
        mail.nobody |= (ngx_svc_row_value(res, 0, "user_id").len == 0);

        rc = ngx_svc_email_challenge_send(login, &mail);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_send_error(sr);
    }

    return rc == NGX_OK ? ngx_svc_email_challenge_accepted(login, res)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


ngx_int_t
ngx_svc_own_email_take(ngx_svc_request_t *sr,
    const ngx_svc_own_email_kind_t *kind, ngx_svc_own_email_body_t *body)
{
    ngx_svc_own_email_t  *own;

    own = (ngx_svc_own_email_t *)
          ngx_svc_factor_create(sr, sizeof(ngx_svc_own_email_t));
    if (own == NULL) {
        return NGX_ERROR;
    }

    own->kind = kind;

    return ngx_svc_email_challenge_take(&own->factor.login, kind->kind, NULL,
                                        &body->code, &body->token);
}


ngx_int_t
ngx_svc_own_email_shown(ngx_svc_request_t *sr)
{
    ngx_int_t             rc;
    ngx_svc_own_email_t  *own;

    own = sr->data;

    own->tried = ngx_svc_pg_result_copy(
                              ngx_svc_result(sr, &ngx_svc_sql_own_email_try),
                              sr->request->pool);

    rc = own->tried ? ngx_svc_factor_read(&own->factor,
                                ngx_svc_result(sr, &ngx_svc_sql_factor_read))
                    : NGX_ERROR;

    if (rc != NGX_OK) {
        return ngx_svc_login_unread(sr, rc);
    }

    own->factor.login.limit.family = NGX_SVC_LIMIT_LOGIN;

    return ngx_svc_login_limit_then(&own->factor.login,
                                    ngx_svc_own_email_verify);
}


static ngx_int_t
ngx_svc_own_email_verify(ngx_svc_login_t *login)
{
    ngx_int_t             rc;
    ngx_svc_request_t    *sr;
    ngx_svc_own_email_t  *own;

    sr = login->sr;
    own = sr->data;

    rc = ngx_svc_email_challenge_verify(login, own->tried);

    if (rc == NGX_OK && own->kind->right) {
        rc = own->kind->right(own);
    }

    switch (rc) {

    case NGX_OK:
        return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE, own->kind->write,
                                     own->kind->written);

    case NGX_ERROR:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;

    default: /* NGX_DECLINED, NGX_ABORT */
        return ngx_svc_send_error(sr);
    }
}


ngx_int_t
ngx_svc_own_email_done(ngx_svc_request_t *sr, PGresult *stored)
{
    PGresult  *check, *used;

    check = ngx_svc_result(sr, &ngx_svc_sql_factor_check);
    used = ngx_svc_result(sr, &ngx_svc_sql_email_challenge_use);

    if (PQgetisnull(check, 0, 0)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHENTICATED,
                            "The session has ended: sign in again.");
    }

    if (PQgetisnull(used, 0, 0)
        || PQntuples(stored) == 0 || PQgetisnull(stored, 0, 0))
    {
        return ngx_svc_email_challenge_over(sr);
    }

    return NGX_OK;
}
