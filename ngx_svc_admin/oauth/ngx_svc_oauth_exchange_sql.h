/*
 * SQL: a token exchange: a read that is decided on, and the write that follows
 * where what was read still holds.
 */

#ifndef _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_


#include "ngx_svc_oauth_bind.h"
#include "ngx_svc_oauth_exchange.h"
#include "ngx_svc_oauth_lives_row.h"


/* --- the read --- */

/* Its columns: of the token; */

typedef enum {
    NGX_SVC_OAUTH_EXCHANGE_JTI = 0,
    NGX_SVC_OAUTH_EXCHANGE_USER_ID,
    NGX_SVC_OAUTH_EXCHANGE_CLIENT_ID,
    NGX_SVC_OAUTH_EXCHANGE_CHAIN,
    NGX_SVC_OAUTH_EXCHANGE_PRINCIPALS,
    NGX_SVC_OAUTH_EXCHANGE_SCOPES,
    NGX_SVC_OAUTH_EXCHANGE_AUDIENCE,
    NGX_SVC_OAUTH_EXCHANGE_AUDIENCE_KEY,
    NGX_SVC_OAUTH_EXCHANGE_JKT,
    NGX_SVC_OAUTH_EXCHANGE_TTL,
    NGX_SVC_OAUTH_EXCHANGE_GRANT_ID,
    NGX_SVC_OAUTH_EXCHANGE_ROOT,
    NGX_SVC_OAUTH_EXCHANGE_REVOKED,
    NGX_SVC_OAUTH_EXCHANGE_USER,
    NGX_SVC_OAUTH_EXCHANGE_GRANT,
    NGX_SVC_OAUTH_EXCHANGE_CONSENT,
    NGX_SVC_OAUTH_EXCHANGE_NOW,
    NGX_SVC_OAUTH_EXCHANGE_SET,
    NGX_SVC_OAUTH_EXCHANGE_PUBLIC       /* of a JWT */
} ngx_svc_oauth_exchange_token_e;

/* and of each client, behind those of NGX_SVC_OAUTH_LIVES_CLIENT_COLUMNS(). */

#define NGX_SVC_OAUTH_EXCHANGE_SHIFT  NGX_SVC_OAUTH_LIVES_A_ID

typedef enum {
    NGX_SVC_OAUTH_EXCHANGE_ID = 0,
    NGX_SVC_OAUTH_EXCHANGE_SLUG = NGX_SVC_OAUTH_LIVES_A_SLUG
                                  - NGX_SVC_OAUTH_EXCHANGE_SHIFT,
    NGX_SVC_OAUTH_EXCHANGE_GRANTS = NGX_SVC_OAUTH_LIVES_A_LETS + 1
                                    - NGX_SVC_OAUTH_EXCHANGE_SHIFT,
    NGX_SVC_OAUTH_EXCHANGE_FORMAT,
    NGX_SVC_OAUTH_EXCHANGE_DPOP,
    NGX_SVC_OAUTH_EXCHANGE_ACTIVE_KID,
    NGX_SVC_OAUTH_EXCHANGE_ALLOWED,
    NGX_SVC_OAUTH_EXCHANGE_NAME,
    NGX_SVC_OAUTH_EXCHANGE_TTL_LEFT,
    NGX_SVC_OAUTH_EXCHANGE_CONSENTS,
    NGX_SVC_OAUTH_EXCHANGE_VERSION,
    NGX_SVC_OAUTH_EXCHANGE_PLACE,
    NGX_SVC_OAUTH_EXCHANGE_ASSIGNED,

    /* if o->wider */

    NGX_SVC_OAUTH_EXCHANGE_DEPTH,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_KEY,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_URI,
    NGX_SVC_OAUTH_EXCHANGE_TARGET_ENABLED
} ngx_svc_oauth_exchange_column_e;


/*
 * Two statements: of a join each level makes all columns anew whenever its plan
 * is begun.
 *
 * The first one finds the token, and leaves the clients that it lives by in the
 * setting svc.principals, with spaces between them, for the second one.  $1 to
 * $5: as of NGX_SVC_OAUTH_LIVES_TOKEN().  What a row of another table has is
 * one text: of the user the status, and the time before which tokens are dead;
 * of the grant, unless it is revoked, when its session began, and when the user
 * signed in.  Times are seconds since the epoch.  LIMIT says that it is found in
 * one of the partitions: else a plan for any token seems dear, and one is made
 * for each.
 */

