/*
 * SQL: what comes of an authorization request, for all routes that ask.
 */

#ifndef _NGX_SVC_OAUTH_AUTHORIZE_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_AUTHORIZE_SQL_H_INCLUDED_


#include "ngx_svc_oauth_sql.h"
#include "ngx_svc_login_policy.h"
#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_oauth_request.h"
#include "ngx_svc_session.h"


/*
 * Of the request itself, $1 to $12.  $1: the client, $2: the redirect URI, $3:
 * of a loopback one what is before its port, $4: and behind, $5: before which
 * check the request is at fault, $6: resources and $7 their keys, $8: scopes,
 * $9: bytes that all scopes may have, $10: the challenge, $11: claims that are
 * asked for by name, $12: the digest of the request_uri, if it was pushed.
 */

#define NGX_SVC_OAUTH_AUTHORIZE_ASKED_PARAMS                                  \
    ngx_svc_oauth_request_param(oauth.client.id),                             \
    ngx_svc_oauth_request_param(redirect_uri),                                \
    ngx_svc_oauth_request_param(before),                                      \
    ngx_svc_oauth_request_param(behind),                                      \
    ngx_svc_oauth_request_param(fault),                                       \
    ngx_svc_oauth_request_param(resources),                                   \
    ngx_svc_oauth_request_param(resource_keys),                               \
    ngx_svc_oauth_request_param(oauth.scopes),                                \
    ngx_svc_param_constant(NGX_SVC_OAUTH_SCOPE_MAX),                          \
    ngx_svc_oauth_request_param(challenge),                                   \
    ngx_svc_oauth_request_param(claims),                                      \
    ngx_svc_oauth_request_param(pushed)

/*
 * And of its user: $13: the digest of the session, $14: whether it asks for a
 * new sign-in, $15: how old one may be, $16: after what time it must be, $17:
 * whose, '' when the hint is no good, $18: from which address, $19: the version
 * of the access policy that lets the request through, $20: of which class it
 * should be, and $21: whether it must, $22: of which user the claims must be.
 */

#define NGX_SVC_OAUTH_AUTHORIZE_PARAMS                                        \
    NGX_SVC_OAUTH_AUTHORIZE_ASKED_PARAMS,                                     \
    ngx_svc_oauth_request_param(digest),                                      \
    ngx_svc_oauth_request_param(again),                                       \
    ngx_svc_oauth_request_param(max_age),                                     \
    ngx_svc_oauth_request_param(auth_after),                                  \
    ngx_svc_oauth_request_param(hint),                                        \
    ngx_svc_oauth_request_param(oauth.ip),                                    \
    ngx_svc_oauth_request_param(policy),                                      \
    ngx_svc_oauth_request_param(acr),                                         \
    ngx_svc_oauth_request_param(acr_needed),                                  \
    ngx_svc_oauth_request_param(subject)

/* and, where a code may come of it, $23 to $25: */

#define NGX_SVC_OAUTH_AUTHORIZE_CODE_PARAMS                                   \
    NGX_SVC_OAUTH_AUTHORIZE_PARAMS,                                           \
    ngx_svc_oauth_request_param(code_digest),                                 \
    ngx_svc_oauth_request_param(nonce),                                       \
    ngx_svc_oauth_request_param(jkt)


/* Byte for byte, but the port of a native application's loopback URI. */

#define NGX_SVC_OAUTH_REDIRECT_KNOWN                                          \
    "($2 = ANY (a.redirect_uris) OR a.type = 'native' AND EXISTS ("           \
        "SELECT FROM unnest(a.redirect_uris) r WHERE starts_with(r, $3)"      \
        " AND regexp_replace(substr(r, length($3) + 1), '^:[0-9]+', '')"      \
            " = $4))"

/*
 * Where a code would be good, as it is shown, and as it is allowed: of what is
 * asked for, or what the client has for that, or the only target that there is.
 */

