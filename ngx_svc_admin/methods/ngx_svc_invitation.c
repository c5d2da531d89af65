/*
 * What the two routes for invited people share: the token, and its invitation.
 */

#include "ngx_svc_invitation.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_request.h"


typedef struct {
    ngx_svc_account_body_t     account;
    ngx_svc_value_t            token;
} ngx_svc_invitation_body_t;


static ngx_int_t ngx_svc_invitation_take(ngx_svc_login_t *login);


#define ngx_svc_invitation_members                                            \
                                                                              \
    { .name = ngx_string("token"),                                            \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .min = 1,                                                               \
      .max = NGX_SVC_INVITATION_TOKEN_MAX,                                    \
      .offset = offsetof(ngx_svc_invitation_body_t, token) },                 \
                                                                              \
    ngx_svc_account_tenant

const ngx_svc_member_t  ngx_svc_invitation_lookup_members[] = {

    ngx_svc_invitation_members,

    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_invitation_accept_members[] = {

    ngx_svc_invitation_members,

    ngx_svc_account_proof,
    ngx_svc_account_display_name,

    ngx_svc_null_member
};


#include "ngx_svc_invitation.sql.h"


ngx_int_t
ngx_svc_invitation_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_login_prepare(sr, sizeof(ngx_svc_invitation_t), NULL,
                                 ngx_svc_invitation_take);
}


static ngx_int_t
ngx_svc_invitation_take(ngx_svc_login_t *login)
{
    ngx_int_t                   rc;
    ngx_svc_request_t          *sr;
    ngx_svc_invitation_t       *in;
    ngx_svc_invitation_body_t   body;

    sr = login->sr;
    in = sr->data;

    ngx_memzero(&body, sizeof(ngx_svc_invitation_body_t));

    rc = ngx_svc_account_take(&in->account, &body.account);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_invitation_token(in, &body.token.str) != NGX_OK
        || ngx_svc_login_take_client(login, &body.account.tenant) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_login_take_session(login);
}


ngx_int_t
ngx_svc_invitation_token(ngx_svc_invitation_t *in, const ngx_str_t *token)
{
    in->token.data = in->digest;
    in->token.len = NGX_SVC_SHA256_LEN;

    return ngx_svc_sha256(token->data, token->len, in->digest);
}


ngx_int_t
ngx_svc_invitation_over(ngx_svc_request_t *sr)
{
    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_INVITE,
                        "The invitation is unknown, expired, revoked or has "
                        "been accepted: ask for another one.");
}


ngx_int_t
ngx_svc_invitation_good(ngx_svc_request_t *sr, PGresult *row)
{
    ngx_int_t         rc;
    PGresult         *res;
    ngx_svc_login_t  *login;

    login = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_invitation_tenant);

    if (PQntuples(res) == 0 || PQntuples(row) == 0) {
        return ngx_svc_invitation_over(sr);
    }

    rc = ngx_svc_login_tenant(login, res);

    if (rc == NGX_OK) {
        rc = ngx_svc_login_copy(login, &login->asked.slug,
                                ngx_svc_row_value(res, 0, "slug"));
    }

    return rc;
}
