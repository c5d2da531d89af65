/*
 * Codes of six digits, and links, that come by mail and are shown: what is kept
 * of them, how they are sent, and what they are held against.
 *
 * Whoever an address belongs to, the work and the rows are the same.
 */

#ifndef _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_
#define _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_


#include "ngx_svc_login.h"
#include "ngx_svc_mail.h"


/* What there is to show: the code alone, a link too, in that browser alone. */

#define NGX_SVC_EMAIL_CHALLENGE_LINK   0x01
#define NGX_SVC_EMAIL_CHALLENGE_BOUND  0x02


/*
 * SQL, behind ngx_svc_sql_email_challenge_turn: makes the challenge of
 * login->mailed.  u: a query of whom the mail goes to, one row or none, with
 * id, user_name, display_name and locale; whose: the user whom the challenge is
 * for, or NULL; root: that of a session, or NULL.  A mail in 30 seconds
 * for a purpose, and ten in an hour, are enough for an address: beyond that the
 * challenge is void, and ends nothing; otherwise there are three that are good.
 * A commit that waits for the disk would tell who there is: a code that a crash
 * takes is asked for again.
 */

#define NGX_SVC_EMAIL_CHALLENGE_OF(columns)                                   \
    "SELECT " columns " FROM svc.email_challenge k"                           \
    " WHERE k.tenant_id = " NGX_SVC_TENANT                                    \
        " AND k.email_mac BETWEEN $3 AND $3"

#define NGX_SVC_EMAIL_CHALLENGE_OPEN(u, whose, root)                          \
    "WITH u AS MATERIALIZED (" u "), b AS MATERIALIZED ("                     \
        "SELECT count(*) FILTER (WHERE (r.kind IN ('sign_in', 'signup'))"     \
                " = ($2 IN ('sign_in', 'signup'))) >= 10"                     \
            " OR coalesce(max(r.created_at) FILTER (WHERE r.kind = $2)"       \
                " > now() - interval '30 seconds', false) AS void FROM ("     \
            NGX_SVC_EMAIL_CHALLENGE_OF("k.kind, k.created_at")                \
                " AND k.created_at > now() - interval '1 hour'"               \
                " AND NOT k.void"                                             \
            " ORDER BY k.email_mac, k.created_at OFFSET 0) r"                 \
    "), d AS ("                                                               \
        "UPDATE svc.email_challenge e SET expires_at = now()"                 \
        " WHERE e.tenant_id = " NGX_SVC_TENANT                                \
            " AND e.email_mac BETWEEN $3 AND $3"                              \
            " AND e.id = ANY (ARRAY(SELECT o.id FROM b, ("                    \
                NGX_SVC_EMAIL_CHALLENGE_OF("k.id") " AND k.kind = $2"         \
                    " AND k.created_at > now() - interval '1 day'"            \
                    " AND k.used_at IS NULL"                                  \
                    " AND coalesce(k.expires_at > now(), false)"              \
                " ORDER BY k.email_mac DESC, k.created_at DESC OFFSET 2) o"   \
            " WHERE NOT b.void))"                                             \
    "), c AS ("                                                               \
        "INSERT INTO svc.email_challenge (tenant_id, id, kind, user_id,"      \
            " root_id, email_mac, code_mac, token_hash, binding_hash, data,"  \
            " void, expires_at)"                                              \
        " SELECT t.id, $1, $2, " whose ", " root ", $3, $4,"                  \
            " $5, $6, $7, b.void, now() + make_interval(secs => $8::int4)"    \
        " FROM svc.tenant t CROSS JOIN b LEFT JOIN u ON true"                 \
        " WHERE t.id = " NGX_SVC_TENANT                                       \
        " RETURNING id, expires_at, void"                                     \
    ")"                                                                       \
    " SELECT c.id AS \"challengeId\", c.expires_at AS \"expiresAt\","         \
        " c.void, u.id AS user_id, u.user_name, u.display_name, u.locale,"    \
        " t.name AS tenant_name, t.branding ->> 'primary' AS color,"          \
        " t.slug, t.slug || '/logo?v=' || t.logo_etag AS logo,"               \
        " set_config('synchronous_commit', 'off', true)"                      \
    " FROM svc.tenant t CROSS JOIN c LEFT JOIN u ON true"                     \
    " WHERE t.id = " NGX_SVC_TENANT

/* Its parameters, $1 to $8; those of "u" follow. */

#define NGX_SVC_EMAIL_CHALLENGE_PARAMS                                        \
    ngx_svc_login_param(mailed.id),                                           \
    ngx_svc_login_param(mailed.kind),                                         \
    ngx_svc_login_param(mailed.mac),                                          \
    ngx_svc_login_param(mailed.code_mac),                                     \
    ngx_svc_login_param(mailed.token_hash),                                   \
    ngx_svc_login_param(mailed.binding_hash),                                 \
    ngx_svc_login_param(mailed.data),                                         \
    ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_TTL)

/*
 * SQL: the id of a challenge, which is given, or NULL and its token's digest.
 * With a SELECT around it an index is used for it under row-level security.
 */

