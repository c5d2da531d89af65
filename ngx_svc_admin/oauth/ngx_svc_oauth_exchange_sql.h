/*
 * SQL: of a token exchange, the tokens that are shown, the chain of those that
 * act, and what they may have.  "a", "t" and "g" are as in
 * NGX_SVC_OAUTH_CLIENT().
 */

#ifndef _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_
#define _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_


#include "ngx_svc_oauth_live.h"


/*
 * The row of a token that is shown, or none: it is what it says, as far as the
 * worker can tell.  All are parameters.
 */

#define NGX_SVC_OAUTH_SHOWN(jti, ms, kid, secret_hash, unverified, tenant)    \
    "SELECT k.* FROM (" NGX_SVC_OAUTH_TOKEN(jti "::uuid", ms) ") k"           \
    " WHERE NOT " unverified "::bool"                                         \
        " AND " NGX_SVC_OAUTH_TOKEN_SAYS(tenant)                              \
        " AND (k.kid = " kid "::text"                                         \
            " OR k.secret_hash = " secret_hash "::bytea)"

/* A value: the key of a token that the worker has not verified, or NULL. */

#define NGX_SVC_OAUTH_SHOWN_KEY(kid, unverified)                              \
    "CASE WHEN " unverified "::bool THEN ("                                   \
        "SELECT k.public FROM svc.oauth_key k"                                \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.kid BETWEEN " kid "::text AND " kid "::text"              \
            " AND k.revoked_at IS NULL ORDER BY k.kid LIMIT 1) END"

/* A client's own token "j" has this subject; NULL: it is a user's, or none. */

#define NGX_SVC_OAUTH_SUBJECT_CLIENT(j)                                       \
    "CASE WHEN " j ".user_id IS NULL"                                         \
        " THEN " j ".principals[cardinality(" j ".principals)] END"

/*
 * Those that act when "a" has exchanged "j": the last one once more only
 * narrows what it has.
 */

#define NGX_SVC_OAUTH_EXCHANGED_CHAIN(j)                                      \
    "CASE WHEN " j ".chain[1] = a.client_id THEN " j ".chain"                 \
        " ELSE a.client_id || coalesce(" j ".chain, '{}') END"

#define NGX_SVC_OAUTH_CHAIN_CYCLE(j)                                          \
    j ".chain[1] <> a.client_id AND a.client_id = ANY (" j ".chain)"

/*
 * Of all that a token "c" is to live by, where those of its chain act: the
 * least of their times, whether one may not have that target, and the scopes
 * that one may not have.  scopes: an array, of which those are.
 */

#define NGX_SVC_OAUTH_CEILINGS(scopes, audience_key)                          \
    "SELECT min(p.expires_at) AS expires_at,"                                 \
        " min(p.max_token_ttl) FILTER (WHERE p.acts) AS ttl,"                 \
        " bool_or(p.acts AND p.allowed_audience_keys IS NOT NULL"             \
            " AND " audience_key " <> ALL (p.allowed_audience_keys))"         \
            " AS audience_denied,"                                            \
        " string_to_array(string_agg(array_to_string(ARRAY("                  \
                "SELECT s FROM unnest(" scopes ") s"                          \
                " WHERE s <> ALL (p.allowed_scopes)), ' '), ' ')"             \
            " FILTER (WHERE p.acts AND p.allowed_scopes IS NOT NULL), ' ')"   \
            " AS denied"                                                      \
    " FROM (SELECT f.*, n.client_id = ANY (c.chain) AS acts"                  \
        " FROM unnest(c.principals) n (client_id)"                            \
        " CROSS JOIN LATERAL ("                                               \
            NGX_SVC_OAUTH_APPLICATION(                                        \
                "k.expires_at, k.max_token_ttl, k.allowed_scopes,"            \
                " k.allowed_audience_keys", "n.client_id") ") f"              \
    ") p"

/* Whether a target is the resource of an application that is enabled. */

#define NGX_SVC_OAUTH_RESOURCE_KNOWN(key)                                     \
    "coalesce((SELECT k.enabled FROM svc.application k"                       \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
            " AND k.resource_key BETWEEN " key " AND " key                    \
        " ORDER BY k.resource_key LIMIT 1), false)"

/*
 * The target: its URI, its key, and whether it is one, of a ceiling or of an
 * application; NULL is the issuer.  Asked for is by uri and key, or by the
 * clientId of an application.
 */

#define NGX_SVC_OAUTH_TARGET(uri_asked, key_asked, client, issuer)            \
    "SELECT f.uri, f.key, f.key IS NULL AND " client "::text IS NULL"         \
        " OR coalesce(f.key = " issuer " || t.slug"                           \
            " OR f.key = ANY (a.allowed_audience_keys), false)"               \
        " OR " NGX_SVC_OAUTH_RESOURCE_KNOWN("f.key") " AS known"              \
    " FROM (SELECT CASE WHEN " client "::text IS NULL"                        \
            " THEN " NGX_SVC_OAUTH_AUDIENCE("a", uri_asked "::text")          \
            " ELSE (" NGX_SVC_OAUTH_APPLICATION("k.resource_uri",             \
                                                client "::text") ")"          \
            " END AS uri,"                                                    \
        " CASE WHEN " client "::text IS NULL"                                 \
            " THEN " NGX_SVC_OAUTH_AUDIENCE_KEY("a", key_asked "::text")      \
            " ELSE (" NGX_SVC_OAUTH_APPLICATION("k.resource_key",             \
                                                client "::text") ")"          \
            " END AS key OFFSET 0) f OFFSET 0"

/*
 * The rows that an exchange of "p" holds until it is committed: its root
 * first, then itself.  Who revokes one of its tree takes the root first, too:
 * it waits, or has come first.
 */

#define NGX_SVC_OAUTH_ROOT_MS(p)                                              \
    "('x' || left(replace(coalesce(" p ".root_jti, " p ".jti)::text, '-',"    \
        " ''), 12))::bit(48)::bigint"

#define NGX_SVC_OAUTH_HELD(jti, issued_at, how)                               \
    "SELECT k.jti FROM svc.oauth_token k"                                     \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.jti BETWEEN " jti " AND " jti                                 \
        " AND k.issued_at = " issued_at                                       \
    " ORDER BY k.jti LIMIT 1 " how

#define NGX_SVC_OAUTH_ROOT(p, how)                                            \
    "SELECT h.jti FROM (SELECT coalesce(" p ".root_jti, " p ".jti) AS jti, "  \
            NGX_SVC_OAUTH_ISSUED_AT(NGX_SVC_OAUTH_ROOT_MS(p)) " AS issued_at" \
        " OFFSET 0) q"                                                        \
    " CROSS JOIN LATERAL ("                                                   \
        NGX_SVC_OAUTH_HELD("q.jti", "q.issued_at", how) ") h"


#endif /* _NGX_SVC_OAUTH_EXCHANGE_SQL_H_INCLUDED_ */
