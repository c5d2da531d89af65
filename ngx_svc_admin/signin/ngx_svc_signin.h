/*
 * What the routes of sign-in share.
 */

#ifndef _NGX_SVC_SIGNIN_H_INCLUDED_
#define _NGX_SVC_SIGNIN_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_password_queue.h"
#include "ngx_svc_session.h"
#include "ngx_svc_setting_param.h"


/* Parameters: the digest of the request's session, or of one that is made. */

#define ngx_svc_param_session()                                               \
    { .bind = ngx_svc_signin_bind_session }
#define ngx_svc_param_new_session()                                           \
    { .bind = ngx_svc_signin_bind_new_session }


/* SQL: the factors of a user: as NGX_SVC_SESSIONS_OF(). */

#define NGX_SVC_FACTORS_OF(columns, user)                                     \
    "SELECT " columns " FROM svc.factor k"                                    \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.user_id BETWEEN " user " AND " user                           \
    " ORDER BY k.user_id OFFSET 0"

/*
 * SQL: ends the sessions of a user that wait for something, for what they wait
 * for was decided before; more: of which of them, of the row k.  And what a
 * lock does to them: they have ended as well, but tell a step-up of it.
 */

#define NGX_SVC_SIGNIN_END_PENDING(user, more)                                \
    NGX_SVC_SIGNIN_SET_PENDING("ended_at = now()", user, more)

#define NGX_SVC_SIGNIN_LOCK_PENDING(user, more)                               \
    NGX_SVC_SIGNIN_SET_PENDING("stage = '" NGX_SVC_SESSION_LOCKED "'", user,  \
                               more)

#define NGX_SVC_SIGNIN_SET_PENDING(set, user, more)                           \
    "UPDATE svc.session s SET " set                                           \
    " WHERE s.tenant_id = " NGX_SVC_TENANT " AND s.user_id = " user           \
        " AND s.id = ANY (ARRAY(SELECT k.id FROM svc.session k"               \
            " WHERE k.tenant_id = " NGX_SVC_TENANT                            \
            " AND k.user_id = " user " AND k.stage <> 'full'"                 \
            " AND k.ended_at IS NULL" more "))"

/* SQL: as NGX_SVC_FACTORS_OF(), of the MACs of recovery codes. */

#define NGX_SVC_RECOVERY_CODES_OF(user)                                       \
    "SELECT k.mac, k.key_id FROM svc.recovery_code k"                         \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.user_id BETWEEN " user " AND " user                           \
    " ORDER BY k.user_id OFFSET 0"

/*
 * SQL: the kinds of what a user "u" can show as a second factor in a session
 * "s", in the order in which a challenge offers them.
 */

#define NGX_SVC_SIGNIN_METHODS                                                \
    "CASE WHEN u.mfa_enrolled THEN ARRAY("                                    \
        "SELECT f.type FROM ("                                                \
            NGX_SVC_FACTORS_OF("k.type, k.confirmed_at", "u.id") ") f"        \
        " WHERE f.confirmed_at IS NOT NULL AND (f.type <> 'email'"            \
            " OR u.email_verified AND s.methods[1] IS DISTINCT FROM 'email')" \
        " GROUP BY f.type ORDER BY f.type = 'email', f.type"                  \
    ") || CASE WHEN EXISTS (" NGX_SVC_RECOVERY_CODES_OF("u.id") ")"           \
        " THEN ARRAY['recovery'] END ELSE '{}' END"

/*
 * SQL: what GET /v1/auth/session says of the session with the digest $1.
 */

#define NGX_SVC_SIGNIN_SESSION                                                \
    NGX_SVC_SIGNIN_SESSION_OF(NGX_SVC_SIGNIN_METHODS)

/* SQL: the same; methods: the user's, an expression. */

#define NGX_SVC_SIGNIN_SESSION_OF(methods)                                    \
    "SELECT u.id AS \"user.id\", u.user_name AS \"user.email\","              \
        " u.display_name AS \"user.displayName\","                            \
        " t.id AS \"tenant.id\", t.slug AS \"tenant.slug\","                  \
        " t.name AS \"tenant.name\", u.role,"                                 \
        " array_to_json("                                                     \
            NGX_SVC_ROLE_PERMISSIONS("u.role", "r.permissions")               \
            ") AS permissions,"                                               \
        " u.mfa_enrolled AS \"mfa.enrolled\","                                \
        " array_to_json(" methods ") AS \"mfa.methods\","                     \
        " s.mfa_at AS \"mfa.verifiedAt\", s.expires_at AS \"expiresAt\""      \
    " FROM (" NGX_SVC_SESSION_ROW("k.*", "$1") ") s"                          \
    " CROSS JOIN LATERAL ("                                                   \
        NGX_SVC_ROW("k.*", "svc.user_account", "s.user_id") ") u"             \
    " JOIN svc.tenant t ON t.id = s.tenant_id"                                \
    " LEFT JOIN svc.role r"                                                   \
        " ON r.tenant_id = s.tenant_id AND r.key = u.role"