#define NGX_SVC_EMAIL_CHALLENGE_ID(id, digest)                                \
    "coalesce(" id "::uuid, (SELECT k.id FROM svc.email_challenge k"          \
        " WHERE k.tenant_id = " NGX_SVC_TENANT                                \
        " AND k.token_hash = " digest "))"

/*
 * SQL: takes an attempt of the challenge c of login->mailed, under its row's
 * lock, so that there are never more of them; a link takes none.  which: a
 * condition of c that says which one; bound: whether c is of that browser, or
 * session.  One row in any case; its id is NULL when the challenge is over.
 */

#define NGX_SVC_EMAIL_CHALLENGE_TRY(which, bound)                             \
    "WITH c AS ("                                                             \
        "UPDATE svc.email_challenge c SET attempts = c.attempts"              \
            " + CASE WHEN $2::bytea IS NULL THEN 1 ELSE 0 END"                \
        " WHERE c.tenant_id = " NGX_SVC_TENANT " AND " which                  \
            " AND c.kind = $3 AND c.used_at IS NULL"                          \
            " AND coalesce(c.expires_at > now(), false)"                      \
            " AND c.attempts < $4::int4"                                      \
        " RETURNING c.id, c.user_id, c.email_mac, c.code_mac, c.data, c.void,"\
            " coalesce(" bound ", false) AS bound"                            \
    ")"                                                                       \
    " SELECT c.* FROM (VALUES (1)) o LEFT JOIN c ON true"

/* Its parameters, $1 to $4: the id or NULL, the token's digest or NULL. */

#define NGX_SVC_EMAIL_CHALLENGE_TRIED                                         \
    ngx_svc_login_param(mailed.id),                                           \
    ngx_svc_login_param(mailed.token_hash),                                   \
    ngx_svc_login_param(mailed.kind),                                         \
    ngx_svc_param_setting(NGX_SVC_SET_EMAIL_CODE_ATTEMPTS)


/*
 * One at a time of login->mailed.mac makes a challenge; the tenant of one that
 * is shown, see ngx_svc_sql_signin_tenant; a try of it in the browser whose
 * cookie the request has; for a write: it is used up, and without a row, when
 * somebody else has been faster, there is no tenant for the rest.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_turn;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_tenant;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_try;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_email_challenge_use;


/* A worker's start and end: the keys of codes.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_email_challenge_init_worker(const ngx_svc_keys_t *keys);
void ngx_svc_email_challenge_exit_worker(void);

/*
 * As ngx_svc_login_prepare(), of a route that mails: while none can be sent it
 * is 503, before anything is counted or looked up.
 */
ngx_int_t ngx_svc_email_challenge_prepare(ngx_svc_request_t *sr, size_t size,
    const ngx_svc_login_method_t *method,
    ngx_int_t (*take)(ngx_svc_login_t *login));

/*
 * Makes login->mailed, of that kind, for login->mac unless mailed.mac is set.
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_new(ngx_svc_login_t *login,
    const char *kind, ngx_uint_t flags);

/*
 * Of a row of NGX_SVC_EMAIL_CHALLENGE_OPEN(): a mail to its user, or to
 * login->email; the caller sets its kind, and "nobody" to 1 when there is
 * nobody.  path: of the page that the link leads to, or NULL; fragment: up to
 * the token.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_mail(ngx_svc_login_t *login, PGresult *res,
    const char *path, const char *fragment, ngx_svc_mail_t *mail);

/*
 * Sends it.  NGX_OK; NGX_DECLINED with sr->error: none can be sent just now;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_send(ngx_svc_login_t *login,
    const ngx_svc_mail_t *mail);

/* That error: NGX_DECLINED. */
ngx_int_t ngx_svc_email_challenge_away(ngx_svc_request_t *sr);

/*
 * For a reply: 202, with the id and the end of the row, and the browser's
 * cookie when the challenge is bound to it.
 */
ngx_int_t ngx_svc_email_challenge_accepted(ngx_svc_login_t *login,
    PGresult *res);

/*
 * For a public route with these members: takes what is shown, where it comes
 * from, and the session that the browser has.  As below.
 */
extern const ngx_svc_member_t  ngx_svc_email_shown_members[];
ngx_int_t ngx_svc_email_challenge_shown(ngx_svc_login_t *login,
    const char *kind);

/*
 * Takes what is shown into login->mailed: an id and a code, or a token; where
 * the session says which one it is there is no id, NULL.  NGX_OK; NGX_DECLINED
 * with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_take(ngx_svc_login_t *login, const char *kind,
    const ngx_svc_value_t *id, const ngx_svc_value_t *code,
    const ngx_svc_value_t *token);

/*
 * Holds it against a row of NGX_SVC_EMAIL_CHALLENGE_TRY(), whose id
 * login->mailed then has.  NGX_OK; NGX_DECLINED with sr->error: the code is
 * wrong; NGX_ABORT with sr->error: it is over, or a link of another browser;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_email_challenge_verify(ngx_svc_login_t *login, PGresult *res);

/* sr->error of one that is over: NGX_DECLINED. */
ngx_int_t ngx_svc_email_challenge_over(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_EMAIL_CHALLENGE_H_INCLUDED_ */