#define NGX_SVC_OAUTH_ASKED_AT                                                \
    "SELECT CASE WHEN $6::text::text[] <> '{}' THEN $6::text::text[]"         \
            " WHEN a.default_resource_key IS NOT NULL"                        \
            " THEN ARRAY[a.default_resource_uri]"                             \
            " WHEN " NGX_SVC_OAUTH_ONLY_AUDIENCE("a")                         \
            " THEN a.allowed_audiences ELSE '{}' END AS resources,"           \
        " CASE WHEN $7::text::text[] <> '{}' THEN $7::text::text[]"           \
            " WHEN a.default_resource_key IS NOT NULL"                        \
            " THEN ARRAY[a.default_resource_key]"                             \
            " WHEN " NGX_SVC_OAUTH_ONLY_AUDIENCE("a")                         \
            " THEN a.allowed_audience_keys ELSE '{}' END AS resource_keys"

/* What the client may have: of those of users all that it has. */

#define NGX_SVC_OAUTH_USER_ALLOWED                                            \
    "CASE WHEN a.allowed_scopes IS NULL THEN a.scopes ELSE ARRAY("            \
        "SELECT s FROM unnest(a.scopes) s WHERE s = ANY (a.allowed_scopes))"  \
    " END"

/*
 * offline_access is asked for, and is nothing without refresh_token.  Nobody is
 * refused for a scope of OpenID Connect that we have nothing for (3.1.2.1), and
 * some clients for none that they do not have.
 */

#define NGX_SVC_OAUTH_USER_SCOPES_OF(allowed)                                 \
    "ARRAY(SELECT s COLLATE \"C\" FROM unnest("                               \
            "coalesce($8::text::text[], " allowed ")) s"                      \
        " WHERE s = ANY (a.scopes) OR CASE s WHEN 'offline_access'"           \
            " THEN 'refresh_token' = ANY (a.grant_types)"                     \
            " WHEN 'address' THEN false WHEN 'phone' THEN false"              \
            " ELSE a.unknown_scopes = 'refuse' END ORDER BY 1)"

/*
 * Of the claims that are asked for by name those whose scopes the client may
 * have; and what the user is shown, and consents to: the scopes that are asked
 * for, and those that the claims stand for.
 */

#define NGX_SVC_OAUTH_ASKED_CLAIMS                                            \
    "SELECT CASE WHEN $11::text IS NOT NULL AND 'openid' = ANY (w.scopes)"    \
        " THEN ARRAY(SELECT n COLLATE \"C\" FROM unnest($11::text::text[]) n" \
            " WHERE split_part(n, ' ', 1) = ANY (b.scopes) ORDER BY 1)"       \
        " END AS claims"

#define NGX_SVC_OAUTH_ASKED_SCOPES                                            \
    "SELECT CASE WHEN d.claims IS NULL THEN w.scopes"                         \
        " ELSE ARRAY(SELECT s COLLATE \"C\" FROM unnest(w.scopes) s UNION"    \
            " SELECT split_part(n, ' ', 1) COLLATE \"C\""                     \
                " FROM unnest(d.claims) n ORDER BY 1) END AS scopes"

/*
 * Of the client's tenant, and what the statement before has let in, which says
 * so by svc.actor_id: a session of another tenant is not seen here.
 */

#define NGX_SVC_OAUTH_USER_SESSION                                            \
    "SELECT n.user_id, coalesce(n.root_id, n.id) AS root_id,"                 \
        " coalesce(n.auth_time, n.created_at) AS auth_time, n.methods,"       \
        " n.created_at AS session_at"                                         \
    " FROM (" NGX_SVC_SESSION_ROW("k.id, k.user_id, k.root_id, k.auth_time,"  \
                                  " k.created_at, k.methods", "$13::bytea")   \
        ") n WHERE n.user_id::text = current_setting('svc.actor_id', true)"

/*
 * lock: of what the user has consented to, until the grant is there: whoever
 * revokes the one finds the other.  Not of what only reads.
 */

