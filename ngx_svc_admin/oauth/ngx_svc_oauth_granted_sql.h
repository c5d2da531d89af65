/*
 * SQL: what a user has granted: a read that is decided on, and the writes that
 * follow where what was read still holds.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_SQL_H_INCLUDED_


#include "ngx_svc_audit.h"
#include "ngx_svc_oauth_claims.h"
#include "ngx_svc_oauth_client_row.h"
#include "ngx_svc_oauth_delegation.h"
#include "ngx_svc_oauth_bind.h"
#include "ngx_svc_oauth_own_live.h"


/* --- the read --- */

/* Its columns: of the client, behind those of all clients; */

typedef enum {
    NGX_SVC_OAUTH_GRANTED_NAME = NGX_SVC_OAUTH_CLIENT_COLUMNS,
    NGX_SVC_OAUTH_GRANTED_CLIENT_XMIN,
    NGX_SVC_OAUTH_GRANTED_CLIENT_CTID,
    NGX_SVC_OAUTH_GRANTED_ID_TOKEN_TTL,
    NGX_SVC_OAUTH_GRANTED_IDLE_DAYS,
    NGX_SVC_OAUTH_GRANTED_REFRESH_TOKENS,
    NGX_SVC_OAUTH_GRANTED_ID_TOKEN_CLAIMS,
    NGX_SVC_OAUTH_GRANTED_PROFILE,
    NGX_SVC_OAUTH_GRANTED_CLIENT_COLUMNS,

    /* if that has a statement of its own */

    NGX_SVC_OAUTH_GRANTED_ASSIGNMENT = NGX_SVC_OAUTH_GRANTED_CLIENT_COLUMNS,
    NGX_SVC_OAUTH_GRANTED_CONSENTS,
    NGX_SVC_OAUTH_GRANTED_CUT_AT
} ngx_svc_oauth_granted_client_e;

/* and of what is shown, behind them, unless it has one. */

typedef enum {
    NGX_SVC_OAUTH_GRANTED_SHOWN = 0,
    NGX_SVC_OAUTH_GRANTED_TAKEN,
    NGX_SVC_OAUTH_GRANTED_AGAIN,
    NGX_SVC_OAUTH_GRANTED_NONCE,
    NGX_SVC_OAUTH_GRANTED_UNASKED,
    NGX_SVC_OAUTH_GRANTED_ID,
    NGX_SVC_OAUTH_GRANTED_USER,
    NGX_SVC_OAUTH_GRANTED_SCOPES,
    NGX_SVC_OAUTH_GRANTED_RESOURCES,
    NGX_SVC_OAUTH_GRANTED_RESOURCE_KEYS,
    NGX_SVC_OAUTH_GRANTED_AUTH_TIME,
    NGX_SVC_OAUTH_GRANTED_METHODS,
    NGX_SVC_OAUTH_GRANTED_CLAIMS,
    NGX_SVC_OAUTH_GRANTED_EXPIRES_AT,
    NGX_SVC_OAUTH_GRANTED_SESSION_ID,
    NGX_SVC_OAUTH_GRANTED_SESSION_AT,
    NGX_SVC_OAUTH_GRANTED_XMIN,
    NGX_SVC_OAUTH_GRANTED_CTID,
    NGX_SVC_OAUTH_GRANTED_SHOWN_CTID,
    NGX_SVC_OAUTH_GRANTED_COLUMNS,

    NGX_SVC_OAUTH_GRANTED_CREATED_AT = NGX_SVC_OAUTH_GRANTED_COLUMNS,

    NGX_SVC_OAUTH_GRANTED_ASSIGNED = NGX_SVC_OAUTH_GRANTED_COLUMNS,
    NGX_SVC_OAUTH_GRANTED_REGISTERED,
    NGX_SVC_OAUTH_GRANTED_IGNORES
} ngx_svc_oauth_granted_column_e;


/*
 * Two statements: each row is found by its key alone, and a plan is begun for
 * less without a join of all their columns.
 *
 * The first one: of "c", the row of what is shown, and its grant "p", if that
 * is the client's, $1; or no row.  The write looks at the user, who is not
 * looked at here.  columns: what is shown, as "shown", "taken", "again" and
 * "nonce"; shown: a select of the row.
 *
 * A row's xmin is of its version, and ctid is where that is: the write looks
 * there, which takes no index.  A row that has been changed is somewhere else
 * by then, and what has taken its place is of another xmin.
 */

#define NGX_SVC_OAUTH_GRANTED_GRANT                                           \
    "k.id, k.user_id, k.scopes, k.resources, k.resource_keys, k.auth_time,"   \
    " k.methods, k.claims, k.session_id, k.session_at, k.created_at,"         \
    " k.expires_at, k.revoked_at, k.consented, k.xmin, k.ctid"

