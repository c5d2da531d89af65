/*
 * What is read for a sign-in, and what follows from it before the password is
 * looked at.
 */

#include "ngx_svc_login.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_access_eval.h"
#include "ngx_svc_access_caller.h"


#define NGX_SVC_LOGIN_TENANT  0         /* the results, in this order */
#define NGX_SVC_LOGIN_USER    1
#define NGX_SVC_LOGIN_RISKS   2



static ngx_int_t ngx_svc_login_denied(ngx_svc_login_t *login, PGresult *res);
static ngx_int_t ngx_svc_login_user(ngx_svc_login_t *login, PGresult *res,
    ngx_str_t *stored);
static void ngx_svc_login_risk(ngx_svc_login_t *login, PGresult *res,
    PGresult *risks);


/* $1: the Host, $2: the slug or NULL. */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_tenant = {
    .name = "signin_tenant",
    .text =
        "SELECT set_config('svc.tenant', t.id::text, true) AS id,"
            " t.slug, t.suspended, t.by_domain"
        " FROM svc.sign_in_tenant($1, $2) t",
    NGX_SVC_PARAMS(ngx_svc_login_param(host),
                   ngx_svc_login_param(slug))
};

/*
 * One row of any tenant, whether there is such a user or not.  A lock is the
 * user's, or that of an address that is nobody's.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_user = {
    .name = "signin_user",
    .text =
        "SELECT g.access_policy AS _policy, g.access_number AS _version,"
            " g.tenant_id AS _tenant, g.risk_enabled, g.risk_mfa_threshold,"
            " g.risk_deny_threshold,"
            " EXISTS (SELECT FROM svc.ip_block b"
                " WHERE b.tenant_id = g.tenant_id AND b.ip = $3::text::inet"
                " AND coalesce(b.expires_at > now(), true)) AS blocked,"
            " u.id, u.status, u.mfa_enrolled,"
            NGX_SVC_LOGIN_LEFT("CASE WHEN u.id IS NULL"
                " THEN f.locked_until ELSE u.locked_until END")
                " AS locked,"
            " p.hash, p.version,"
            " " NGX_SVC_LOGIN_EXPIRED " AS expired"
        " FROM svc.governance g"
        " LEFT JOIN svc.user_account u ON u.tenant_id = g.tenant_id"
            " AND u.user_name_key = (SELECT lower($1::text))"
        " LEFT JOIN svc.password p ON p.tenant_id = g.tenant_id"
            " AND p.user_id = u.id"
        " LEFT JOIN svc.login_phantom f ON f.tenant_id = g.tenant_id"
            " AND f.email_mac = $2"
        " WHERE g.tenant_id = " NGX_SVC_TENANT,
    NGX_SVC_PARAMS(ngx_svc_login_param(email),
                   ngx_svc_login_param(mac),
                   ngx_svc_login_param(client.ip))
};

/*
 * All by keys, and so many rows at the most, whatever has been going on.  Of
 * whom no sign-in is left it is still known when he was here.
 */

#define NGX_SVC_LOGIN_SEEN(kind, value, days)                                 \
    "EXISTS (SELECT FROM svc.user_seen k WHERE k.tenant_id = g.tenant_id"     \
        " AND k.user_id = u.id AND k.kind = '" kind "' AND k.value = " value  \
        " AND k.last_at > now() - interval '" days " days')"

#define NGX_SVC_LOGIN_SUCCESS                                                 \
    " FROM svc.sign_in s WHERE s.tenant_id = g.tenant_id"                     \
    " AND s.user_id BETWEEN u.id AND u.id AND s.outcome = 'success'"          \
    " ORDER BY s.user_id, s.at DESC"

/*
 * The great circle from the latest success to $8 and $9, in km, less what a
 * place may be wrong by; and nobody travels so fast.  At least a minute is
 * taken to have passed.
 */

#define NGX_SVC_LOGIN_KM                                                      \
    "12742 * asin(sqrt(least(1,"                                              \
        " sind((l.latitude - $8::text::float8) / 2) ^ 2"                      \
        " + cosd(l.latitude) * cosd($8::text::float8)"                        \
            " * sind((l.longitude - $9::text::float8) / 2) ^ 2))) - 100"