#define NGX_SVC_OAUTH_AUTHORIZE_LOCK  " FOR KEY SHARE"

#define NGX_SVC_OAUTH_AUTHORIZE_CLIENT                                        \
    ", k.default_resource_uri, k.default_resource_key, k.grant_days,"         \
    " k.require_pkce, k.require_acr, k.unknown_scopes, k.watches,"            \
    " k.require_par"

/* Behind FROM: what the client may have of what it asks for. */

#define NGX_SVC_OAUTH_AUTHORIZE_ASKED                                         \
    " FROM " NGX_SVC_OAUTH_CLIENT("$1", NGX_SVC_OAUTH_AUTHORIZE_CLIENT)       \
    " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_STATE("a", "g")              \
        " AS state) i"                                                        \
    " CROSS JOIN LATERAL (SELECT " NGX_SVC_OAUTH_USER_ALLOWED                 \
        " AS scopes) b"                                                       \
    " CROSS JOIN LATERAL (SELECT "                                            \
        NGX_SVC_OAUTH_USER_SCOPES_OF("b.scopes") " AS scopes) w"              \
    " CROSS JOIN LATERAL (" NGX_SVC_OAUTH_ASKED_CLAIMS ") d"                  \
    " CROSS JOIN LATERAL (" NGX_SVC_OAUTH_ASKED_SCOPES ") e"                  \
    " CROSS JOIN LATERAL (" NGX_SVC_OAUTH_ASKED_AT ") h"

#define NGX_SVC_OAUTH_AUTHORIZE_FROM(lock)                                    \
    NGX_SVC_OAUTH_AUTHORIZE_ASKED                                             \
    " JOIN svc.governance q ON q.tenant_id = " NGX_SVC_TENANT                 \
    " LEFT JOIN LATERAL (" NGX_SVC_OAUTH_USER_SESSION ") s ON true"           \
    " LEFT JOIN LATERAL ("                                                    \
        NGX_SVC_OAUTH_CONSENT("s.user_id", lock) ") c ON true"                \
    " CROSS JOIN LATERAL (SELECT coalesce("                                   \
        NGX_SVC_OAUTH_ALLOWED(NGX_SVC_OAUTH_ALLOWED_AT("h"), "e.scopes")      \
        " <@ c.allowed, false) AS consented OFFSET 0) z"


/* The verdict, in the order in which what is wrong is told. */

#define NGX_SVC_OAUTH_VERDICT_REQUEST                                         \
    " WHEN NOT " NGX_SVC_OAUTH_REDIRECT_KNOWN " THEN 'redirect'"              \
    " WHEN a.require_par AND $12::bytea IS NULL THEN 'par'"                   \
    " WHEN $5 = 'request' THEN 'fault'"                                       \
    " WHEN a.require_pkce AND $10::bytea IS NULL THEN 'challenge'"            \
    " WHEN t.suspended_at IS NOT NULL THEN 'suspended'"                       \
    NGX_SVC_OAUTH_VERDICT_STATE("i.state")                                    \
    NGX_SVC_OAUTH_VERDICT_GRANT("'authorization_code'")                       \
    " WHEN $5 = 'target' THEN 'fault'"                                        \
    " WHEN a.allowed_audience_keys = '{}'"                                    \
        " OR NOT h.resource_keys <@ a.allowed_audience_keys"                  \
        " THEN 'audience'"                                                    \
    " WHEN $5 = 'scope' THEN 'fault'"                                         \
    " WHEN a.allowed_scopes = '{}'"                                           \
        " OR w.scopes = '{}' AND $8::text IS NOT NULL"                        \
            " AND NOT $8::text::text[] <@ '{address,phone}' THEN 'scopes'"    \
    " WHEN NOT array_remove(w.scopes, 'offline_access') <@ b.scopes"          \
        " THEN 'scope ' || (SELECT s FROM unnest(w.scopes) s"                 \
            " WHERE s <> 'offline_access' AND s <> ALL (b.scopes) LIMIT 1)"   \
    " WHEN octet_length(array_to_string(w.scopes, ' ')) > $9"                 \
        " THEN 'scope_long'"

