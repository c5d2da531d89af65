/*
 * Tokens of what a user has granted: what the grant types of codes and of
 * refresh tokens share.
 */

#ifndef _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_
#define _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_


#include "ngx_svc_audit.h"
#include "ngx_svc_oauth_delegation.h"
#include "ngx_svc_oauth_issue.h"
#include "ngx_svc_oauth_refresh_token.h"


#define NGX_SVC_OAUTH_SHOWN_MAX  512    /* bytes, of what is looked up */


/* o->data of both; of the request's pool. */

typedef struct {
    ngx_str_t                       digest;     /* of what is shown */
    ngx_str_t                       challenge;  /* of the code's verifier */
    ngx_str_t                       redirect_uri;
    ngx_str_t                       digests;    /* an array, of tokens */
    ngx_svc_oauth_refresh_tokens_t  tokens;     /* that may be answered */
} ngx_svc_oauth_granted_t;

#define ngx_svc_oauth_granted_param(field)                                    \
    ngx_svc_oauth_data_param(ngx_svc_oauth_granted_t, field)


/*
 * The first parameters of both statements, $1 to $16; the macros below count on
 * their places.  $13 to $15 are for the audit log.
 */

#define NGX_SVC_OAUTH_GRANTED_PARAMS                                          \
    NGX_SVC_OAUTH_ISSUE_PARAMS,                                               \
    { .bind = ngx_svc_oauth_client_bind_from, .n = 0 },                       \
    { .bind = ngx_svc_oauth_client_bind_from, .n = 1 },                       \
    { .bind = ngx_svc_oauth_client_bind_from, .n = 2 },                       \
    ngx_svc_oauth_granted_param(digest)

/*
 * SQL: the row "c" of what is shown, as it is when nobody else has it: who
 * shows the same at the same time waits, and sees what became of it.
 */

#define NGX_SVC_OAUTH_GRANTED_SHOWN(table)                                    \
    "SELECT k.* FROM " table " k WHERE k.tenant_id = " NGX_SVC_TENANT         \
        " AND k.digest BETWEEN $16::bytea AND $16::bytea"                     \
    " ORDER BY k.digest LIMIT 1 FOR NO KEY UPDATE"

/*
 * Behind FROM: the client, its key "y" whatever its tokens are, the time "m",
 * "e", what is wrong with the client, before anything is looked at that it
 * shows, "c", its grant "p", and the user "u".  "w" is the target, "o" the
 * scopes: of those that are asked for, or all that the user has granted, the
 * ones that the client may have today.  grant: a literal.
 */

#define NGX_SVC_OAUTH_GRANTED_FROM(grant)                                     \
    NGX_SVC_OAUTH_CLIENT("$1")                                                \
    " LEFT JOIN svc.oauth_key y ON y.tenant_id = " NGX_SVC_TENANT             \
        " AND y.kid = g.active_kid AND y.revoked_at IS NULL"                  \
    " CROSS JOIN (SELECT " NGX_SVC_OAUTH_MS " AS ms) m"                       \
    " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_STATE("a", "g")              \
        " AS state) s"                                                        \
    " CROSS JOIN LATERAL (SELECT CASE"                                        \
        NGX_SVC_OAUTH_VERDICT_CLIENT("$2::bool")                              \
        NGX_SVC_OAUTH_VERDICT_STATE("s.state")                                \
        NGX_SVC_OAUTH_VERDICT_GRANT(grant)                                    \
        NGX_SVC_OAUTH_VERDICT_PROOF("$8")                                     \
        " WHEN y.kid IS NULL AND (a.access_token_format = 'jwt'"              \
            " OR 'openid' = ANY (a.scopes)) THEN 'key'"                       \
        " END AS verdict) e"                                                  \
    " LEFT JOIN c ON true"                                                    \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_ROW("k.*", "svc.oauth_grant", "c.grant_id")                   \
    ") p ON p.client_id = a.client_id"                                        \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_ROW("k.status, k.valid_after", "svc.user_account",            \
                    "p.user_id")                                              \
    ") u ON true"                                                             \
    " CROSS JOIN LATERAL (SELECT"                                             \
        " coalesce($4::text, CASE cardinality(p.resources)"                   \
            " WHEN 1 THEN p.resources[1] END) AS uri,"                        \
        " coalesce($5::text, CASE cardinality(p.resource_keys)"               \
            " WHEN 1 THEN p.resource_keys[1] END) AS key) w"                  \
    " CROSS JOIN LATERAL (SELECT ARRAY("                                      \
        "SELECT s FROM unnest(coalesce($3::text::text[], p.scopes)) s"        \
        " WHERE s = ANY (p.scopes) AND " NGX_SVC_OAUTH_GRANTED_TODAY          \
            " AND (a.allowed_scopes IS NULL OR s = ANY ("                     \
                "a.allowed_scopes || '{offline_access}'::text[]))"            \
        ") AS scopes) o"