#define NGX_SVC_OAUTH_EXCHANGE_OF(columns, table, key)                        \
    "(SELECT " columns " FROM " table " o WHERE o.tenant_id = " NGX_SVC_TENANT\
        " AND " key ")"

#define NGX_SVC_OAUTH_EXCHANGE_TOKEN                                          \
    "SELECT k.jti, k.user_id, k.client_id, k.chain, k.principals, k.scopes,"  \
        " k.audience, k.audience_key, k.jkt, k.ttl, k.grant_id,"              \
        " coalesce(k.root_jti, k.jti) AS root_jti,"                           \
        " k.revoked_at IS NOT NULL OR EXISTS "                                \
            NGX_SVC_OAUTH_EXCHANGE_OF("", "svc.oauth_revoked",                \
                "o.jti = ANY (ARRAY[k.jti, k.parent_jti, k.root_jti])")       \
            " AS revoked, "                                                   \
        NGX_SVC_OAUTH_EXCHANGE_OF(                                            \
            "concat_ws(' ', o.status, date_part('epoch', o.valid_after))",    \
            "svc.user_account", "o.id = k.user_id") " AS owner, "             \
        NGX_SVC_OAUTH_EXCHANGE_OF(                                            \
            "concat_ws(' ', date_part('epoch', o.session_at),"                \
                " floor(date_part('epoch', o.auth_time)), o.methods)",        \
            "svc.oauth_grant",                                                \
            "o.id = k.grant_id AND o.revoked_at IS NULL") " AS granted, "     \
        NGX_SVC_OAUTH_EXCHANGE_OF("o.allowed", "svc.oauth_consent",           \
            "(o.user_id, o.client_id) BETWEEN"                                \
                " (k.user_id, $1::text) AND (k.user_id, $1::text)")           \
            " AS allowed,"                                                    \
        " " NGX_SVC_OAUTH_MS " AS ms,"                                        \
        " set_config('svc.principals', array_to_string(k.principals, ' '),"   \
                    " true) AS principals_set"                                \
    " FROM svc.oauth_token k WHERE k.tenant_id = " NGX_SVC_TENANT             \
        " AND k.jti = $2::uuid"                                               \
        " AND k.issued_at = " NGX_SVC_OAUTH_ISSUED_AT("$3::text")             \
        " AND k.secret_hash IS NOT DISTINCT FROM $4::bytea"                   \
        " AND k.kid IS NOT DISTINCT FROM $5::text LIMIT 1"

/*
 * Of a JWT: a row with its key, unless that is revoked, and with the token's
 * columns, if that is found.  $6: whether the key itself is of use.
 */

#define NGX_SVC_OAUTH_EXCHANGE_TOKEN_JWT                                      \
    "SELECT x.*, "                                                            \
        NGX_SVC_OAUTH_EXCHANGE_OF(                                            \
            "CASE WHEN $6::bool THEN o.public::text ELSE '' END",             \
            "svc.oauth_key", "o.kid = $5::text AND o.revoked_at IS NULL")     \
            " AS public"                                                      \
    " FROM (SELECT) n LEFT JOIN LATERAL ("                                    \
        NGX_SVC_OAUTH_EXCHANGE_TOKEN ") x ON true"

/*
 * The second one: a row of each client "a", of those and of who asks, $1.  A
 * row's xmin is of its version, and its ctid is where that is: what has another
 * one has been changed.  orphan, lets: as of the columns NGX_SVC_OAUTH_LIVES_*;
 * columns: whether the user may use it, and what is behind that.
 */

#define NGX_SVC_OAUTH_EXCHANGE_CLIENTS(issued_at, orphan, lets, columns)      \
    "SELECT " NGX_SVC_OAUTH_LIVES_CLIENT_COLUMNS(issued_at, orphan) ", "      \
        lets ", a.grant_types, a.access_token_format, a.require_dpop,"        \
        " a.signing_kid, a.allowed_audiences, a.name, "                       \
        NGX_SVC_OAUTH_TTL_LEFT("a") ","                                       \
        " a.require_consent, a.xmin, a.ctid, " columns

