/*
 * What is kept of a sign-in for the risk of the next one.
 */

#include "ngx_svc_login.h"
#include "ngx_svc_notice.h"


static ngx_int_t ngx_svc_login_bind_device(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/*
 * Of the event come networks, countries and addresses, and what is counted.
 * Whether it is the user's first one today is told under the lock of the user's
 * row, before NGX_SVC_LOGIN_USER_DONE.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_seen = {
    .name = "signin_seen",
    .text =
        "WITH a AS MATERIALIZED ("
            "SELECT a.tenant_id, a.last_active_day AS day,"
                " coalesce(a.last_active_day < " NGX_SVC_LOGIN_TODAY ", true)"
                    " AS first"
            " FROM svc.user_account a"
            " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"
        "), s AS ("
            "INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, country,"
                " latitude, longitude)"
            " SELECT a.tenant_id, now(), $1::uuid, $2::text::inet, $3,"
                " $5::text::real, $6::text::real"
            " FROM a WHERE $2 IS NOT NULL"
        ")"
        " INSERT INTO svc.sign_in_event (tenant_id, at, kind, user_id, ip,"
            " network, country, signals, active, last_active_day)"
        " SELECT a.tenant_id, now(), 'success', $1, $2::text::inet, $4, $3,"
            " $7::text::text[], a.first, a.day"
        " FROM a",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(client.ip),
                   ngx_svc_login_param(client.country),
                   ngx_svc_login_param(client.network),
                   ngx_svc_login_param(client.latitude),
                   ngx_svc_login_param(client.longitude),
                   ngx_svc_login_param(signals))
};

/*
 * Whether the device is one that this user has had before; who signs in for the
 * first time is not told of it.
 */

#define NGX_SVC_LOGIN_NEW_DEVICE                                              \
    "NOT EXISTS (SELECT FROM svc.user_device k"                               \
        " WHERE k.tenant_id = t.id AND k.user_id = $1 AND k.hash = $4)"       \
    " AND NOT EXISTS (SELECT FROM svc.user_seen k"                            \
        " WHERE k.tenant_id = t.id AND k.user_id = $1 AND k.kind = 'agent'"   \
        " AND k.value = $3 AND k.last_at > now() - interval '400 days')"

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_notice = {
    .name = "signin_notice",
    .text =
        "SELECT $2 AS _country, " NGX_SVC_NOTICE_IP ", m.*"
        " FROM svc.user_account a CROSS JOIN LATERAL ("
            NGX_SVC_NOTICE("$1", "$5", NGX_SVC_LOGIN_NEW_DEVICE) ") m"
        " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = $1"
            " AND a.last_active_day IS NOT NULL",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(client.country),
                   ngx_svc_login_param(client.agent),
                   ngx_svc_param_call(ngx_svc_login_bind_device),
                   ngx_svc_param_notice())
};

/* Where there is no mail. */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_unnoticed = {
    .name = "signin_unnoticed",
    .text = "SELECT WHERE false"
};

/* A device that a second factor has been shown with is trusted for a while. */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_device = {
    .name = "signin_device",
    .text =
        "WITH d AS ("
            "INSERT INTO svc.user_device AS d (tenant_id, user_id, hash,"
                " last_at, trusted_until)"
            " SELECT " NGX_SVC_TENANT_OR_NULL ", $1::uuid, $3::bytea, now(),"
                " CASE WHEN $4::bool THEN now() + interval '30 days' END"
            " WHERE " NGX_SVC_TENANT_OR_NULL " IS NOT NULL"
            " ON CONFLICT (tenant_id, user_id, hash) DO UPDATE"
                " SET last_at = excluded.last_at, trusted_until ="
                    " coalesce(excluded.trusted_until, d.trusted_until)"
        ")"
        " INSERT INTO svc.user_seen AS k (tenant_id, user_id, kind, value,"
            " last_at)"
        " SELECT " NGX_SVC_TENANT_OR_NULL ", $1, 'agent', $2::text, now()"
        " WHERE " NGX_SVC_TENANT_OR_NULL " IS NOT NULL AND $2 IS NOT NULL"
        " ON CONFLICT (tenant_id, user_id, kind, value) DO UPDATE"
            " SET last_at = excluded.last_at",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(client.agent),
                   ngx_svc_param_call(ngx_svc_login_bind_device),
                   ngx_svc_param_call(ngx_svc_login_bind_trusted))
};

/*
 * Whoever signs in from a script has another device each time: so many stay,
 * beside the one of this sign-in.
 */

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_devices = {
    .name = "signin_devices",
    .text =
        "DELETE FROM svc.user_device"
        " WHERE tenant_id = " NGX_SVC_TENANT
            " AND user_id = $1 AND hash = ANY (ARRAY(SELECT k.hash"
            " FROM (SELECT hash, last_at FROM svc.user_device"
                " WHERE tenant_id = " NGX_SVC_TENANT
                " AND user_id BETWEEN $1 AND $1 AND hash <> $2::bytea"
                " ORDER BY user_id OFFSET 0) k"
            " ORDER BY k.last_at DESC OFFSET 49))",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_param_call(ngx_svc_login_bind_device))
};


const ngx_svc_pg_statement_t *
ngx_svc_login_notice(ngx_svc_request_t *sr)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_common_module);

    return smcf->mail ? &ngx_svc_sql_signin_notice
                      : &ngx_svc_sql_signin_unnoticed;
}


static ngx_int_t
ngx_svc_login_bind_device(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_pg_bind(call, login->device_hash, NGX_SVC_SHA256_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_login_bind_trusted(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_login_t  *login;

    login = sr->data;

    ngx_svc_pg_bind_bool(call, login->trusted);

    return NGX_OK;
}