#define NGX_SVC_OAUTH_GRANTED_COLUMNS_OF(columns, unasked)                    \
    columns ", " unasked ", p.id, p.user_id, p.scopes, p.resources,"          \
    " p.resource_keys,"                                                       \
    " floor(date_part('epoch', p.auth_time))::bigint AS auth_time,"           \
    " p.methods, p.claims, p.expires_at,"                                     \
    " p.session_id, p.session_at, p.xmin, p.ctid, c.ctid AS shown_ctid"

#define NGX_SVC_OAUTH_GRANTED_READ(columns, shown)                            \
    "SELECT " NGX_SVC_OAUTH_GRANTED_COLUMNS_OF(columns,                       \
                                               "NOT p.consented AS unasked")  \
        ", date_part('epoch', p.created_at)"                                  \
    " FROM (" shown ") c"                                                     \
    " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_GRANTED_GRANT                \
        " FROM svc.oauth_grant k WHERE k.tenant_id = " NGX_SVC_TENANT         \
            " AND k.id = c.grant_id AND k.client_id = $1::text OFFSET 0) p"

/*
 * The second one: the client, whose it is, and its cut-off.  A column as it is
 * costs less than what is said of it: that is begun at each execution.
 */

#define NGX_SVC_OAUTH_GRANTED_CLIENT_OWN                                      \
    " a.name, a.xmin, a.ctid, a.id_token_ttl, a.refresh_idle_days,"           \
    " a.refresh_tokens, a.id_token_claims, a.security_profile"

#define NGX_SVC_OAUTH_GRANTED_CLIENT                                          \
    "SELECT " NGX_SVC_OAUTH_CLIENT_ROW(NGX_SVC_OAUTH_OWN_STATE("a")) ","      \
        NGX_SVC_OAUTH_GRANTED_CLIENT_OWN ", a.assignment,"                    \
        " a.require_consent, date_part('epoch',"                              \
            " greatest(a.tokens_valid_after, a.tenant_valid_after))"          \
    " FROM svc.application a WHERE a.tenant_id = " NGX_SVC_TENANT             \
        " AND a.client_id = $1"

/*
 * And one for both, which looks at the user, whether that one may use the
 * client, and at the resource as its application has it, $key: of an agent, of
 * groups, for a resource, and of what is refused, or would be if the client did
 * not ignore it.  from: more to join.
 */

#define NGX_SVC_OAUTH_GRANTED_READ_WIDER(columns, shown, key, from)           \
    "SELECT " NGX_SVC_OAUTH_CLIENT_ROW(NGX_SVC_OAUTH_OWN_STATE_AGENT("a"))    \
        "," NGX_SVC_OAUTH_GRANTED_CLIENT_OWN ", s.*"                          \
    " FROM (" NGX_SVC_OAUTH_APPLICATION(                                      \
            NGX_SVC_OAUTH_CLIENT_ROW_COLUMNS NGX_SVC_OAUTH_CLIENT_ROW_AGENT   \
            ", k.name, k.assignment,"                                         \
            " k.require_consent, k.tokens_valid_after, k.tenant_valid_after," \
            " k.id_token_ttl, k.refresh_idle_days, k.refresh_tokens,"         \
            " k.id_token_claims, k.security_profile, k.unknown_scopes,"       \
            " k.xmin, k.ctid", "$1") ") a"                                    \
    " LEFT JOIN LATERAL (SELECT "                                             \
            NGX_SVC_OAUTH_GRANTED_COLUMNS_OF(columns,                         \
                "a.require_consent AND NOT p.consented AS unasked") ", "      \
            NGX_SVC_OAUTH_GRANTED_TARGET(key)                                 \
        " FROM (" shown ") c"                                                 \
        " JOIN LATERAL ("                                                     \
            NGX_SVC_ROW(NGX_SVC_OAUTH_GRANTED_GRANT ", k.client_id",          \
                        "svc.oauth_grant", "c.grant_id")                      \
        ") p ON p.client_id = a.client_id"                                    \
        " JOIN LATERAL ("                                                     \
            NGX_SVC_ROW("k.status, k.valid_after", "svc.user_account",        \
                        "p.user_id") ") u ON true" from ") s ON true"

/* The row of what is shown, $2. */

#define NGX_SVC_OAUTH_GRANTED_BY_DIGEST(columns, table)                       \
    "SELECT " columns ", k.ctid FROM " table " k"                             \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.digest = $2::bytea OFFSET 0"

#define NGX_SVC_OAUTH_GRANTED_TARGET(resource_key)                            \
    NGX_SVC_OAUTH_ASSIGNED("p.user_id") " AS assigned, "                      \
    NGX_SVC_OAUTH_REGISTERED("NULL",                                          \
        "coalesce(" resource_key "::text, CASE cardinality(p.resource_keys)"  \
            " WHEN 1 THEN p.resource_keys[1] END)") " AS registered,"         \
    " a.unknown_scopes = 'ignore' AS ignores"