/*
 * What a tenant has not changed lets everybody through; another policy is
 * judged by the worker, which then comes again.
 */

#define NGX_SVC_OAUTH_VERDICT_PLACE                                           \
    " WHEN " NGX_SVC_LOGIN_BLOCKED_FROM("q.tenant_id", "$18")                 \
        " THEN 'barred'"                                                      \
    " WHEN q.access_policy::text <> " NGX_SVC_OAUTH_POLICY_OPEN               \
        " AND q.access_number::text IS DISTINCT FROM $19 THEN 'policy'"

#define NGX_SVC_OAUTH_POLICY_OPEN                                             \
    "'{\"rules\":[],\"defaultAction\":\"allow\"}'"

/*
 * What a session does not reach a new sign-in may, once: $16 says that there
 * was one.
 */

#define NGX_SVC_OAUTH_VERDICT_ACR                                             \
    " WHEN $20::text IS NOT NULL AND ($21::bool OR a.require_acr)"            \
        " AND NOT " NGX_SVC_OAUTH_ACR_REACHED " && $20::text::text[]"         \
        " THEN CASE WHEN $16::text IS NULL AND $20::text <> '{}'"             \
            " THEN 'acr_again' ELSE 'acr' END"

/* The classes of the session: as ngx_svc_oauth_acr() tells the highest. */

#define NGX_SVC_OAUTH_ACR_REACHED                                             \
    "CASE WHEN 'passkey' = ANY (s.methods)"                                   \
            " THEN '{" NGX_SVC_OAUTH_ACR_ONE "," NGX_SVC_OAUTH_ACR_TWO ","    \
                NGX_SVC_OAUTH_ACR_PASSKEY "}'::text[]"                        \
        " WHEN 'password' = ANY (s.methods)"                                  \
            " AND s.methods && '{email,recovery,totp}'"                       \
            " THEN '{" NGX_SVC_OAUTH_ACR_ONE "," NGX_SVC_OAUTH_ACR_TWO "}'"   \
        " ELSE '{" NGX_SVC_OAUTH_ACR_ONE "}' END"

/*
 * What a grant keeps of how the user has signed in: behind that the class that
 * the client is told, of those that it asks for the first that is reached.
 */

#define NGX_SVC_OAUTH_ACR_METHODS                                             \
    "CASE WHEN $20::text IS NULL THEN s.methods ELSE s.methods || ARRAY("     \
        "SELECT n FROM unnest($20::text::text[]) n"                           \
        " WHERE n = ANY (" NGX_SVC_OAUTH_ACR_REACHED ") LIMIT 1) END"

#define NGX_SVC_OAUTH_VERDICT_USER                                            \
    " WHEN $17 = '' THEN 'hint'"                                              \
    " WHEN s.user_id IS NULL THEN 'login'"                                    \
    " WHEN $14::bool OR s.user_id::text <> $17 OR s.user_id::text <> $22"     \
        " OR s.auth_time < now() - make_interval(secs => $15::text::float8)"  \
        " OR s.auth_time <= to_timestamp($16::text::float8) THEN 'again'"     \
    NGX_SVC_OAUTH_VERDICT_ACR                                                 \
    " WHEN NOT " NGX_SVC_OAUTH_ASSIGNED("s.user_id") " THEN 'group'"

/*
 * A loopback redirect says nothing of who asks (RFC 8252, 8.6).  ask: whether
 * the client wants a new one.
 */

#define NGX_SVC_OAUTH_VERDICT_CONSENT(ask)                                    \
    " WHEN " ask "::bool OR $3 IS NOT NULL OR a.require_consent"              \
        " AND NOT z.consented THEN 'consent'"


/*
 * Of "v", in which there is none when its verdict is not NULL: a grant, and its
 * code of a minute.
 */