#define NGX_SVC_OAUTH_GRANTED_TODAY                                           \
    "s = ANY (a.scopes || '{offline_access}'::text[])"

/*
 * Whether the grant is older than what has cut off all tokens before.  What ends
 * the user's sessions is seen some time after valid_after: a session that began
 * before it is looked at, whenever its grant was made.
 */

#define NGX_SVC_OAUTH_GRANTED_CUT                                             \
    "(p.session_at < u.valid_after"                                           \
        " OR p.created_at < greatest(a.tokens_valid_after,"                   \
            " g.tokens_valid_after))"

/* An application that did not ask when the user signed in, and has to since. */

#define NGX_SVC_OAUTH_GRANTED_UNASKED                                         \
    "a.require_consent AND NOT p.consented"

/*
 * The last cases of a verdict: target and scopes.  fault: the parameter.  What
 * was granted for the issuer stays for that: a ceiling of today may refuse it,
 * and makes nothing else of it.
 */

#define NGX_SVC_OAUTH_GRANTED_VERDICT(fault)                                  \
    NGX_SVC_OAUTH_VERDICT_FAULT(fault, NGX_SVC_OAUTH_FAULT_TARGET)            \
    " WHEN $5::text IS NOT NULL AND $5::text <> ALL (p.resource_keys)"        \
        " THEN 'granted_resource'"                                            \
    " WHEN $5::text IS NULL AND cardinality(p.resource_keys) > 1"             \
        " THEN 'granted_resources'"                                           \
    " WHEN a.allowed_audience_keys IS NOT NULL"                               \
        " AND coalesce(w.key <> ALL (a.allowed_audience_keys), true)"         \
        " THEN 'audience'"                                                    \
    NGX_SVC_OAUTH_VERDICT_FAULT(fault, NGX_SVC_OAUTH_FAULT_SCOPE)             \
    " WHEN NOT $3::text::text[] <@ o.scopes OR a.allowed_scopes = '{}'"       \
        " OR o.scopes = '{}' AND p.scopes <> '{}' THEN coalesce("             \
            "'granted_scope ' || (SELECT s FROM unnest($3::text::text[]) s"   \
                " WHERE s <> ALL (p.scopes) LIMIT 1),"                        \
            " 'scope ' || (SELECT s"                                          \
                " FROM unnest(coalesce($3::text::text[], p.scopes)) s"        \
                " WHERE NOT " NGX_SVC_OAUTH_GRANTED_TODAY " LIMIT 1),"        \
            " 'scope_ceiling ' || coalesce((SELECT s"                         \
                " FROM unnest(coalesce($3::text::text[], p.scopes)) s"        \
                " WHERE s <> ALL (o.scopes) LIMIT 1), ''))"                   \
    " WHEN octet_length(array_to_string(o.scopes, ' ')) > $12"                \
        " THEN 'scope_long'"

/*
 * The columns of "v" behind its verdict, for NGX_SVC_OAUTH_INSERT() and for
 * what is below; an agent that has a user's token is an actor (RFC 8693, 4.1).
 */

#define NGX_SVC_OAUTH_GRANTED_COLUMNS                                         \
    " t.slug, a.access_token_format AS format, m.ms, "                        \
    NGX_SVC_OAUTH_JTI_OF("m.ms", "$6::text") " AS jti, a.client_id,"          \
    " p.user_id::text AS subject, p.user_id, p.id AS grant_id,"               \
    " NULL::uuid AS root_jti, NULL::uuid AS parent_jti,"                      \
    " CASE a.type WHEN 'agent' THEN ARRAY[a.client_id] END AS chain,"         \
    " ARRAY[a.client_id] AS principals, o.scopes,"                            \
    " " NGX_SVC_OAUTH_AUDIENCE_COLUMNS("w.uri", "w.key", "$11") ","           \
    " CASE a.access_token_format WHEN 'jwt' THEN y.kid END AS kid,"           \
    " y.kid AS id_kid, y.sealed, a.allowed_scopes, a.allowed_audiences,"      \
    " least(a.access_token_ttl, a.max_token_ttl,"                             \
        " " NGX_SVC_OAUTH_TTL_LEFT("a") ") AS ttl,"                           \
    " a.name AS client_name, a.type, a.auth_method, p.auth_time, p.methods,"  \
    " p.expires_at AS grant_expires_at"

