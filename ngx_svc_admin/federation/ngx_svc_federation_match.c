/*
 * From a proof to a user.
 */

#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_match.row.h"


static ngx_svc_federation_match_e ngx_svc_federation_resolve(
    const ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_match_t *row);
static ngx_svc_federation_match_e ngx_svc_federation_resolve_own(
    const ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_match_t *row);
static ngx_svc_federation_match_e ngx_svc_federation_resolve_user(
    const ngx_svc_row_federation_match_t *row);
static ngx_uint_t ngx_svc_federation_match_mails(
    const ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_match_t *row);


#include "ngx_svc_federation_match.sql.h"


ngx_int_t
ngx_svc_federation_match(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_federation_proof_t      *proof;
    ngx_svc_row_federation_match_t   row;

    proof = &flow->proof;

    ngx_svc_row_federation_match(&row,
                                 ngx_svc_result(flow->login.sr,
                                                &ngx_svc_sql_federation_match),
                                 0);

    flow->match = ngx_svc_federation_resolve(flow, &row);
    flow->mailable = ngx_svc_federation_match_mails(flow, &row);
    flow->proved = row.proved;
    flow->login.written.factor = flow->connection.trust_mfa && proof->recent
                                 && (proof->factors > 1 || row.strong);

    return ngx_svc_login_copy(&flow->login, &flow->facts, row.facts);
}


ngx_uint_t
ngx_svc_federation_locked(ngx_svc_request_t *sr, ngx_int_t *seconds)
{
    ngx_svc_row_federation_match_t  row;

    static const ngx_str_t  locked = ngx_string("locked");

    ngx_svc_row_federation_match(&row,
                                 ngx_svc_result(sr,
                                                &ngx_svc_sql_federation_match),
                                 0);

    *seconds = ngx_max(row.login_checked.locked, 0);

    return ngx_svc_same(&row.login_checked.verdict, &locked);
}


/*
 * The first rule that applies.  Whoever is linked is known by that: what the
 * proof says of an address does not matter then.
 */

static ngx_svc_federation_match_e
ngx_svc_federation_resolve(const ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_match_t *row)
{
    if (!row->same) {
        return NGX_SVC_FEDERATION_OTHER;
    }

    if (flow->login.sr->session) {
        return ngx_svc_federation_resolve_own(flow, row);
    }

    if (!row->linked && flow->purpose == NGX_SVC_FEDERATION_INVITE) {
        return NGX_SVC_FEDERATION_INVITED;
    }

    if (!row->linked && !row->verified) {
        return NGX_SVC_FEDERATION_UNVERIFIED;
    }

    if (row->forced) {
        return NGX_SVC_FEDERATION_FORCED;
    }

    if (!row->held) {
        return row->makes ? NGX_SVC_FEDERATION_NEW : NGX_SVC_FEDERATION_NOBODY;
    }

    if (!row->linked && (!row->takes || row->other)) {
        return NGX_SVC_FEDERATION_HELD;
    }

    return ngx_svc_federation_resolve_user(row);
}


/* The user is known: it is the session's. */

static ngx_svc_federation_match_e
ngx_svc_federation_resolve_own(const ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_match_t *row)
{
    if (!row->own) {
        return NGX_SVC_FEDERATION_OTHER;
    }

    if (!row->linked && flow->purpose == NGX_SVC_FEDERATION_STEP_UP) {
        return NGX_SVC_FEDERATION_STRANGER;
    }

    if (row->elsewhere || row->other) {
        return NGX_SVC_FEDERATION_CONFLICT;
    }

    return row->forced ? NGX_SVC_FEDERATION_FORCED
                       : ngx_svc_federation_resolve_user(row);
}


static ngx_svc_federation_match_e
ngx_svc_federation_resolve_user(const ngx_svc_row_federation_match_t *row)
{
    if (!row->active) {
        return NGX_SVC_FEDERATION_INACTIVE;
    }

    if (!row->covered) {
        return NGX_SVC_FEDERATION_UNCOVERED;
    }

    return row->linked ? NGX_SVC_FEDERATION_LINKED : NGX_SVC_FEDERATION_LINK;
}


/* A directory is not asked for an address: it has the password. */

static ngx_uint_t
ngx_svc_federation_match_mails(const ngx_svc_federation_flow_t *flow,
    const ngx_svc_row_federation_match_t *row)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(flow->login.sr->request,
                                         ngx_http_svc_common_module);

    return smcf->mail && flow->match == NGX_SVC_FEDERATION_HELD
           && flow->directory.data == NULL && row->mails && !row->other
           && row->active && row->covered;
}


ngx_int_t
ngx_svc_federation_bind_contexts(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    static const ngx_str_t  contexts = ngx_string("{"
        "urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract,"
        "urn:oasis:names:tc:SAML:2.0:ac:classes:TimeSyncToken,"
        "https://refeds.org/profile/mfa,"
        "http://schemas.microsoft.com/claims/multipleauthn,phr,phrh}");

    ngx_svc_pg_bind_str(call, &contexts);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_bind_verified(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_svc_federation_flow_t  *flow;

    flow = sr->data;

    ngx_svc_pg_bind_bool(call, flow->proof.verified);

    return NGX_OK;
}
