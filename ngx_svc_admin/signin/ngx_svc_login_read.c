/*
 * What is read for a sign-in, and what follows from it before the proof is
 * verified.
 */

#include "ngx_svc_login_read.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_login_limit.h"
#include "ngx_svc_login_outcome.h"
#include "ngx_svc_login_policy.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_request.h"


static ngx_int_t ngx_svc_login_bind_stored(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_login_user(ngx_svc_login_t *login,
    const ngx_svc_row_login_user_t *row);
static void ngx_svc_login_risk(ngx_svc_login_t *login,
    const ngx_svc_row_login_governance_t *row);


#include "ngx_svc_login_read.sql.h"


static ngx_int_t
ngx_svc_login_bind_stored(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t            *login;
    ngx_svc_admin_main_conf_t  *amcf;

    login = sr->data;
    amcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_admin_module);

    ngx_svc_pg_bind_bool(call, login->asked.stored || amcf->directory == NULL);

    return NGX_OK;
}


/*
 * If the tenant does not exist, all goes on as with an unknown address, but
 * nothing is written.
 */

ngx_int_t
ngx_svc_login_decide(ngx_svc_login_t *login, PGresult *tenant, PGresult *user)
{
    ngx_int_t                  rc;
    ngx_svc_row_login_user_t   row;

    rc = ngx_svc_login_tenant(login, tenant);
    if (rc != NGX_OK) {
        return rc;
    }

    if (PQntuples(user) == 0) {
        login->reason = NGX_SVC_LOGIN_UNKNOWN;
        return NGX_OK;
    }

    ngx_svc_row_login_user(&row, user, 0, 0);

    /* the audit log names the user of a denied sign-in, its answer does not */

    rc = ngx_svc_login_user(login, &row);

    if (rc == NGX_OK) {
        rc = ngx_svc_login_denied(login, user);
    }

    if (rc == NGX_OK) {
        ngx_svc_login_risk(login, &row.login_denied.login_governance);
    }

    return rc;
}


ngx_int_t
ngx_svc_login_declined(ngx_svc_login_t *login)
{
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (sr->error.kind == NGX_SVC_E_ACCESS_DENIED && sr->tenant_known) {
        return ngx_svc_login_fail(login);
    }

    return ngx_svc_send_error(sr);
}