/* $2: the token's time. */

#define NGX_SVC_OAUTH_EXCHANGE_READ                                           \
    NGX_SVC_OAUTH_EXCHANGE_CLIENTS(NGX_SVC_OAUTH_ISSUED_AT("$2::text"),       \
        "a.orphan_action", "NULL", "a.assignment = 'everyone'")               \
    " FROM svc.application a WHERE a.tenant_id = " NGX_SVC_TENANT             \
        " AND a.client_id = ANY ((SELECT string_to_array(concat_ws(' ',"      \
            " $1::text, nullif(current_setting('svc.principals', true), '')),"\
            " ' '))::text[])"

/*
 * In its place, with owners of agents, what the user lets each client, how many
 * may act, and a target, "d": the key that is asked for, $6, or of the
 * application $7, or the only one that the client may have; and which
 * application has registered it.
 */

#define NGX_SVC_OAUTH_EXCHANGE_READ_WIDER                                     \
    NGX_SVC_OAUTH_EXCHANGE_CLIENTS("x.issued_at",                             \
        NGX_SVC_OAUTH_STATE("a", "a"), NGX_SVC_OAUTH_LIVES_LETS,              \
        "CASE WHEN a.client_id = $1::text AND x.user_id IS NOT NULL"          \
            " THEN " NGX_SVC_OAUTH_ASSIGNED("x.user_id") " END,"              \
        " (SELECT k.max_delegation_depth FROM svc.oauth_tenant k"             \
            " WHERE k.tenant_id = " NGX_SVC_TENANT "),"                       \
        " d.key, d.uri, d.enabled")                                           \
    " FROM (SELECT) o LEFT JOIN LATERAL ("                                    \
        NGX_SVC_OAUTH_LIVES_TOKEN("") ") x ON true"                           \
    " CROSS JOIN LATERAL (SELECT $1::text || x.principals AS ids OFFSET 0) n" \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_OAUTH_LIVES_CLIENT(NGX_SVC_OAUTH_LIVES_OWNER                  \
            ", k.grant_types, k.access_token_format, k.require_dpop,"         \
            " k.signing_kid, k.allowed_audiences, k.name, k.xmin, k.ctid")    \
        ") a ON true"                                                         \
    " LEFT JOIN LATERAL (SELECT n.key, r.uri, r.enabled"                      \
        " FROM (SELECT CASE WHEN $7::text IS NULL"                            \
                " THEN " NGX_SVC_OAUTH_AUDIENCE_KEY("a", "$6::text")          \
                " ELSE (" NGX_SVC_OAUTH_APPLICATION("k.resource_key",         \
                                                    "$7::text") ")"           \
                " END AS key WHERE a.client_id = $1::text OFFSET 0) n"        \
        " LEFT JOIN LATERAL (SELECT k.resource_uri AS uri, k.enabled"         \
            " FROM svc.application k WHERE k.tenant_id = " NGX_SVC_TENANT     \
                " AND k.resource_key BETWEEN n.key AND n.key"                 \
            " ORDER BY k.resource_key LIMIT 1) r ON true) d ON true"


/* --- the write --- */

/*
 * A condition: of the clients that the token is to live by, $23, each version
 * is where it was read; its user is active, whose tokens of that time have not
 * been ended; and neither its parent, nor its root, nor its grant is revoked.
 * What is committed in this moment ends the token, too: who is asked about it
 * looks at all that.
 */