#define NGX_SVC_OAUTH_AUTHORIZE_COLUMNS                                       \
    " AS verdict, t.slug, a.client_id, a.name, gen_random_uuid() AS id,"      \
    " s.user_id, s.root_id, s.session_at, s.auth_time, "                      \
    NGX_SVC_OAUTH_ACR_METHODS " AS methods, w.scopes,"                        \
    " d.claims, e.scopes AS shown,"                                           \
    " h.resources, h.resource_keys, z.consented, a.grant_days,"               \
    " a.watches,"                                                             \
    " q.tenant_id, q.access_policy, q.access_number"

/* consented: whether the user has, and not an administrator for all of them. */

#define NGX_SVC_OAUTH_AUTHORIZE_GRANT(consented)                              \
    "INSERT INTO svc.oauth_grant (tenant_id, id, client_id, user_id, scopes," \
        " resources, resource_keys, session_id, session_at, auth_time,"       \
        " methods, consented, claims, watches, expires_at)"                   \
    " SELECT " NGX_SVC_TENANT_OR_NULL ", v.id, v.client_id, v.user_id,"       \
        " v.scopes, v.resources, v.resource_keys, v.root_id, v.session_at,"   \
        " v.auth_time, v.methods, " consented ", v.claims, v.watches,"        \
        " now() + v.grant_days * interval '1 day'"                            \
    " FROM v WHERE v.verdict IS NULL"

/*
 * Behind "r", which is what "v" is of a plain request, of one that was pushed:
 * where a code comes of it, it is spent; of two that come at once by one alone.
 */

#define NGX_SVC_OAUTH_AUTHORIZE_SPEND                                         \
    "u AS ("                                                                  \
        "UPDATE svc.oauth_par p SET used_at = now() FROM r"                   \
        " WHERE r.verdict IS NULL AND p.tenant_id = " NGX_SVC_TENANT          \
            " AND p.digest BETWEEN $12::bytea AND $12::bytea"                 \
            " AND p.used_at IS NULL RETURNING p.digest"                       \
    "), v AS ("                                                               \
        "SELECT CASE WHEN r.verdict IS NULL AND NOT EXISTS (SELECT FROM u)"   \
            " THEN 'spent' ELSE r.verdict END AS verdict, r.slug,"            \
            " r.client_id, r.name, r.id, r.user_id, r.root_id, r.session_at," \
            " r.auth_time, r.methods, r.scopes, r.claims, r.shown,"           \
            " r.resources, r.resource_keys, r.consented, r.grant_days,"       \
            " r.watches, r.tenant_id, r.access_policy, r.access_number"       \
        " FROM r"                                                             \
    "), "

#define NGX_SVC_OAUTH_AUTHORIZE_CODE                                          \
    "INSERT INTO svc.oauth_code (tenant_id, digest, grant_id, client_id,"     \
        " redirect_uri, challenge, nonce, jkt, expires_at)"                   \
    " SELECT " NGX_SVC_TENANT_OR_NULL ", $23::bytea, v.id, v.client_id, $2,"  \
        " $10::bytea, $24::text, $25::bytea, now() + interval '1 minute'"     \
    " FROM v WHERE v.verdict IS NULL"

/*
 * now: since the epoch, of what asks for a new sign-in; with a fraction: one of
 * the same second may have been before.
 */

#define NGX_SVC_OAUTH_AUTHORIZE_ROW                                           \
    "v.verdict AS _verdict, v.slug,"                                          \
    " extract(epoch FROM now())::text AS now, " NGX_SVC_OAUTH_POLICY_OF("v")

/* Of what the worker judges, for ngx_svc_login_policy(). */

#define NGX_SVC_OAUTH_POLICY_OF(row)                                          \
    "CASE v.verdict WHEN 'policy' THEN " row ".access_policy END AS _policy," \
    " " row ".access_number AS _version, " row ".tenant_id AS _tenant"


#endif /* _NGX_SVC_OAUTH_AUTHORIZE_SQL_H_INCLUDED_ */