ngx_int_t
ngx_svc_login_tenant(ngx_svc_login_t *login, PGresult *res)
{
    ngx_svc_request_t           *sr;
    ngx_svc_row_login_tenant_t   row;

    sr = login->sr;

    if (PQntuples(res) == 0) {
        return ngx_svc_login_no_tenant(login);
    }

    ngx_svc_row_login_tenant(&row, res, 0, 0);

    if (row.forced) {
        return ngx_svc_login_forced(sr);
    }

    if (ngx_svc_uuid_parse(row.id.data, row.id.len, login->row.tenant)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (row.by_domain && login->asked.named
        && (row.slug.len != login->asked.slug.len
            || ngx_strncmp(row.slug.data, login->asked.slug.data, row.slug.len)
               != 0))
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"tenant\" is not the one that this domain is "
                            "of: leave it out.");
    }

    if (row.suspended) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_ACCESS_DENIED,
                            "The tenant is suspended.");
    }

    ngx_memcpy(sr->tenant, login->row.tenant, NGX_SVC_UUID_LEN);
    sr->tenant_known = 1;

    if (row.by_domain) {
        ngx_svc_base_url_found(sr);
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_no_tenant(ngx_svc_login_t *login)
{
    return login->asked.slug.data ? NGX_OK
           : ngx_svc_fail(&login->sr->error, NGX_SVC_E_INVALID_VALUE,
                          "\"tenant\" is required: the slug of the tenant to "
                          "sign in to.");
}


/* A block and the policy, which depend on no account, come before a lock. */

ngx_int_t
ngx_svc_login_denied(ngx_svc_login_t *login, PGresult *res)
{
    ngx_int_t                    rc;
    ngx_svc_row_login_denied_t   row;

    ngx_svc_row_login_denied(&row, res, 0, 0);

    rc = ngx_svc_login_bars(login, &row.login_governance.login_bars);

    if (rc != NGX_OK) {
        return rc;
    }

    return row.locked > 0 ? ngx_svc_login_locked(login->sr, row.locked)
                          : NGX_OK;
}


ngx_int_t
ngx_svc_login_bars(ngx_svc_login_t *login,
    const ngx_svc_row_login_bars_t *row)
{
    if (ngx_svc_login_policy(login->sr, &row->tenant, row->version,
                             row->policy, &login->action)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (row->blocked) {
        login->reason = NGX_SVC_LOGIN_BLOCKED;
        return ngx_svc_login_barred(login->sr);
    }

    if (login->action == NGX_SVC_ACCESS_DENY) {
        login->reason = NGX_SVC_LOGIN_POLICY;
        return ngx_svc_login_barred(login->sr);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_login_user(ngx_svc_login_t *login, const ngx_svc_row_login_user_t *row)
{
    if (row->id.len == 0) {
        login->reason = NGX_SVC_LOGIN_UNKNOWN;
        return NGX_OK;
    }

    if (ngx_svc_uuid_parse(row->id.data, row->id.len, login->row.user)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->user.data = login->row.user;
    login->user.len = NGX_SVC_UUID_LEN;
    login->read.enrolled = row->mfa_enrolled;

    login->reason = row->status.len == sizeof("active") - 1
                    ? NGX_SVC_LOGIN_WRONG : NGX_SVC_LOGIN_INACTIVE;

    return NGX_OK;
}


static void
ngx_svc_login_risk(ngx_svc_login_t *login,
    const ngx_svc_row_login_governance_t *row)
{
    login->risk.enabled = row->risk_enabled;
    login->risk.mfa_from = row->risk_mfa_threshold;
    login->risk.deny_from = row->risk_deny_threshold;
    login->risk.action = NGX_SVC_ACCESS_ALLOW;
}


void
ngx_svc_login_take_risk(ngx_svc_login_t *login, PGresult *risks)
{
    ngx_svc_row_risk_row_t  row;

    if (PQntuples(risks) == 0) {
        return;
    }

    ngx_svc_row_risk_row(&row, risks, 0, 0);
    login->read.few_devices = row.risk_signals.few_devices;

    if (!login->risk.enabled) {
        return;
    }

    ngx_svc_risk_score(&login->risk.found, risks);

    if (login->risk.found.score >= login->risk.deny_from) {
        login->risk.action = NGX_SVC_ACCESS_DENY;

    } else if (login->risk.found.score >= login->risk.mfa_from) {
        login->risk.action = NGX_SVC_ACCESS_MFA;
    }
}


/*
 * A user who has a second factor must present it.  A user who has none may
 * enroll one if the policy wants that.  If the risk wants it, a thief of the
 * first proof could enroll one: such a sign-in is denied unless the address can
 * be proved by a mail, too.
 */

void
ngx_svc_login_stage(ngx_svc_login_t *login, ngx_uint_t by_mail)
{
    ngx_svc_main_conf_t  *smcf;

    if (login->read.enrolled) {
        login->stage = NGX_SVC_STAGE_MFA;
        return;
    }

    smcf = ngx_http_get_module_main_conf(login->sr->request,
                                         ngx_http_svc_common_module);

    if (login->risk.action == NGX_SVC_ACCESS_MFA && (by_mail || !smcf->mail)) {
        login->risk.action = NGX_SVC_ACCESS_DENY;
    }

    login->stage = (login->action == NGX_SVC_ACCESS_MFA
                    || login->risk.action == NGX_SVC_ACCESS_MFA)
                   ? NGX_SVC_STAGE_ENROLL
                   : login->password.expired ? NGX_SVC_STAGE_PASSWORD
                                    : NGX_SVC_STAGE_FULL;
}


ngx_int_t
ngx_svc_login_take_user(ngx_svc_login_t *login,
    const ngx_svc_row_login_session_t *row)
{
    u_char           *mac;
    const ngx_str_t  *tenant;

    tenant = &row->login_bars.tenant;
    mac = ngx_pnalloc(login->sr->request->pool, NGX_SVC_LIMIT_MAC_LEN);

    if (mac == NULL
        || ngx_svc_uuid_parse(tenant->data, tenant->len, login->row.tenant)
           != NGX_OK
        || ngx_svc_uuid_parse(row->user.data, row->user.len, login->row.user)
           != NGX_OK
        || ngx_svc_limit_email(&row->email, mac) != NGX_OK
        || ngx_svc_login_copy(login, &login->password.version, row->password)
           != NGX_OK
        || ngx_svc_login_copy(login, &login->risk.signals, row->signals)
           != NGX_OK
        || ngx_svc_login_begun(login, &row->login_begun) != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->user.data = login->row.user;
    login->user.len = NGX_SVC_UUID_LEN;
    login->asked.mac.data = mac;
    login->asked.mac.len = NGX_SVC_LIMIT_MAC_LEN;
    login->risk.found.score = ngx_max(row->risk, 0);

    return NGX_OK;
}
