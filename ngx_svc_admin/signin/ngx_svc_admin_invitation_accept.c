/*
 * POST /v1/auth/invitations/lookup and /v1/auth/invitations/accept: whoever has
 * the token of an invitation sees what it is, and makes the account.
 */

#include "ngx_svc_admin_revision.h"
#include "ngx_svc_admin_user.h"
#include "ngx_svc_invitation.h"
#include "ngx_svc_new_password.h"


static ngx_int_t ngx_svc_admin_lookup_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_accept_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_accept_hashed(ngx_svc_account_t *account);
static ngx_int_t ngx_svc_admin_accept_write(ngx_svc_request_t *sr);
static void ngx_svc_admin_accept_committed(const ngx_svc_pg_results_t *results);
static void ngx_svc_admin_accept_signed_in(const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_admin_accept_written(ngx_svc_request_t *sr);


/* SQL: the invitation with a token's digest; and whether it is good. */

#define NGX_SVC_INVITATION_OF(hash)                                           \
    "SELECT k.* FROM svc.invitation k"                                        \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
    " AND k.token_hash BETWEEN " hash " AND " hash                            \
    " ORDER BY k.token_hash LIMIT 1"

#define NGX_SVC_INVITATION_GOOD                                               \
    "i.accepted_at IS NULL AND i.revoked_at IS NULL"                          \
    " AND i.expires_at > now()"                                               \
    " AND (SELECT k.id FROM svc.user_account k"                               \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
        " AND k.user_name_key BETWEEN i.email_key AND i.email_key"            \
        " ORDER BY k.user_name_key LIMIT 1) IS NULL"

/* What its password must be, n: as that of a user of its groups. */

#define NGX_SVC_INVITATION_FROM(hash)                                         \
    " FROM (" NGX_SVC_INVITATION_OF(hash) ") i"                               \
    " JOIN svc.tenant t ON t.id = i.tenant_id"                                \
    " JOIN svc.governance g ON g.tenant_id = i.tenant_id"                     \
    " CROSS JOIN LATERAL "                                                    \
        NGX_SVC_PASSWORD_RULES("svc.group_password_policy o"                  \
            " WHERE o.tenant_id = i.tenant_id"                                \
            " AND o.group_id = ANY (i.group_ids)") " n"                       \
    " WHERE " NGX_SVC_INVITATION_GOOD

#define NGX_SVC_INVITATION_ROLE                                               \
    "CASE WHEN " NGX_SVC_ADMIN_ROLE_KNOWN("i.role")                           \
    " THEN i.role ELSE 'member' END"


static const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_lookup = {
    .name = "invitation_lookup",
    .text =
        "SELECT i.email, " NGX_SVC_INVITATION_ROLE " AS role,"
            " t.slug AS \"tenant.slug\", t.name AS \"tenant.name\","
            " n.min_length AS \"passwordPolicy.minLength\","
            " n.require_lower AS \"passwordPolicy.requireLower\","
            " n.require_upper AS \"passwordPolicy.requireUpper\","
            " n.require_digit AS \"passwordPolicy.requireDigit\","
            " n.require_symbol AS \"passwordPolicy.requireSymbol\","
            " n.reject_breached AS \"passwordPolicy.rejectBreached\","
            " n.reject_contextual AS \"passwordPolicy.rejectContextual\""
        NGX_SVC_INVITATION_FROM("$1"),
    NGX_SVC_PARAMS(ngx_svc_invitation_param(token))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_read = {
    .name = "invitation_read",
    .text =
        "SELECT " NGX_SVC_LOGIN_GOVERNANCE ", NULL::bigint AS locked,"
            " i.email AS _email, NULL::text AS _first, NULL::text AS _last,"
            " $3::text AS _display, t.slug AS _slug, t.name AS _name, n.*,"
            " NULL::text AS _hash, NULL::text AS _history"
        NGX_SVC_INVITATION_FROM("$2"),
    NGX_SVC_PARAMS(ngx_svc_login_param(client.ip),
                   ngx_svc_invitation_param(token),
                   ngx_svc_account_param(display_name))
};

/*
 * The write: the locks, in their order; then the account, of an invitation that
 * is as good as it was, without which there is no tenant for the rest.
 */

static const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_lock = {
    .name = "invitation_lock",
    .text = "SELECT FROM (" NGX_SVC_INVITATION_OF("$1") " FOR UPDATE) i",
    NGX_SVC_PARAMS(ngx_svc_invitation_param(token))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_groups = {
    .name = "invitation_groups",
    .text =
        "SELECT g.id FROM (SELECT m.id FROM (" NGX_SVC_INVITATION_OF("$1") ") i"
            " CROSS JOIN LATERAL unnest(i.group_ids) m (id)"
            " ORDER BY m.id OFFSET 0) m"
        " CROSS JOIN LATERAL ("
            NGX_SVC_ROW("k.id", "svc.user_group", "m.id")
            " FOR NO KEY UPDATE) g",
    NGX_SVC_PARAMS(ngx_svc_invitation_param(token))
};

static const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_user = {
    .name = "invitation_user",
    .text =
        NGX_SVC_ACCOUNT_USER("i.email", NGX_SVC_INVITATION_ROLE, "true",
            "'invitation'", "FROM (" NGX_SVC_INVITATION_OF("$4") ") i"
                " WHERE " NGX_SVC_INVITATION_GOOD),
    NGX_SVC_PARAMS(NGX_SVC_ACCOUNT_USER_PARAMS,
                   ngx_svc_invitation_param(token))
};

/* Groups that have gone meanwhile are left out. */

static const ngx_svc_pg_statement_t  ngx_svc_sql_invitation_store = {
    .name = "invitation_store",
    .text =
        NGX_SVC_ACCOUNT_STORE("'{\"source\":\"invitation\"}'",
            ", i AS MATERIALIZED ("
                NGX_SVC_INVITATION_OF("$3")
            "), g AS ("
                "INSERT INTO svc.group_member (tenant_id, group_id, user_id)"
                " SELECT i.tenant_id, x.id, u.id FROM i, u,"
                    " LATERAL unnest(i.group_ids) m (id)"
                    " CROSS JOIN LATERAL ("
                        NGX_SVC_ROW("k.id", "svc.user_group", "m.id") ") x"
            "), a AS ("
                "UPDATE svc.invitation a SET accepted_at = now(),"
                    " accepted_by = u.id"
                " FROM i, u"
                " WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = i.id"
            ")",
            NGX_SVC_AUDIT_THEN(NGX_SVC_A_INVITATION_ACCEPTED, "i.id::text",
                "NULL", "jsonb_build_object('userId', u.id, 'role', u.role,"
                    " 'invitedRole', i.role, 'groupIds', i.group_ids,"
                    " 'invitedBy', jsonb_build_object('type',"
                        " i.invited_by_type, 'id', i.invited_by_id))",
                "FROM i, u")),
    NGX_SVC_PARAMS(NGX_SVC_ACCOUNT_STORE_PARAMS,
                   ngx_svc_invitation_param(token))
};


const ngx_svc_route_t  ngx_svc_admin_invitation_accept[] = {

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/invitations/lookup"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_invitation_lookup_members,
      .statements = { &ngx_svc_sql_invitation_tenant,
                      &ngx_svc_sql_invitation_lookup },
      .prepare = ngx_svc_invitation_prepare,
      .reply = ngx_svc_admin_lookup_reply },

    { .method = NGX_HTTP_POST,
      .path = ngx_string("/auth/invitations/accept"),
      .flags = NGX_SVC_ROUTE_PUBLIC|NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SMALL
               |NGX_SVC_ROUTE_ORIGIN|NGX_SVC_ROUTE_NO_STORE,
      .members = ngx_svc_invitation_accept_members,
      .statements = { &ngx_svc_sql_invitation_tenant,
                      &ngx_svc_sql_invitation_read },
      .status = NGX_HTTP_CREATED,
      .prepare = ngx_svc_invitation_prepare,
      .reply = ngx_svc_admin_accept_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_lookup_reply(ngx_svc_request_t *sr)
{
    PGresult   *res;
    ngx_int_t   rc;

    res = ngx_svc_result(sr, &ngx_svc_sql_invitation_lookup);

    rc = ngx_svc_invitation_good(sr, res);

    if (rc != NGX_OK) {
        return ngx_svc_account_failed(sr, rc);
    }

    if (ngx_svc_signin_no_store(sr) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_route_row(sr, res);
}


/* It ends as a sign-in with a password does. */

static ngx_int_t
ngx_svc_admin_accept_reply(ngx_svc_request_t *sr)
{
    ngx_int_t           rc;
    PGresult           *res;
    ngx_svc_account_t  *account;

    account = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_invitation_read);

    rc = ngx_svc_invitation_good(sr, res);

    if (rc != NGX_OK) {
        return ngx_svc_account_failed(sr, rc);
    }

    rc = ngx_svc_login_denied(&account->login, res);

    if (rc == NGX_DECLINED) {
        return ngx_svc_login_declined(&account->login);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_account_stage(&account->login);

    return ngx_svc_account_hash(account, res, ngx_svc_admin_accept_hashed);
}


static ngx_int_t
ngx_svc_admin_accept_hashed(ngx_svc_account_t *account)
{
    return ngx_svc_request_again(account->login.sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_admin_accept_write,
                                 ngx_svc_admin_accept_written);
}


static ngx_int_t
ngx_svc_admin_accept_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_admin_governance_lock,
        &ngx_svc_sql_invitation_lock,
        &ngx_svc_sql_invitation_groups,
        &ngx_svc_sql_invitation_user,
        &ngx_svc_sql_invitation_store,
        NULL
    };

    return ngx_svc_account_write(sr->data, list,
                                 ngx_svc_admin_accept_committed,
                                 ngx_svc_admin_accept_signed_in);
}


static void
ngx_svc_admin_accept_committed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_committed(results, &ngx_svc_sql_invitation_store);
}


static void
ngx_svc_admin_accept_signed_in(const ngx_svc_pg_results_t *results)
{
    ngx_svc_account_signed_in(results, &ngx_svc_sql_invitation_store);
}


/* Somebody else may have been faster, or it is over since it was read. */

static ngx_int_t
ngx_svc_admin_accept_written(ngx_svc_request_t *sr)
{
    PGresult  *res;

    res = ngx_svc_result(sr, &ngx_svc_sql_invitation_user);

    if (PQgetisnull(res, 0, 0)) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_INVITE,
                            "The invitation has just been accepted or "
                            "revoked: ask for another one.");
        return ngx_svc_send_error(sr);
    }

    return ngx_svc_login_end(sr->data);
}
