/*
 * The error that a client gets for a verdict, and what is recorded of it.
 */

#include "ngx_svc_oauth_refusal.h"
#include "ngx_svc_anomaly.row.h"
#include "ngx_svc_oauth_fragments.row.h"
#include "ngx_svc_anomaly.h"


#define NGX_SVC_OAUTH_VALUES  20        /* scopes in an anomaly at most */


static ngx_int_t ngx_svc_oauth_record(ngx_svc_oauth_t *o, const char *anomaly,
    const ngx_str_t *allowed);
static ngx_uint_t ngx_svc_oauth_journaled(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_details(ngx_svc_oauth_t *o,
    const ngx_str_t *allowed);
static void ngx_svc_oauth_details_scopes(ngx_svc_json_writer_t *w,
    const ngx_str_t *scopes);
static ngx_int_t ngx_svc_oauth_record_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_recorded(ngx_svc_request_t *sr);


static const ngx_svc_oauth_verdict_t  ngx_svc_oauth_verdicts[] = {

    { "client", NGX_SVC_E_CLIENT, NULL, NULL, NULL },

    { "suspended", NGX_SVC_E_GRANT, "The tenant is suspended.", NULL, NULL },

    { "disabled", NGX_SVC_E_GRANT, "The client is disabled.",
      NGX_SVC_ANOMALY_DISABLED_USE, "agent_disabled" },

    { "orphaned", NGX_SVC_E_GRANT,
      "The client is disabled: nobody active owns it.",
      NGX_SVC_ANOMALY_DISABLED_USE, "owner_lost" },

    { "expired", NGX_SVC_E_GRANT, "The client has expired.",
      NGX_SVC_ANOMALY_EXPIRED_USE, "agent_expired" },

    { "grant_type", NGX_SVC_E_UNAUTHORIZED_CLIENT,
      "The client does not have this grant type.", NULL, NULL },

    { "proof", NGX_SVC_E_DPOP_PROOF,
      "The client must show a DPoP proof.", NULL, NULL },

    { "proof_seen", NGX_SVC_E_DPOP_PROOF,
      "The DPoP proof has been used.", NULL, NULL },

    { NGX_SVC_OAUTH_FAULT_TARGET, NGX_SVC_E_TARGET, "%V", NULL,
      "audience_denied" },

    { NGX_SVC_OAUTH_FAULT_SCOPE, NGX_SVC_E_SCOPE, "%V", NULL, "scope_denied" },

    { "audience", NGX_SVC_E_TARGET,
      "The resource is not among those that the client may use.",
      NGX_SVC_ANOMALY_AUDIENCE_DENIED, "audience_denied" },

    { "scope", NGX_SVC_E_SCOPE,
      "The scope '%V' is not among those of the client.", NULL,
      "scope_denied" },

    { "scope_ceiling", NGX_SVC_E_SCOPE,
      "The scopes are not among those that the client may have now: '%V'.",
      NGX_SVC_ANOMALY_SCOPE_DENIED, "scope_denied" },

    { "scope_long", NGX_SVC_E_SCOPE,
      "The scopes are too many for one token: ask for fewer.", NULL, NULL },

    /* token exchange */

    { "other_tenant", NGX_SVC_E_BOUNDARY,
      "The subject token is of another tenant.", NULL, "other_tenant" },

    { "subject", NGX_SVC_E_INVALID_REQUEST,
      "The subject token is no access token that is good.", NULL,
      "subject_invalid" },

    { "subject_inactive", NGX_SVC_E_BOUNDARY,
      "The user of the subject token is not active.", NULL,
      "subject_inactive" },

    { "subject_actor", NGX_SVC_E_INVALID_REQUEST,
      "The subject token was not issued to the client, nor for its resource; "
      "or it is the client's own.", NULL, "subject_not_for_actor" },

    { "actor", NGX_SVC_E_INVALID_REQUEST,
      "The actor token is no access token of the client's own that is good.",
      NULL, "subject_not_for_actor" },

    { "chain_cycle", NGX_SVC_E_INVALID_REQUEST,
      "The client is an actor of the subject token already, and others act "
      "for it.", NULL, "chain_cycle" },

    { "chain_long", NGX_SVC_E_INVALID_REQUEST,
      "There are as many actors as the tenant allows.", NULL,
      "chain_too_long" },

    { "group", NGX_SVC_E_BOUNDARY,
      "The user is in none of the client's groups.", NULL, "not_in_group" },

    { "target", NGX_SVC_E_TARGET,
      "The target is no resource of one of the tenant's applications.", NULL,
      "audience_denied" },

    { "scope_subject", NGX_SVC_E_SCOPE,
      "The scopes are not among those that the subject token and the client "
      "both have: '%V'.", NULL, "scope_denied" },

    { "consent", NGX_SVC_E_SCOPE,
      "The user has not authorized the client for these scopes: '%V'.", NULL,
      "not_authorized" },

    /* codes and refresh tokens */

    { "code", NGX_SVC_E_GRANT,
      "The code is unknown, has expired, or has been used.", NULL, NULL },

    { "code_replayed", NGX_SVC_E_GRANT,
      "The code is unknown, has expired, or has been used.", NULL, NULL },

    { "code_proof", NGX_SVC_E_GRANT,
      "The code is bound to the key of another DPoP proof.", NULL, NULL },

    { "code_verifier", NGX_SVC_E_GRANT,
      "'code_verifier' is not that of the code.", NULL, NULL },

    { "code_unverified", NGX_SVC_E_GRANT,
      "The parameter 'code_verifier' is missing.", NULL, NULL },

    { "code_redirect", NGX_SVC_E_GRANT,
      "'redirect_uri' is not that of the code.", NULL, NULL },

    { "code_user", NGX_SVC_E_BOUNDARY, "The user is not active.", NULL,
      NULL },

    { "code_group", NGX_SVC_E_BOUNDARY,
      "The user is in no group that may use the client.", NULL, NULL },

    { "code_unasked", NGX_SVC_E_GRANT,
      "The user must consent: ask for it at the authorization endpoint.", NULL,
      NULL },

    { "refresh", NGX_SVC_E_GRANT,
      "The refresh token is unknown, has expired, or has been revoked.",
      NULL, NULL },

    { "refresh_reused", NGX_SVC_E_GRANT,
      "The refresh token is unknown, has expired, or has been revoked.",
      NULL, NULL },

    { "refresh_proof", NGX_SVC_E_GRANT,
      "The refresh token is bound to the key of another DPoP proof.", NULL,
      NULL },

    { "refresh_group", NGX_SVC_E_GRANT,
      "The user is in no group that may use the client.", NULL, NULL },

    { "refresh_unasked", NGX_SVC_E_GRANT,
      "The user must consent: ask for it at the authorization endpoint.", NULL,
      NULL },

    { "granted_resource", NGX_SVC_E_TARGET,
      "The resource is not among those that the user has granted.", NULL,
      NULL },

    { "granted_resources", NGX_SVC_E_TARGET,
      "The user has granted several resources: 'resource' must name one.",
      NULL, NULL },

    { "granted_scope", NGX_SVC_E_SCOPE,
      "The scope '%V' is not among those that the user has granted.", NULL,
      NULL },

    { NULL, NGX_SVC_E_NONE, NULL, NULL, NULL }
};


ngx_int_t
ngx_svc_oauth_refuse_client(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_row_login_found_t  row;

    ngx_svc_row_login_found(&row, res, 0, 0);

    /* keys that were not read anew for too long are no secret that leaked */

    if (!row.retired || o->client.asserted
        || !ngx_svc_oauth_agent(&o->client.id))
    {
        (void) ngx_svc_oauth_client_refuse(o);
        return ngx_svc_send_error(o->sr);
    }

    return ngx_svc_oauth_record(o, NGX_SVC_ANOMALY_SECRET_REUSE, NULL);
}


ngx_int_t
ngx_svc_oauth_refuse(ngx_svc_oauth_t *o, const ngx_str_t *text,
    const ngx_str_t *allowed)
{
    const ngx_svc_oauth_verdict_t  *verdict;

    verdict = ngx_svc_oauth_verdict(ngx_svc_oauth_verdicts, text);

    if (verdict == NULL) {
        ngx_log_error(NGX_LOG_ALERT, o->sr->request->connection->log, 0,
                      "svc: a token's verdict is \"%V\"", text);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    o->verdict = verdict;

    if (ngx_svc_oauth_bytes(o->sr, &o->refused, text->data, text->len)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (verdict->anomaly && ngx_svc_oauth_agent(&o->client.id)) {
        return ngx_svc_oauth_record(o, verdict->anomaly, allowed);
    }

    if (ngx_svc_oauth_journaled(o)) {
        return ngx_svc_oauth_record(o, NULL, NULL);
    }

    (void) ngx_svc_oauth_fail(o);

    return ngx_svc_send_error(o->sr);
}


ngx_int_t
ngx_svc_oauth_fail(ngx_svc_oauth_t *o)
{
    size_t     len;
    ngx_str_t  value;

    if (o->verdict == NULL || o->verdict->detail == NULL) {
        return ngx_svc_oauth_client_refuse(o);
    }

    len = ngx_strlen(o->verdict->name);
    value = o->refused;

    if (value.len > len) {
        value.data += len + 1;
        value.len -= len + 1;

    } else {
        value = o->fault_detail;
    }

    return ngx_svc_fail(&o->sr->error, o->verdict->kind, o->verdict->detail,
                        &value);
}


static ngx_int_t
ngx_svc_oauth_record(ngx_svc_oauth_t *o, const char *anomaly,
    const ngx_str_t *allowed)
{
    if (anomaly) {
        o->anomaly.data = (u_char *) anomaly;
        o->anomaly.len = ngx_strlen(anomaly);

        if (ngx_svc_oauth_details(o, allowed) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_oauth_record_calls,
                                 ngx_svc_oauth_recorded);
}


/* Returns 1 if the refusal is to be in the journal of the grant type. */

static ngx_uint_t
ngx_svc_oauth_journaled(ngx_svc_oauth_t *o)
{
    return o->grant && o->grant->journal && o->verdict && o->verdict->reason;
}


static ngx_int_t
ngx_svc_oauth_details(ngx_svc_oauth_t *o, const ngx_str_t *allowed)
{
    ngx_str_t              id;
    ngx_svc_json_writer_t  w;

    if (ngx_svc_json_writer_init(&w, o->sr->request->pool, 512) != NGX_OK) {
        return NGX_ERROR;
    }

    if (o->ip.data == NULL && ngx_svc_oauth_caller(o) != NGX_OK) {
        return NGX_ERROR;
    }

    id = ngx_svc_request_id(o->sr->request);

    ngx_svc_json_open(&w, NULL, '{');

    if (o->ip.len) {
        ngx_svc_json_string(&w, "ip", o->ip.data, o->ip.len);
    }

    if (o->country.len) {
        ngx_svc_json_string(&w, "country", o->country.data, o->country.len);
    }

    ngx_svc_json_string(&w, "requestId", id.data, id.len);

    if (allowed && o->scopes.len) {
        ngx_svc_oauth_details_scopes(&w, &o->scopes);
    }

    if (allowed && o->resource.len) {
        ngx_svc_json_string(&w, "resource", o->resource.data,
                            o->resource.len);
    }

    if (allowed && allowed->len) {
        ngx_svc_json_raw(&w, "allowed", allowed->data, allowed->len);
    }

    ngx_svc_json_close(&w, '}');

    o->details.data = w.start;
    o->details.len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


/* scopes: the text of an array, where each value is quoted and has no quote. */

static void
ngx_svc_oauth_details_scopes(ngx_svc_json_writer_t *w, const ngx_str_t *scopes)
{
    u_char      *p, *end, *start;
    ngx_uint_t   n;

    end = scopes->data + scopes->len;
    start = ngx_strlchr(scopes->data, end, '"');

    ngx_svc_json_open(w, "scopes", '[');

    for (n = 0; start && n < NGX_SVC_OAUTH_VALUES; n++) {
        p = ngx_strlchr(start + 1, end, '"');

        ngx_svc_json_string(w, NULL, start + 1, p - start - 1);

        start = ngx_strlchr(p + 1, end, '"');
    }

    ngx_svc_json_close(w, ']');
}


static ngx_int_t
ngx_svc_oauth_record_calls(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    ngx_svc_oauth_t    *o;
    ngx_svc_pg_call_t  *call;

    o = sr->data;

    rc = ngx_svc_oauth_client_call(o, NGX_SVC_OAUTH_LOGIN_ANY);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_svc_oauth_journaled(o)) {
        rc = o->grant->journal(o);
    }

    if (rc != NGX_OK || o->anomaly.len == 0) {
        return rc;
    }

    call = ngx_svc_pg_call(sr->op, &ngx_svc_sql_oauth_anomaly);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &o->client.id);
    ngx_svc_pg_bind_str(call, &o->anomaly);
    ngx_svc_pg_bind_str(call, &o->details);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_recorded(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t              *o;
    ngx_svc_row_oauth_anomaly_t   row;

    o = sr->data;
    ngx_svc_row_oauth_anomaly(&row,
                          ngx_svc_result(sr, &ngx_svc_sql_oauth_anomaly), 0);

    if (row.created) {
        ngx_svc_anomaly_count(&o->anomaly);
    }

    (void) ngx_svc_oauth_fail(o);

    return ngx_svc_send_error(sr);
}
