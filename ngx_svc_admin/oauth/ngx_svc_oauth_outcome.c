/*
 * The outcome of an authorization request: its round trip, and its verdict.
 */

#include "ngx_svc_oauth_outcome.h"
#include "ngx_svc_oauth_hint.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_request_uri.h"
#include "ngx_svc_login_policy.h"


static ngx_int_t ngx_svc_oauth_outcome_statement(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_outcome_hint(ngx_svc_request_t *sr);
static const ngx_svc_oauth_verdict_t *ngx_svc_oauth_outcome_find(
    const ngx_str_t *text, ngx_svc_oauth_outcome_e *outcome);
static ngx_svc_oauth_outcome_e ngx_svc_oauth_outcome_judge(
    ngx_svc_oauth_request_t *ar, PGresult *res);
static ngx_int_t ngx_svc_oauth_outcome_say(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_verdict_t *verdict, const ngx_str_t *text);


#define NGX_SVC_OAUTH_FAULT   "fault"   /* ar->error says which */
#define NGX_SVC_OAUTH_BARRED  "barred"
#define NGX_SVC_OAUTH_DENIED  "denied"
#define NGX_SVC_OAUTH_JUDGE   "policy"

#define ngx_svc_oauth_no_verdict  { NULL, NGX_SVC_E_NONE, NULL, NULL, NULL }


static const ngx_svc_oauth_verdict_t  ngx_svc_oauth_refused[] = {

    { "redirect", NGX_SVC_E_INVALID_REQUEST,
      "'redirect_uri' is not one of the client's.", NULL, NULL },

    { "spent", NGX_SVC_E_INVALID_REQUEST, NGX_SVC_OAUTH_REQUEST_URI_WRONG,
      NULL, NULL },

    ngx_svc_oauth_no_verdict
};

static const ngx_svc_oauth_verdict_t  ngx_svc_oauth_wrong[] = {

    { NGX_SVC_OAUTH_FAULT, NGX_SVC_E_INVALID_REQUEST, NULL, NULL, NULL },

    { "par", NGX_SVC_E_INVALID_REQUEST,
      "The client must push its requests, and bring a 'request_uri'.", NULL,
      NULL },

    { "challenge", NGX_SVC_E_INVALID_REQUEST,
      "The parameter 'code_challenge' is missing.", NULL, NULL },

    { "suspended", NGX_SVC_E_BOUNDARY, "The tenant is suspended.", NULL,
      NULL },

    { "disabled", NGX_SVC_E_UNAUTHORIZED_CLIENT, "The client is disabled.",
      NULL, NULL },

    { "expired", NGX_SVC_E_UNAUTHORIZED_CLIENT, "The client has expired.",
      NULL, NULL },

    { "orphaned", NGX_SVC_E_UNAUTHORIZED_CLIENT,
      "The client is disabled: nobody active owns it.", NULL, NULL },

    { "grant_type", NGX_SVC_E_UNAUTHORIZED_CLIENT,
      "The client does not have the grant type 'authorization_code'.", NULL,
      NULL },

    { "audience", NGX_SVC_E_TARGET,
      "A resource is not among those that the client may use.", NULL, NULL },

    { "scopes", NGX_SVC_E_SCOPE, "There is no scope that the client may have.",
      NULL, NULL },

    { "scope", NGX_SVC_E_SCOPE,
      "The scope '%V' is not among those that the client may have.", NULL,
      NULL },

    { "scope_long", NGX_SVC_E_SCOPE,
      "The scopes are too many for one token: ask for fewer.", NULL, NULL },

    { NGX_SVC_OAUTH_BARRED, NGX_SVC_E_BOUNDARY,
      "Signing in is not allowed from here and now.", NULL, NULL },

    { "acr", NGX_SVC_E_ACR,
      "The user has not signed in as well as the client wants.", NULL, NULL },

    { "create", NGX_SVC_E_INVALID_REQUEST,
      "'prompt' is 'create', and nobody can sign up here.", NULL, NULL },

    { "hint", NGX_SVC_E_INVALID_REQUEST,
      "'id_token_hint' is no ID token of this client.", NULL, NULL },

    { "group", NGX_SVC_E_BOUNDARY,
      "The user is in none of the groups that may use the application.", NULL,
      NULL },

    { "user", NGX_SVC_E_CONFLICT,
      "The session is of another user than the page has shown.", NULL, NULL },

    { "changed", NGX_SVC_E_CONFLICT,
      "The application asks for something else than the page has shown: show "
      "it again.", NULL, NULL },

    { NGX_SVC_OAUTH_DENIED, NGX_SVC_E_BOUNDARY, "The user has refused.", NULL,
      NULL },

    ngx_svc_oauth_no_verdict
};

static const ngx_svc_oauth_verdict_t  ngx_svc_oauth_no_session[] = {

    { "login", NGX_SVC_E_LOGIN, "The user must sign in.", NULL, NULL },

    ngx_svc_oauth_no_verdict
};

static const ngx_svc_oauth_verdict_t  ngx_svc_oauth_again[] = {

    { "again", NGX_SVC_E_LOGIN, "The user must sign in again.", NULL, NULL },

    { "acr_again", NGX_SVC_E_ACR,
      "The user must sign in as well as the client wants.", NULL, NULL },

    ngx_svc_oauth_no_verdict
};

static const ngx_svc_oauth_verdict_t  ngx_svc_oauth_ask[] = {

    { "consent", NGX_SVC_E_CONSENT, "The user must consent.", NULL, NULL },

    ngx_svc_oauth_no_verdict
};

static const ngx_svc_oauth_verdict_t *const  ngx_svc_oauth_outcomes[] = {
    [NGX_SVC_OAUTH_REFUSED] = ngx_svc_oauth_refused,
    [NGX_SVC_OAUTH_WRONG] = ngx_svc_oauth_wrong,
    [NGX_SVC_OAUTH_NO_SESSION] = ngx_svc_oauth_no_session,
    [NGX_SVC_OAUTH_AGAIN] = ngx_svc_oauth_again,
    [NGX_SVC_OAUTH_ASK] = ngx_svc_oauth_ask
};


ngx_int_t
ngx_svc_oauth_outcome_calls(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = ar->oauth.sr;

    if (ngx_svc_oauth_caller(&ar->oauth) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_oauth_hint_parse(ar);

    /* a route that is not public has put its credential into the op before */

    if (rc == NGX_OK && sr->op->ncalls == 0) {
        rc = ngx_svc_auth_call(sr);
    }

    if (rc == NGX_OK) {
        return ngx_svc_oauth_outcome_statement(sr);
    }

    if (rc != NGX_AGAIN) {
        return rc;
    }

    rc = ngx_svc_oauth_client_call(&ar->oauth, NGX_SVC_OAUTH_LOGIN_SYNC);

    if (rc == NGX_OK) {
        sr->reply = ngx_svc_oauth_outcome_hint;
        rc = ngx_svc_route_call(sr, &ngx_svc_sql_oauth_key_public, NULL);
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_outcome_statement(ngx_svc_request_t *sr)
{
    ngx_int_t                 rc;
    ngx_svc_oauth_request_t  *ar;

    ar = sr->data;

    rc = ngx_svc_oauth_client_call(&ar->oauth, ar->login);

    return rc == NGX_OK ? ngx_svc_route_call(sr, ar->statement, NULL) : rc;
}


static ngx_int_t
ngx_svc_oauth_outcome_hint(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_key_public);

    if (ngx_svc_oauth_hint_verify(sr->data, res) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_oauth_outcome_again(sr->data);
}


ngx_svc_oauth_outcome_e
ngx_svc_oauth_outcome(ngx_svc_oauth_request_t *ar, PGresult *login,
    PGresult *res)
{
    ngx_int_t                       rc;
    ngx_str_t                       text;
    ngx_svc_oauth_outcome_e         outcome;
    const ngx_svc_oauth_verdict_t  *verdict;

    rc = ngx_svc_oauth_client_known(&ar->oauth, login);

    if (rc == NGX_ERROR) {
        return NGX_SVC_OAUTH_FAILED;
    }

    /* the client may have been deleted between the two statements */

    if (rc != NGX_OK || PQntuples(res) == 0) {
        (void) ngx_svc_oauth_client_refuse(&ar->oauth);
        return NGX_SVC_OAUTH_REFUSED;
    }

    text = ngx_svc_row_value(res, 0, "_verdict");

    if (text.data == NULL) {
        return NGX_SVC_OAUTH_DONE;
    }

    if (text.len == sizeof(NGX_SVC_OAUTH_JUDGE) - 1
        && ngx_memcmp(text.data, NGX_SVC_OAUTH_JUDGE, text.len) == 0)
    {
        return ngx_svc_oauth_outcome_judge(ar, res);
    }

    verdict = ngx_svc_oauth_outcome_find(&text, &outcome);

    if (verdict == NULL || ngx_svc_oauth_outcome_say(ar, verdict, &text)
                           != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ALERT, ar->oauth.sr->request->connection->log, 0,
                      "svc: an authorization's statement says \"%V\"", &text);
        return NGX_SVC_OAUTH_FAILED;
    }

    return outcome;
}


/*
 * Judges by the tenant's access policy, whose version the statement gets when
 * it runs again: if the policy has changed by then, it is judged once more.
 */

static ngx_svc_oauth_outcome_e
ngx_svc_oauth_outcome_judge(ngx_svc_oauth_request_t *ar, PGresult *res)
{
    ngx_str_t                 tenant, number, json;
    ngx_svc_request_t        *sr;
    ngx_svc_access_action_e   action;

    static const ngx_str_t    barred = ngx_string(NGX_SVC_OAUTH_BARRED);

    sr = ar->oauth.sr;

    tenant = ngx_svc_row_value(res, 0, "_tenant");
    number = ngx_svc_row_value(res, 0, "_version");
    json = ngx_svc_row_value(res, 0, "_policy");

    if (ngx_svc_login_policy(sr, &tenant, ngx_atoof(number.data, number.len),
                             json, &action)
        != NGX_OK)
    {
        return NGX_SVC_OAUTH_FAILED;
    }

    if (action == NGX_SVC_ACCESS_DENY) {
        return ngx_svc_oauth_outcome_say(ar,
                   ngx_svc_oauth_verdict(ngx_svc_oauth_wrong, &barred),
                   &barred)
               == NGX_OK ? NGX_SVC_OAUTH_WRONG : NGX_SVC_OAUTH_FAILED;
    }

    ar->policy.len = number.len;
    ar->policy.data = ngx_pstrdup(sr->request->pool, &number);

    return ar->policy.data ? NGX_SVC_OAUTH_JUDGED : NGX_SVC_OAUTH_FAILED;
}


ngx_int_t
ngx_svc_oauth_outcome_denied(ngx_svc_oauth_request_t *ar)
{
    static const ngx_str_t  denied = ngx_string(NGX_SVC_OAUTH_DENIED);

    return ngx_svc_oauth_outcome_say(ar,
               ngx_svc_oauth_verdict(ngx_svc_oauth_wrong, &denied), &denied);
}


ngx_int_t
ngx_svc_oauth_outcome_again(ngx_svc_oauth_request_t *ar)
{
    ngx_svc_request_t  *sr;

    sr = ar->oauth.sr;

    return ngx_svc_request_again(sr, sr->op->kind,
                                 ngx_svc_oauth_outcome_statement,
                                 sr->route->reply);
}


static const ngx_svc_oauth_verdict_t *
ngx_svc_oauth_outcome_find(const ngx_str_t *text,
    ngx_svc_oauth_outcome_e *outcome)
{
    ngx_uint_t                      i;
    const ngx_svc_oauth_verdict_t  *verdict;

    for (i = NGX_SVC_OAUTH_REFUSED; i <= NGX_SVC_OAUTH_ASK; i++) {
        verdict = ngx_svc_oauth_verdict(ngx_svc_oauth_outcomes[i], text);

        if (verdict) {
            *outcome = i;
            return verdict;
        }
    }

    return NULL;
}


static ngx_int_t
ngx_svc_oauth_outcome_say(ngx_svc_oauth_request_t *ar,
    const ngx_svc_oauth_verdict_t *verdict, const ngx_str_t *text)
{
    size_t            len;
    ngx_str_t         value;
    ngx_svc_error_t  *error;

    error = &ar->oauth.sr->error;

    if (verdict->detail == NULL) {
        value.data = ar->error.detail;
        value.len = ar->error.len;

        (void) ngx_svc_fail(error, ar->error.kind, "%V", &value);

        return ar->error.kind == NGX_SVC_E_NONE ? NGX_ERROR : NGX_OK;
    }

    len = ngx_strlen(verdict->name);
    ngx_str_null(&value);

    if (text->len > len) {
        value.data = text->data + len + 1;
        value.len = text->len - len - 1;
    }

    (void) ngx_svc_fail(error, verdict->kind, verdict->detail, &value);

    return NGX_OK;
}