/* SQL: of those that end it at the same time one does. */

#define NGX_SVC_SIGNIN_END                                                    \
    "UPDATE svc.session SET ended_at = now()"                                 \
    " WHERE tenant_id = " NGX_SVC_TENANT " AND (user_id, id) = ("             \
        "SELECT s.user_id, s.id FROM ("                                       \
            NGX_SVC_SESSION_ROW("k.user_id, k.id, k.ended_at, k.stage", "$1") \
            " FOR UPDATE"                                                     \
        ") s WHERE s.ended_at IS NULL"                                        \
            " AND s.stage <> '" NGX_SVC_SESSION_LOCKED "')"

/* SQL: whether the session with that digest is u's, a user's, and alive. */

#define NGX_SVC_SIGNIN_ALIVE(digest)                                          \
    "EXISTS (SELECT FROM (" NGX_SVC_SESSION_ROW("k.*", digest) ") s"          \
        " WHERE s.ended_at IS NULL AND s.user_id = u.id"                      \
        " AND s.stage <> '" NGX_SVC_SESSION_LOCKED "'"                        \
        " AND s.created_at >= coalesce(u.valid_after, '-infinity'))"

/*
 * Of a session's methods, beside "passkey": one that cannot be backed up, for
 * RFC 8176.  To people it is a passkey as any other one; SQL: what they see.
 */

#define NGX_SVC_SIGNIN_HARDWARE  "hwk"

#define NGX_SVC_SIGNIN_SEEN(methods)                                          \
    "array_remove(" methods ", '" NGX_SVC_SIGNIN_HARDWARE "')"

/* SQL: a new session, of what the SELECT behind it says. */

#define NGX_SVC_SIGNIN_INSERT                                                 \
    "INSERT INTO svc.session (tenant_id, id, user_id, token_hash, root_id,"   \
        " stage, methods, auth_time, expires_at, mfa_at, reauth_at, ip,"      \
        " country, user_agent, risk, signals)"

/*
 * SQL: the session $1, under the digest $2, while the old one ends, "o": what
 * becomes of it, from its stage to reauth_at; and: what else is done, a CTE.
 */

#define NGX_SVC_SIGNIN_ROTATE(and, becomes)                                   \
    "WITH o AS (" NGX_SVC_SIGNIN_END " RETURNING *)" and " "                  \
    NGX_SVC_SIGNIN_INSERT                                                     \
    " SELECT tenant_id, gen_random_uuid(), user_id, $2::bytea, root_id, "     \
        becomes ", ip, country, user_agent, risk, signals FROM o"


/* A session that is being made; of the request's pool, first in sr->data. */

typedef struct {
    u_char           key[NGX_SVC_SESSION_KEY];
    u_char           hash[NGX_SVC_SHA256_LEN];
} ngx_svc_signin_key_t;


/*
 * $1: the digest of a session: what GET /v1/auth/session says of it; the same
 * session under another digest, $2, while the old one ends; its end.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_session;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_rotate;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_signin_logout;


ngx_int_t ngx_svc_signin_bind_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
ngx_int_t ngx_svc_signin_bind_new_session(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);

/* A new secret and its digest, for that tenant.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_signin_key(ngx_svc_signin_key_t *key,
    const u_char tenant[NGX_SVC_UUID_LEN]);

/* For a check: the same, of the tenant of the session, in sr->data. */
ngx_int_t ngx_svc_signin_new_key(ngx_svc_request_t *sr);

/*
 * For a reply: sends a row of ngx_svc_sql_signin_session with the CSRF token of
 * that key, and the route's status; or n rows, whose members are those of one.
 */
ngx_int_t ngx_svc_signin_session_of(ngx_svc_request_t *sr, PGresult **results,
    ngx_uint_t n, const u_char key[NGX_SVC_SESSION_KEY]);
ngx_int_t ngx_svc_signin_session(ngx_svc_request_t *sr, PGresult *res,
    const u_char key[NGX_SVC_SESSION_KEY]);

/*
 * For a reply, which returns what it does: has a job done, whose handler, with
 * data as the job's, finalizes the request; or 503, or 500.
 */
ngx_int_t ngx_svc_signin_post(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, ngx_svc_password_handler_pt handler,
    void *data);

/* 503: too many passwords wait to be hashed. */
ngx_int_t ngx_svc_signin_busy(ngx_svc_request_t *sr);

/* Adds Cache-Control: no-store.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_signin_no_store(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_SIGNIN_H_INCLUDED_ */