#define NGX_SVC_OAUTH_EXCHANGE_HOLDS                                          \
    "cardinality(ARRAY(SELECT k.xmin FROM svc.application k"                  \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.ctid = ANY ($24::text::tid[])"                            \
            " AND k.client_id = ANY ($23::text::text[])"                      \
            " AND k.xmin = ANY ($25::text::xid[])))"                          \
        " = cardinality($23::text::text[])"                                   \
    " AND ($4::uuid IS NULL OR ("                                             \
        NGX_SVC_ROW("k.status = 'active' AND "                                \
                    NGX_SVC_OAUTH_ISSUED_AT("$1::bigint")                     \
                    " >= coalesce(k.valid_after, '-infinity')",               \
                    "svc.user_account", "$4::uuid") "))"                      \
    " AND NOT EXISTS (SELECT FROM svc.oauth_revoked k"                        \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.jti = ANY (ARRAY[$6::uuid, $7::uuid]))"                   \
    " AND ($5::uuid IS NULL OR ("                                             \
        NGX_SVC_ROW("k.revoked_at IS NULL", "svc.oauth_grant", "$5::uuid")    \
        "))"

/* The token "i", and who acts for whom in the journal. */

#define NGX_SVC_OAUTH_EXCHANGE_GIVE                                           \
    "WITH i AS ("                                                             \
        NGX_SVC_OAUTH_INSERT_INTO                                             \
        " SELECT " NGX_SVC_TENANT_OR_NULL ", $2::uuid, "                      \
            NGX_SVC_OAUTH_ISSUED_AT("$1::bigint") ", $3::text, $4::uuid,"     \
            " $5::uuid, $6::uuid, $7::uuid, string_to_array($8::text, ' '),"  \
            " string_to_array($9::text, ' '), '" NGX_SVC_OAUTH_EXCHANGE "',"  \
            " string_to_array($10::text, ' '), $11::text, $12::text,"         \
            " $13::bytea, $14::text, $15::bytea, $16::integer,"               \
            " $17::text::inet, $18::text"                                     \
        " WHERE " NGX_SVC_OAUTH_EXCHANGE_HOLDS                                \
        " RETURNING issued_at, chain, scopes"                                 \
    ")"                                                                       \
    " " NGX_SVC_OAUTH_DELEGATION_INTO                                         \
    " SELECT $2::uuid, i.issued_at, $3::text, $19::text, "                    \
        NGX_SVC_OAUTH_SUBJECT_TYPE("$4::uuid", "$20::text") ", $20::text,"    \
        " i.chain, '" NGX_SVC_OAUTH_EXCHANGE "', $21::text, i.scopes,"        \
        " 'granted', $2::uuid, $7::uuid, $6::uuid,"                           \
        " i.issued_at + make_interval(secs => $16::integer),"                 \
        " $15::bytea IS NOT NULL, $17::text, $18::text, $22::text FROM i"

#define ngx_svc_oauth_exchange_as(type, field)                                \
    ngx_svc_oauth_bind_as(type, ngx_svc_oauth_exchange_t, field)

#define NGX_SVC_OAUTH_EXCHANGE_GIVE_PARAMS                                    \
    ngx_svc_oauth_exchange_as(int8, ms),                                      \
    ngx_svc_oauth_exchange_as(uuid, token.jti),                               \
    ngx_svc_oauth_param(client.id),                                           \
    ngx_svc_oauth_exchange_as(uuid, user_id),                                 \
    ngx_svc_oauth_exchange_as(uuid, grant_id),                                \
    ngx_svc_oauth_exchange_as(uuid, root_jti),                                \
    ngx_svc_oauth_exchange_as(uuid, parent_jti),                              \
    ngx_svc_oauth_exchange_param(token.chain),                                \
    ngx_svc_oauth_exchange_param(principals_text),                            \
    ngx_svc_oauth_exchange_param(token.scope),                                \
    ngx_svc_oauth_exchange_param(token.audience),                             \
    ngx_svc_oauth_exchange_param(key),                                        \
    ngx_svc_oauth_exchange_param(secret_hash),                                \
    ngx_svc_oauth_exchange_param(token.kid),                                  \
    ngx_svc_oauth_param(jkt),                                                 \
    ngx_svc_oauth_exchange_as(int4, ttl_text),                                \
    ngx_svc_oauth_param(ip),                                                  \
    ngx_svc_oauth_param(country),                                             \
    ngx_svc_oauth_exchange_param(name),                                       \
    ngx_svc_oauth_exchange_param(token.subject),                              \
    ngx_svc_oauth_exchange_param(target),                                     \
    ngx_svc_oauth_param(request_id),                                          \
    ngx_svc_oauth_exchange_param(clients),                                    \
    ngx_svc_oauth_exchange_param(places),                                     \
    ngx_svc_oauth_exchange_param(versions)


#endif /* _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_ */