#define NGX_SVC_LOGIN_TRAVEL                                                  \
    "l.latitude IS NOT NULL AND $8::text IS NOT NULL"                         \
    " AND " NGX_SVC_LOGIN_KM " > greatest(300, 900 / 3600.0"                  \
        " * greatest(60, extract(epoch FROM now() - l.at)))"

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_risk = {
    .name = "signin_risk",
    .text =
        "SELECT coalesce(l.at, u.last_login_at) IS NOT NULL AS successes,"
            " d.hash IS NOT NULL AS device,"
            " coalesce(d.trusted_until > now(), false) AS trusted, "
            NGX_SVC_LOGIN_SEEN("agent", "$4", "400") " AS agent,"
            " $5::text IS NULL OR "
            NGX_SVC_LOGIN_SEEN("network", "$5", "90") " AS network,"
            " $6::text IS NULL OR "
            NGX_SVC_LOGIN_SEEN("country", "$6", "180") " AS country, "
            NGX_SVC_LOGIN_TRAVEL " AS travel,"
            " coalesce(coalesce(l.at, u.last_login_at)"
                " < now() - interval '30 days', false) AS absent,"
            " h.n AS hours, h.here AS hour,"
            " (SELECT count(*) FROM (SELECT FROM svc.sign_in s"
                " WHERE s.tenant_id = g.tenant_id"
                " AND s.email_mac BETWEEN $2 AND $2"
                " AND s.outcome = 'failure'"
                " AND s.at > now() - interval '1 hour'"
                " ORDER BY s.email_mac LIMIT 10) s)"
                " AS failures,"
            " (SELECT count(DISTINCT s.email_mac) FROM ("
                "SELECT s.email_mac FROM svc.sign_in s"
                " WHERE s.tenant_id = g.tenant_id"
                " AND s.ip BETWEEN $7::text::inet AND $7::text::inet"
                " AND s.outcome = 'failure'"
                " AND s.at > now() - interval '1 hour'"
                " ORDER BY s.ip DESC, s.at DESC LIMIT 200) s)"
                " AS accounts"
        " FROM svc.governance g"
        " LEFT JOIN svc.user_account u ON u.tenant_id = g.tenant_id"
            " AND u.user_name_key = (SELECT lower($1::text))"
        " LEFT JOIN svc.user_device d ON d.tenant_id = g.tenant_id"
            " AND d.user_id = u.id AND d.hash = $3"
        " LEFT JOIN LATERAL (SELECT s.at, s.latitude, s.longitude"
            NGX_SVC_LOGIN_SUCCESS " LIMIT 1) l ON true"
        " CROSS JOIN LATERAL (SELECT count(*) AS n, count(*) FILTER ("
                "WHERE extract(hour FROM s.at AT TIME ZONE 'UTC')"
                " = extract(hour FROM now() AT TIME ZONE 'UTC')) AS here"
            " FROM (SELECT s.at" NGX_SVC_LOGIN_SUCCESS
                " LIMIT 50) s) h"
        " WHERE g.tenant_id = " NGX_SVC_TENANT,
    NGX_SVC_PARAMS(ngx_svc_login_param(email),
                   ngx_svc_login_param(mac),
                   ngx_svc_login_param(client.device),
                   ngx_svc_login_param(client.agent),
                   ngx_svc_login_param(client.network),
                   ngx_svc_login_param(client.country),
                   ngx_svc_login_param(client.ip),
                   ngx_svc_login_param(client.latitude),
                   ngx_svc_login_param(client.longitude))
};


/*
 * Of a tenant that there is not all goes on as with an unknown address, but for
 * what is written.
 */

ngx_int_t
ngx_svc_login_decide(ngx_svc_login_t *login, ngx_str_t *stored)
{
    ngx_int_t           rc;
    PGresult           *res;
    ngx_svc_request_t  *sr;

    sr = login->sr;
    ngx_str_null(stored);

    rc = ngx_svc_login_tenant(login, sr->results[NGX_SVC_LOGIN_TENANT]);
    if (rc != NGX_OK) {
        return rc;
    }

    res = sr->results[NGX_SVC_LOGIN_USER];

    if (PQntuples(res) == 0) {
        login->reason = NGX_SVC_LOGIN_UNKNOWN;
        return NGX_OK;
    }

    rc = ngx_svc_login_denied(login, res);
    if (rc != NGX_OK) {
        return rc;
    }

    ngx_svc_login_risk(login, res, sr->results[NGX_SVC_LOGIN_RISKS]);

    return ngx_svc_login_user(login, res, stored);
}


ngx_int_t
ngx_svc_login_tenant(ngx_svc_login_t *login, PGresult *res)
{
    ngx_str_t           id, slug;
    ngx_svc_request_t  *sr;

    sr = login->sr;

    if (PQntuples(res) == 0) {
        return login->slug.data ? NGX_OK
               : ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                              "\"tenant\" is required: the slug of the "
                              "tenant to sign in to.");
    }

    id = ngx_svc_row_value(res, 0, "id");
    slug = ngx_svc_row_value(res, 0, "slug");

    if (ngx_svc_uuid_parse(id.data, id.len, login->row.tenant) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_svc_row_true(res, 0, "by_domain") && login->named
        && (slug.len != login->slug.len
            || ngx_strncmp(slug.data, login->slug.data, slug.len) != 0))
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"tenant\" is not the one that this domain is "
                            "of: leave it out.");
    }

    if (ngx_svc_row_true(res, 0, "suspended")) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_ACCESS_DENIED,
                            "The tenant is suspended.");
    }

    ngx_memcpy(sr->tenant, login->row.tenant, NGX_SVC_UUID_LEN);
    sr->tenant_known = 1;

    return NGX_OK;
}