/*
 * Whether the grant is older than what has cut off all tokens before.  What
 * ends the user's sessions is seen some time after valid_after: a session that
 * began before it is looked at, whenever its grant was made.
 */

#define NGX_SVC_OAUTH_GRANTED_CUT                                             \
    "p.created_at < greatest(a.tokens_valid_after, a.tenant_valid_after)"

#define NGX_SVC_OAUTH_GRANTED_USER_CUT  "p.session_at < u.valid_after"


/* --- the writes --- */

/*
 * A condition: grant and client are of the versions that were read, and the
 * user is active, whose sessions of that time have not been ended.
 */

#define NGX_SVC_OAUTH_GRANTED_VERSION(table, key, ctid, xmin)                 \
    "(SELECT k.xmin FROM " table " k WHERE k.tenant_id = " NGX_SVC_TENANT     \
        " AND k.ctid = " ctid "::tid AND " key ") = " xmin "::xid"

#define NGX_SVC_OAUTH_GRANTED_HOLDS                                           \
    NGX_SVC_OAUTH_GRANTED_VERSION("svc.oauth_grant", "k.id = $3::uuid",       \
                                  "$20", "$5")                                \
    " AND " NGX_SVC_OAUTH_GRANTED_VERSION("svc.application",                  \
                                          "k.client_id = $2::text",           \
                                          "$21", "$6")                        \
    " AND (" NGX_SVC_ROW("k.status = 'active' AND $7::text::timestamptz"      \
            " >= coalesce(k.valid_after, '-infinity')",                       \
            "svc.user_account", "$4::uuid") ")"

/*
 * The token, of "x", a CTE with the tenant's id, and a row if it is to be
 * given; grant: a literal; chain, client_name: expressions.
 */

#define NGX_SVC_OAUTH_GRANTED_TOKEN(grant, chain, client_name)                \
    "v AS ("                                                                  \
        "SELECT x.tenant_id, NULL::text AS verdict, $8::bigint AS ms,"        \
            " $9::uuid AS jti, $2::text AS client_id,"                        \
            " $4::uuid AS user_id, $4::uuid::text AS subject,"                \
            " $3::uuid AS grant_id, NULL::uuid AS root_jti,"                  \
            " NULL::uuid AS parent_jti, " chain " AS chain,"                  \
            " ARRAY[$2::text] AS principals,"                                 \
            " string_to_array($10::text, ' ') AS scopes,"                     \
            " $11::text AS audience, $12::text AS audience_key,"              \
            " $14::text AS kid, $16::integer AS ttl, "                        \
            client_name " AS client_name"                                     \
        " FROM x"                                                             \
    "), i AS ("                                                               \
        NGX_SVC_OAUTH_INSERT(grant, "$13::bytea", "$15", "$17", "$18")        \
    ")"

/* The parameters so far: $1 to $18; and $20 and $21, where things are. */

#define ngx_svc_oauth_granted_as(type, field)                                 \
    ngx_svc_oauth_bind_as(type, ngx_svc_oauth_granted_t, field)

#define NGX_SVC_OAUTH_GRANTED_TOKEN_PARAMS                                    \
    ngx_svc_oauth_granted_param(digest),                                      \
    ngx_svc_oauth_param(client.id),                                           \
    ngx_svc_oauth_granted_as(uuid, id),                                       \
    ngx_svc_oauth_granted_as(uuid, user_id),                                  \
    ngx_svc_oauth_granted_as(int4, xmin),                                     \
    ngx_svc_oauth_granted_as(int4, client_xmin),                              \
    ngx_svc_oauth_granted_param(session_at),                                  \
    ngx_svc_oauth_granted_as(int8, ms),                                       \
    ngx_svc_oauth_granted_as(uuid, token.jti),                                \
    ngx_svc_oauth_granted_param(token.scope),                                 \
    ngx_svc_oauth_granted_param(token.audience),                              \
    ngx_svc_oauth_granted_param(audience_key),                                \
    ngx_svc_oauth_granted_param(secret_hash),                                 \
    ngx_svc_oauth_granted_param(token.kid),                                   \
    ngx_svc_oauth_param(jkt),                                                 \
    ngx_svc_oauth_granted_as(int4, ttl),                                      \
    ngx_svc_oauth_param(ip),                                                  \
    ngx_svc_oauth_param(country)

#define NGX_SVC_OAUTH_GRANTED_PLACES_PARAMS                                   \
    ngx_svc_oauth_granted_as(tid, ctid),                                      \
    ngx_svc_oauth_granted_as(tid, client_ctid)

/* Of what is taken where it was read, $19, too. */

