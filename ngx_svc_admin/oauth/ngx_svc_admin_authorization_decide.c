/*
 * POST /v1/oauth/authorization: what a user decides on the page.
 */

#include "ngx_svc_application.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_application_scope.h"
#include "ngx_svc_login_policy.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_request.h"
#include "ngx_svc_session.h"
#include "ngx_svc_oauth_decided.h"
#include "ngx_svc_oauth_outcome.h"
#include "ngx_svc_oauth_pushed.h"


typedef struct {
    ngx_svc_value_t  request;
    ngx_svc_value_t  decision;
    ngx_svc_value_t  user_id;
    ngx_svc_value_t  scopes;
    ngx_svc_value_t  resources;
} ngx_svc_admin_authorization_t;


static ngx_int_t ngx_svc_admin_authorization_word(
    const ngx_svc_member_t *member, ngx_svc_value_t *value, const char *path,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_authorization_user(
    const ngx_svc_member_t *member, ngx_svc_value_t *value, const char *path,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_authorization_shown(
    const ngx_svc_member_t *member, ngx_svc_value_t *value, const char *path,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_authorization_decision(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_authorization_again(
    ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_admin_authorization_code(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_authorization_decided(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_authorization_take(ngx_svc_oauth_request_t *ar,
    ngx_svc_admin_authorization_t *body);
static ngx_int_t ngx_svc_admin_authorization_leave(
    ngx_svc_oauth_request_t *ar, PGresult *res);
static ngx_int_t ngx_svc_admin_authorization_spent(
    ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_admin_authorization_send(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug);


static const ngx_svc_member_t  ngx_svc_admin_authorization_scope = {
    .name = ngx_string("scopes"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_APPLICATION_SCOPE,
    .check = ngx_svc_admin_authorization_shown
};

static const ngx_svc_member_t  ngx_svc_admin_authorization_resource = {
    .name = ngx_string("resources"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_APPLICATION_RESOURCE,
    .check = ngx_svc_admin_authorization_shown
};

static const ngx_svc_member_t  ngx_svc_admin_authorization_members[] = {

    { .name = ngx_string("request"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .offset = offsetof(ngx_svc_admin_authorization_t, request) },

    { .name = ngx_string("decision"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_admin_authorization_word,
      .offset = offsetof(ngx_svc_admin_authorization_t, decision) },

    { .name = ngx_string("userId"),
      .type = NGX_SVC_T_STRING,
      .flags = NGX_SVC_M_REQUIRED,
      .check = ngx_svc_admin_authorization_user,
      .offset = offsetof(ngx_svc_admin_authorization_t, user_id) },

    { .name = ngx_string("scopes"),
      .type = NGX_SVC_T_ARRAY,
      .element = &ngx_svc_admin_authorization_scope,
      .offset = offsetof(ngx_svc_admin_authorization_t, scopes) },

    { .name = ngx_string("resources"),
      .type = NGX_SVC_T_ARRAY,
      .element = &ngx_svc_admin_authorization_resource,
      .offset = offsetof(ngx_svc_admin_authorization_t, resources) },

    ngx_svc_null_member
};


#include "ngx_svc_admin_authorization_decide.sql.h"


const ngx_svc_route_t  ngx_svc_admin_authorization_decide[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/oauth/authorization"),
      .flags = NGX_SVC_ROUTE_SESSION|NGX_SVC_ROUTE_JSON
               |NGX_SVC_ROUTE_NO_STORE|NGX_SVC_ROUTE_WRITE_POOL,
      .members = ngx_svc_admin_authorization_members,
      .body_size = sizeof(ngx_svc_admin_authorization_t),
      .prepare = ngx_svc_admin_authorization_decision,
      .reply = ngx_svc_admin_authorization_decided },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_authorization_word(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_strcmp(value->str.data, "approve") == 0
        || ngx_strcmp(value->str.data, "deny") == 0)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be \"approve\" or \"deny\".", path);
}


static ngx_int_t
ngx_svc_admin_authorization_user(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    u_char  id[NGX_SVC_UUID_LEN];

    if (ngx_svc_uuid_parse(value->str.data, value->str.len, id) == NGX_OK) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be the id of a user.", path);
}


/* Refuses bytes that no scope and no URI has: the page was not told them. */

static ngx_int_t
ngx_svc_admin_authorization_shown(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    u_char  c, *p;

    for (p = value->str.data; p < value->str.data + value->str.len; p++) {
        c = *p;

        if (c <= ' ' || c >= 0x7f || c == '"' || c == '\\') {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" must be as GET "
                                "/v1/oauth/authorization has told.", path);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_authorization_decision(ngx_svc_request_t *sr)
{
    ngx_int_t                       rc;
    ngx_svc_oauth_request_t        *ar;
    ngx_svc_admin_authorization_t   body;

    ar = NULL;
    ngx_memzero(&body, sizeof(body));

    rc = ngx_svc_schema_object(sr->route->members, 0, sr->json, &body,
                               &sr->error);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_request_parse(sr, &body.request.str, &ar);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_svc_admin_authorization_take(ar, &body);

    if (rc != NGX_OK) {
        return rc;
    }

    return ar->pushed.data
           ? ngx_svc_oauth_pushed(ar, 0, ngx_svc_admin_authorization_again)
           : ngx_svc_admin_authorization_code(sr);
}


static ngx_int_t
ngx_svc_admin_authorization_again(ngx_svc_oauth_request_t *ar)
{
    return ngx_svc_request_again(ar->oauth.sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_authorization_code,
                                 ngx_svc_admin_authorization_decided);
}


static ngx_int_t
ngx_svc_admin_authorization_code(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;

    ar->login = NGX_SVC_OAUTH_LOGIN_SYNC;
    ar->statement = ar->pushed.data
                    ? &ngx_svc_sql_admin_authorization_decide_pushed
                    : &ngx_svc_sql_admin_authorization_decide;

    rc = ngx_svc_oauth_request_digest(ar);

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_request_code(ar);
    }

    return rc == NGX_OK ? ngx_svc_oauth_outcome_calls(ar) : rc;
}


/* Takes the body.  A user who denies need not say what. */

static ngx_int_t
ngx_svc_admin_authorization_take(ngx_svc_oauth_request_t *ar,
    ngx_svc_admin_authorization_t *body)
{
    ngx_pool_t  *pool;

    pool = ar->oauth.sr->request->pool;

    ar->decision = body->decision.str;
    ar->user_id = body->user_id.str;

    if (ngx_strcmp(ar->decision.data, "deny") == 0) {
        return NGX_OK;
    }

    if (!body->scopes.set || !body->resources.set) {
        return ngx_svc_fail(&ar->oauth.sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" is required to approve: what the page "
                            "has shown.",
                            body->scopes.set ? "resources" : "scopes");
    }

    if (ngx_svc_application_strings(pool, body->scopes.json,
                                    &ar->shown_scopes)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_application_strings(pool, body->resources.json,
                                       &ar->shown_resources);
}


/* Replies to a decision.  A session of another tenant counts as none. */

static ngx_int_t
ngx_svc_admin_authorization_decided(ngx_svc_request_t *sr)
{
    PGresult                  *login, *res;
    ngx_str_t                  verdict;
    ngx_svc_oauth_outcome_e    outcome;
    ngx_svc_oauth_request_t   *ar;
    ngx_svc_row_authorized_t   row;

    static const ngx_str_t    denied = ngx_string("denied");

    ar = sr->data;
    login = ngx_svc_oauth_client_result(&ar->oauth);
    res = ngx_svc_result(sr, ar->statement);

    outcome = ngx_svc_oauth_outcome(ar, login, res);

    if (outcome == NGX_SVC_OAUTH_FAILED) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (outcome == NGX_SVC_OAUTH_JUDGED) {
        return ngx_svc_oauth_outcome_again(sr->data);
    }

    if (outcome == NGX_SVC_OAUTH_NO_SESSION) {
        sr->error.kind = NGX_SVC_E_NONE;
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAUTHENTICATED,
                            "There is no session: sign in.");
    }

    if (outcome == NGX_SVC_OAUTH_WRONG) {
        ngx_svc_row_authorized(&row, res, 0, 0);
        verdict = row.verdict;

        if (verdict.len == denied.len
            && ngx_memcmp(verdict.data, denied.data, denied.len) == 0)
        {
            outcome = NGX_SVC_OAUTH_DONE;
        }
    }

    return outcome == NGX_SVC_OAUTH_DONE
           ? ngx_svc_admin_authorization_leave(sr->data, res)
           : ngx_svc_send_error(sr);
}


/*
 * Answers.  The statement that gives a code has spent a pushed request; one
 * that ends with an error is spent here.
 */

static ngx_int_t
ngx_svc_admin_authorization_leave(ngx_svc_oauth_request_t *ar, PGresult *res)
{
    ngx_svc_row_authorized_t  row;

    ngx_svc_row_authorized(&row, res, 0, 0);

    return ar->pushed.data && ar->oauth.sr->error.kind != NGX_SVC_E_NONE
           ? ngx_svc_oauth_pushed_spend(ar, &row.slug,
                                        ngx_svc_admin_authorization_spent)
           : ngx_svc_admin_authorization_send(ar, &row.slug);
}


static ngx_int_t
ngx_svc_admin_authorization_spent(ngx_svc_oauth_request_t *ar)
{
    return ngx_svc_admin_authorization_send(ar, &ar->slug);
}


static ngx_int_t
ngx_svc_admin_authorization_send(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *slug)
{
    ngx_int_t              rc;
    ngx_str_t              location;
    ngx_svc_json_writer_t  w;

    static ngx_str_t       no_store = ngx_string("no-store");

    rc = (ar->mode == NGX_SVC_OAUTH_MODE_FORM_POST)
         ? ngx_svc_oauth_decided_location(ar, slug, &location)
         : ngx_svc_oauth_location_client(ar, slug, &location);

    if (rc != NGX_OK
        || ngx_svc_json_writer_init(&w, ar->oauth.sr->request->pool,
                                    64 + location.len)
           != NGX_OK
        || ngx_svc_add_header(ar->oauth.sr->request, "Cache-Control",
                              &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_string(&w, "redirectTo", location.data, location.len);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(ar->oauth.sr, NGX_HTTP_OK, &w, NULL);
}
