/*
 * What the routes share that verify or change the address of a session's user.
 */

#include "ngx_svc_own_email.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_limit.h"


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


#include "ngx_svc_own_email.sql.h"


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


/* The user whose address it is already gets no code and no token. */

ngx_int_t
ngx_svc_own_email_mail(ngx_svc_request_t *sr, PGresult *res,
    ngx_svc_mail_kind_e kind, const char *path, const char *fragment)
{
    ngx_int_t                        rc;
    ngx_svc_mail_t                   mail;
    ngx_svc_login_t                 *login;
    ngx_svc_row_challenge_mailed_t   row;

    login = sr->data;
    ngx_svc_row_challenge_mailed(&row, res, 0, 0);

    if (kind == NGX_SVC_MAIL_EXISTS) {
        ngx_str_null(&login->mailed.code);
        ngx_str_set(&login->mailed.token, "");
    }

    rc = ngx_svc_email_challenge_mail(login, res, path, fragment, &mail);

    if (rc == NGX_OK) {
        mail.kind = kind;
        mail.nobody |= (row.user_id.len == 0);

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
ngx_svc_own_email_presented(ngx_svc_request_t *sr)
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
    PGresult  *used;

    used = ngx_svc_result(sr, &ngx_svc_sql_email_challenge_use);

    if (!ngx_svc_factor_checked(sr)) {
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