#define NGX_SVC_OAUTH_GRANTED_GIVE_PARAMS                                     \
    NGX_SVC_OAUTH_GRANTED_TOKEN_PARAMS,                                       \
    ngx_svc_oauth_granted_as(tid, shown_ctid),                                \
    NGX_SVC_OAUTH_GRANTED_PLACES_PARAMS

/*
 * A refresh token besides, $22, bound to $23, until the end of its grant, $24,
 * or until nobody has used it for as many days as $25 says.  where: if so.
 */

#define NGX_SVC_OAUTH_GRANTED_REFRESH(where)                                  \
    ", r AS ("                                                                \
        "INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, jkt,"    \
            " expires_at)"                                                    \
        " SELECT x.tenant_id, $22::bytea, $3::uuid, $23::bytea,"              \
            " least($24::text::timestamptz,"                                  \
                " now() + $25::integer * interval '1 day')"                   \
        " FROM x" where                                                       \
    ")"

#define NGX_SVC_OAUTH_GRANTED_REFRESH_PARAMS                                  \
    ngx_svc_oauth_granted_param(refresh),                                     \
    ngx_svc_oauth_granted_param(refresh_jkt),                                 \
    ngx_svc_oauth_granted_param(expires_at),                                  \
    ngx_svc_oauth_granted_as(int4, idle_days)

/*
 * Who acted for whom: of agents, in the journal.  grant: a literal; issuer,
 * request_id: parameters, of which another one is behind them, the client's
 * name.
 */

#define NGX_SVC_OAUTH_GRANTED_JOURNAL(grant, issuer, request_id)              \
    ", d AS ("                                                                \
        NGX_SVC_OAUTH_DELEGATION(grant, "v.jti", "$15", "$17", "$18",         \
                                 request_id, issuer "::text")                 \
    ")"

#define NGX_SVC_OAUTH_GRANTED_JOURNAL_PARAMS                                  \
    ngx_svc_oauth_granted_param(issuer),                                      \
    ngx_svc_oauth_param(request_id),                                          \
    ngx_svc_oauth_granted_param(name)

/*
 * A token for what "taken" returns, the tenant's id: a row, if it was given.
 * taken: what takes that, or looks whether it was taken; more: CTEs behind the
 * token's; given: what the row has.
 */

#define NGX_SVC_OAUTH_GRANTED_STORE(taken, grant, chain, client_name, more,   \
    given)                                                                    \
    "WITH x AS (" taken "), "                                                 \
    NGX_SVC_OAUTH_GRANTED_TOKEN(grant, chain, client_name) more               \
    " SELECT " given

/*
 * Nothing; or what claims of an ID token are made of: the user is there, in the
 * snapshot in which the condition has seen him.
 */

#define NGX_SVC_OAUTH_GRANTED_GIVEN  "FROM x"

#define NGX_SVC_OAUTH_GRANTED_TOLD                                            \
    NGX_SVC_OAUTH_CLAIMS ", u.role AS roles"                                  \
    " FROM x JOIN svc.user_account u ON u.tenant_id = " NGX_SVC_TENANT        \
        " AND u.id = $4::uuid"

/* What is shown, unless somebody else has taken it; set: of its columns. */

#define NGX_SVC_OAUTH_GRANTED_TAKE(table, set)                                \
    "UPDATE " table " k SET used_at = now()" set                              \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.digest = $1::bytea AND k.used_at IS NULL"

/*
 * That, where it was read, and both tokens for it; and of an agent.  where: of
 * the refresh token.
 */

#define NGX_SVC_OAUTH_GRANTED_GIVE(grant, table, set, where, given)           \
    NGX_SVC_OAUTH_GRANTED_STORE(                                              \
        NGX_SVC_OAUTH_GRANTED_TAKE(table, set)                                \
            " AND k.ctid = $19::tid AND " NGX_SVC_OAUTH_GRANTED_HOLDS         \
            " RETURNING k.tenant_id",                                         \
        grant, "NULL::text[]", "NULL", NGX_SVC_OAUTH_GRANTED_REFRESH(where),  \
        given)

#define NGX_SVC_OAUTH_GRANTED_GIVE_AGENT(grant, table, set, where)            \
    NGX_SVC_OAUTH_GRANTED_STORE(                                              \
        NGX_SVC_OAUTH_GRANTED_TAKE(table, set)                                \
            " AND k.ctid = $19::tid AND " NGX_SVC_OAUTH_GRANTED_HOLDS         \
            " RETURNING k.tenant_id",                                         \
        grant, "ARRAY[$2::text]", "$28::text",                                \
        NGX_SVC_OAUTH_GRANTED_REFRESH(where)                                  \
        NGX_SVC_OAUTH_GRANTED_JOURNAL(grant, "$26", "$27"),                   \
        NGX_SVC_OAUTH_GRANTED_GIVEN)


#endif /* _NGX_SVC_OAUTH_GRANTED_SQL_H_INCLUDED_ */