/* The row of a refresh token.  digest: an expression; more: a condition. */

#define NGX_SVC_OAUTH_GRANTED_REFRESH(digest, more)                           \
    "INSERT INTO svc.oauth_refresh (tenant_id, digest, grant_id, jkt,"        \
        " expires_at)"                                                        \
    " SELECT " NGX_SVC_TENANT_OR_NULL ", " digest ", v.grant_id,"             \
        " CASE v.auth_method WHEN 'none' THEN $8::bytea END,"                 \
        " least(v.grant_expires_at, now() + interval '30 days')"              \
    " FROM v WHERE v.verdict IS NULL AND " more

/* Who acted for whom: of agents, in the journal.  grant: a literal. */

#define NGX_SVC_OAUTH_GRANTED_DELEGATION(grant)                               \
    NGX_SVC_OAUTH_DELEGATION(grant, "v.jti", "$8", "$9", "$10", "$15", "$11")

/*
 * Two CTEs: ends the grant, and with it all its tokens, when the verdict is
 * that one; and tells of it once.  Both: literals.
 */

#define NGX_SVC_OAUTH_GRANTED_REVOKE(verdict_is, reason_is)                   \
    "z AS ("                                                                  \
        "UPDATE svc.oauth_grant k SET revoked_at = now(),"                    \
            " reason = " reason_is                                            \
        " FROM v WHERE v.verdict = " verdict_is                               \
            " AND k.tenant_id = " NGX_SVC_TENANT                              \
            " AND k.id = (SELECT v.grant_id FROM v)"                          \
            " AND k.revoked_at IS NULL"                                       \
        " RETURNING k.id, k.user_id, k.client_id, v.client_name, v.type,"     \
            " k.reason"                                                       \
    "), f AS ("                                                               \
        NGX_SVC_AUDIT_INTO("actor_type, actor_id, actor_name, ip,"            \
                           " user_agent, request_id, ")                       \
        NGX_SVC_AUDIT_ROWS(                                                   \
            "CASE z.type WHEN 'agent' THEN 'agent' ELSE 'application' END,"   \
            " z.client_id, z.client_name, $13::text::inet, $14::text,"        \
            " $15::text, "                                                    \
            NGX_SVC_A_OAUTH_GRANT_REVOKED(NGX_SVC_AUDIT_BOTH),                \
            "z.id::text", "NULL",                                             \
            "jsonb_build_object('reason', z.reason,"                          \
                " 'clientId', z.client_id, 'userId', z.user_id)",             \
            "FROM z")                                                         \
    ")"

/*
 * The answer; refresh: which of the tokens it has, from 1, or NULL; nonce: of
 * an ID token, or NULL.
 */

#define NGX_SVC_OAUTH_GRANTED_ROW(refresh, nonce)                             \
    " SELECT "                                                                \
    NGX_SVC_OAUTH_ROW("floor(date_part('epoch', v.auth_time))::bigint")       \
    ", v.id_kid, array_to_string(v.methods, ' ') AS methods,"                 \
    " coalesce('openid' = ANY (v.scopes), false) AS openid, "                 \
    refresh " AS refresh, " nonce " AS nonce FROM v"


/* For a check: o->data.  NULL: memory. */
ngx_svc_oauth_granted_t *ngx_svc_oauth_granted_new(ngx_svc_oauth_t *o);

/* A needed parameter that is looked up; as ngx_svc_oauth_needed(). */
ngx_int_t ngx_svc_oauth_granted_shown(ngx_svc_oauth_t *o, const char *name,
    ngx_str_t *value);

/* A grant type's "more": what is beside the access token. */
ngx_int_t ngx_svc_oauth_granted_more(ngx_svc_oauth_t *o, PGresult *res,
    ngx_svc_json_writer_t *w);

/* A grant's refuse: a code that was replayed may have ended a grant. */
ngx_int_t ngx_svc_oauth_granted_refuse(ngx_svc_oauth_t *o, PGresult *res);


#endif /* _NGX_SVC_OAUTH_GRANTED_H_INCLUDED_ */