/* What does not depend on anybody's account, and then a lock. */

static ngx_int_t
ngx_svc_login_denied(ngx_svc_login_t *login, PGresult *res)
{
    ngx_int_t                       seconds;
    ngx_str_t                       tenant, number, json, locked;
    ngx_svc_request_t              *sr;
    ngx_svc_access_caller_t         caller;
    const ngx_svc_access_policy_t  *policy;

    sr = login->sr;

    tenant = ngx_svc_row_value(res, 0, "_tenant");
    number = ngx_svc_row_value(res, 0, "_version");
    json = ngx_svc_row_value(res, 0, "_policy");
    locked = ngx_svc_row_value(res, 0, "locked");

    policy = ngx_svc_access_cached(ngx_svc_zones(), &tenant,
                                   ngx_atoof(number.data, number.len), &json,
                                   sr->request->connection->log);

    if (ngx_svc_access_caller(sr, &caller) != NGX_OK) {
        return NGX_ERROR;
    }

    /* a policy that cannot be read any more, as the log says, denies */

    login->action = policy ? ngx_svc_access_evaluate(policy, &caller.addr,
                                                     caller.country,
                                                     caller.now).action
                           : NGX_SVC_ACCESS_DENY;

    if (ngx_svc_row_true(res, 0, "blocked")
        || login->action == NGX_SVC_ACCESS_DENY)
    {
        login->reason = ngx_svc_row_true(res, 0, "blocked")
                        ? NGX_SVC_LOGIN_BLOCKED : NGX_SVC_LOGIN_POLICY;

        return ngx_svc_fail(&sr->error, NGX_SVC_E_ACCESS_DENIED,
                            "Signing in is not allowed from here and now.");
    }

    seconds = locked.len ? ngx_atoi(locked.data, locked.len) : 0;

    return seconds > 0 ? ngx_svc_login_locked(sr, seconds) : NGX_OK;
}


static ngx_int_t
ngx_svc_login_user(ngx_svc_login_t *login, PGresult *res, ngx_str_t *stored)
{
    ngx_str_t  id, hash, status;

    id = ngx_svc_row_value(res, 0, "id");
    hash = ngx_svc_row_value(res, 0, "hash");
    status = ngx_svc_row_value(res, 0, "status");

    if (id.len == 0) {
        login->reason = NGX_SVC_LOGIN_UNKNOWN;
        return NGX_OK;
    }

    if (ngx_svc_uuid_parse(id.data, id.len, login->row.user) != NGX_OK
        || ngx_svc_login_copy(login, &login->version,
                              ngx_svc_row_value(res, 0, "version"))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    login->user.data = login->row.user;
    login->user.len = NGX_SVC_UUID_LEN;
    login->enrolled = ngx_svc_row_true(res, 0, "mfa_enrolled");
    login->expired = ngx_svc_row_true(res, 0, "expired");

    if (status.len != sizeof("active") - 1) {
        login->reason = NGX_SVC_LOGIN_INACTIVE;
        return NGX_OK;
    }

    if (hash.data == NULL) {
        login->reason = NGX_SVC_LOGIN_NO_PASSWORD;
        return NGX_OK;
    }

    login->reason = NGX_SVC_LOGIN_WRONG;

    /* one that does not open is nobody's password */

    return ngx_svc_stored_open(login->sr, &login->row, &hash, stored)
           == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_login_risk(ngx_svc_login_t *login, PGresult *res, PGresult *risks)
{
    ngx_str_t  mfa, deny;

    login->risk_action = NGX_SVC_ACCESS_ALLOW;

    if (!ngx_svc_row_true(res, 0, "risk_enabled")) {
        return;
    }

    ngx_svc_risk_score(&login->risk, risks);

    mfa = ngx_svc_row_value(res, 0, "risk_mfa_threshold");
    deny = ngx_svc_row_value(res, 0, "risk_deny_threshold");

    if ((ngx_int_t) login->risk.score >= ngx_atoi(deny.data, deny.len)) {
        login->risk_action = NGX_SVC_ACCESS_DENY;

    } else if ((ngx_int_t) login->risk.score >= ngx_atoi(mfa.data, mfa.len)) {
        login->risk_action = NGX_SVC_ACCESS_MFA;
    }
}


ngx_int_t
ngx_svc_login_copy(ngx_svc_login_t *login, ngx_str_t *dst, ngx_str_t value)
{
    if (value.data == NULL) {
        ngx_str_null(dst);
        return NGX_OK;
    }

    dst->len = value.len;
    dst->data = ngx_pnalloc(login->sr->request->pool, value.len + 1);

    if (dst->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(dst->data, value.data, value.len);

    return NGX_OK;
}
