/*
 * What the two routes of who is invited share: the token, and what it is of.
 */

#include "ngx_svc_invitation.h"
#include "ngx_svc_new_password.h"


#define NGX_SVC_INVITATION_TOKEN_MAX  128       /* bytes */


typedef struct {
    ngx_svc_value_t            token;
    ngx_svc_value_t            password;
    ngx_svc_value_t            display_name;
    ngx_svc_value_t            tenant;
} ngx_svc_invitation_body_t;


static ngx_svc_invitation_t *ngx_svc_invitation_create(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_invitation_take(ngx_svc_invitation_t *in);


static const ngx_svc_login_method_t  ngx_svc_invitation_method = {
    .methods = ngx_string("{password}")
};


#define ngx_svc_invitation_members                                            \
                                                                              \
    { .name = ngx_string("token"),                                            \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .min = 1,                                                               \
      .max = NGX_SVC_INVITATION_TOKEN_MAX,                                    \
      .offset = offsetof(ngx_svc_invitation_body_t, token) },                 \
                                                                              \
    { .name = ngx_string("tenant"),                                           \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_SLUG,                                              \
      .check = ngx_svc_login_slug,                                            \
      .offset = offsetof(ngx_svc_invitation_body_t, tenant) }

const ngx_svc_member_t  ngx_svc_invitation_lookup_members[] = {

    ngx_svc_invitation_members,

    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_invitation_accept_members[] = {

    ngx_svc_invitation_members,

    { .name = ngx_string("password"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .min = 1,
      .max = 1024,
      .offset = offsetof(ngx_svc_invitation_body_t, password) },

    { .name = ngx_string("displayName"),
      .type = NGX_SVC_T_TEXT,
      .flags = NGX_SVC_M_CLEARS,
      .max = NGX_SVC_PROFILE_MAX,
      .offset = offsetof(ngx_svc_invitation_body_t, display_name) },

    ngx_svc_null_member
};


const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_tenant = {
    .name = "invitation_tenant",
    .text =
        "SELECT set_config('svc.tenant', t.id::text, true) AS id,"
            " t.slug, t.suspended, t.by_domain"
        " FROM svc.invitation_tenant($1, $2, $3) t",
    NGX_SVC_PARAMS(ngx_svc_login_param(host),
                   ngx_svc_login_param(slug),
                   ngx_svc_invitation_param(token))
};


/* Is called again when the limits have answered. */

ngx_int_t
ngx_svc_invitation_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    ngx_svc_invitation_t  *in;

    in = sr->data;

    if (in == NULL) {
        in = ngx_svc_invitation_create(sr);
        if (in == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        rc = ngx_svc_login_limit(&in->login);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return ngx_svc_login_admitted(&in->login);
}


static ngx_svc_invitation_t *
ngx_svc_invitation_create(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    ngx_svc_invitation_t  *in;

    in = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_invitation_t));
    if (in == NULL) {
        return NULL;
    }

    in->login.sr = sr;
    in->login.method = &ngx_svc_invitation_method;
    sr->data = in;

    rc = ngx_svc_invitation_take(in);

    if (rc == NGX_DECLINED) {
        in->login.invalid = 1;
        return in;
    }

    return rc == NGX_OK ? in : NULL;
}


static ngx_int_t
ngx_svc_invitation_take(ngx_svc_invitation_t *in)
{
    ngx_int_t                   rc;
    ngx_svc_request_t          *sr;
    ngx_svc_invitation_body_t   body;

    sr = in->login.sr;
    ngx_memzero(&body, sizeof(ngx_svc_invitation_body_t));

    rc = ngx_svc_schema_object(sr->route->members, 0, sr->json, &body,
                               &sr->error);

    if (rc == NGX_OK && body.password.set) {
        rc = ngx_svc_new_password_text(sr, "password", &body.password.str,
                                       &in->login.password);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (body.display_name.set && !body.display_name.null) {
        in->display_name = body.display_name.str;
    }

    in->token.data = in->digest;
    in->token.len = NGX_SVC_SHA256_LEN;

    if (ngx_svc_sha256(body.token.str.data, body.token.str.len, in->digest)
        != NGX_OK
        || ngx_svc_login_take_client(&in->login, &body.tenant) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_login_take_session(&in->login);
}


ngx_int_t
ngx_svc_invitation_good(ngx_svc_request_t *sr)
{
    ngx_int_t              rc;
    PGresult              *res;
    ngx_svc_invitation_t  *in;

    in = sr->data;
    res = sr->results[NGX_SVC_INVITATION_TENANT];

    if (PQntuples(res) == 0
        || PQntuples(sr->results[NGX_SVC_INVITATION_ROW]) == 0)
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_INVITE,
                            "The invitation is unknown, expired, revoked or "
                            "has been accepted: ask for another one.");
    }

    rc = ngx_svc_login_tenant(&in->login, res);

    if (rc == NGX_OK) {
        rc = ngx_svc_login_copy(&in->login, &in->login.slug,
                                ngx_svc_row_value(res, 0, "slug"));
    }

    return rc;
}


ngx_int_t
ngx_svc_invitation_error(ngx_svc_request_t *sr, ngx_int_t rc)
{
    return rc == NGX_DECLINED ? ngx_svc_send_error(sr)
                              : NGX_HTTP_INTERNAL_SERVER_ERROR;
}
