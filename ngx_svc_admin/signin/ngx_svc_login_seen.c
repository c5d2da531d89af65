/*
 * What is kept of a sign-in for the risk of the next one.
 */

#include "ngx_svc_login.h"


static ngx_int_t ngx_svc_login_bind_device(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);


/*
 * A device that a second factor has been shown with is trusted for a while ($9).
 * Whoever signs in from a script has another device each time: of devices and
 * networks so many stay, beside the one of this sign-in.
 */

#define NGX_SVC_LOGIN_OTHERS(column, table, where, most)                      \
    "DELETE FROM " table " WHERE tenant_id = " NGX_SVC_TENANT                 \
        " AND user_id = $1 " where                                            \
        " AND " column " = ANY (ARRAY(SELECT k." column                       \
            " FROM (SELECT " column ", last_at FROM " table                   \
                " WHERE tenant_id = " NGX_SVC_TENANT                          \
                " AND user_id BETWEEN $1 AND $1 " where                       \
                " ORDER BY user_id OFFSET 0) k"                               \
            " ORDER BY k.last_at DESC OFFSET " most "))"

const ngx_svc_pg_statement_t  ngx_svc_sql_signin_seen = {
    .name = "signin_seen",
    .text =
        "WITH s AS ("
            "INSERT INTO svc.sign_in (tenant_id, at, user_id, ip, country,"
                " latitude, longitude)"
            " SELECT t.id, now(), $1::uuid, $2::text::inet, $3,"
                " $7::text::real, $8::text::real"
            " FROM svc.tenant t"
            " WHERE t.id = " NGX_SVC_TENANT " AND $2 IS NOT NULL"
        "), f AS ("
            "INSERT INTO svc.sign_in_address AS f (tenant_id, ip, last_at)"
            " SELECT t.id, $2::text::inet, now() FROM svc.tenant t"
            " WHERE t.id = " NGX_SVC_TENANT " AND $2 IS NOT NULL"
            " ON CONFLICT (tenant_id, ip) DO UPDATE"
                " SET last_at = greatest(f.last_at, excluded.last_at)"
        "), d AS ("
            "INSERT INTO svc.user_device AS d (tenant_id, user_id, hash,"
                " last_at, trusted_until)"
            " SELECT t.id, $1, $6::bytea, now(),"
                " CASE WHEN $9::bool THEN now() + interval '30 days' END"
            " FROM svc.tenant t"
            " WHERE t.id = " NGX_SVC_TENANT
            " ON CONFLICT (tenant_id, user_id, hash) DO UPDATE"
                " SET last_at = excluded.last_at, trusted_until ="
                    " coalesce(excluded.trusted_until, d.trusted_until)"
        "), x AS ("
            NGX_SVC_LOGIN_OTHERS("hash", "svc.user_device",
                                 "AND hash <> $6::bytea", "49")
        "), y AS ("
            NGX_SVC_LOGIN_OTHERS("value", "svc.user_seen",
                                 "AND kind = 'network' AND value <> $4", "99")
        ")"
        " INSERT INTO svc.user_seen AS k (tenant_id, user_id, kind, value,"
            " last_at)"
        " SELECT t.id, $1, v.kind, v.value, now() FROM svc.tenant t,"
            " (VALUES ('agent', $5::text), ('country', $3), ('network', $4))"
                " v (kind, value)"
        " WHERE t.id = " NGX_SVC_TENANT " AND v.value IS NOT NULL"
        " ON CONFLICT (tenant_id, user_id, kind, value) DO UPDATE"
            " SET last_at = excluded.last_at",
    NGX_SVC_PARAMS(ngx_svc_login_param(user),
                   ngx_svc_login_param(client.ip),
                   ngx_svc_login_param(client.country),
                   ngx_svc_login_param(client.network),
                   ngx_svc_login_param(client.agent),
                   ngx_svc_param_call(ngx_svc_login_bind_device),
                   ngx_svc_login_param(client.latitude),
                   ngx_svc_login_param(client.longitude),
                   ngx_svc_param_call(ngx_svc_login_bind_trusted))
};


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
