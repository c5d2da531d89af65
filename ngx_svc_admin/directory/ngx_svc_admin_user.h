/*
 * What the directory's resources share.
 */

#ifndef _NGX_SVC_ADMIN_USER_H_INCLUDED_
#define _NGX_SVC_ADMIN_USER_H_INCLUDED_


#include "ngx_svc_admin.h"


#define NGX_SVC_ADMIN_QUERY      200      /* characters of q */
#define NGX_SVC_ADMIN_NO_USER    "There is no user with this id."
#define NGX_SVC_ADMIN_NO_GROUP   "There is no group with this id."
#define NGX_SVC_ADMIN_NO_MEMBER  "The group has no member with this id."


/*
 * SQL: a user's members, of the table's name; and those without the time of
 * the last change, of a row that has just been changed.
 */

#define NGX_SVC_ADMIN_USER_COLUMNS(t)                                         \
    NGX_SVC_ADMIN_USER_KEPT(t) ", " t ".updated_at AS \"updatedAt\""

#define NGX_SVC_ADMIN_USER_KEPT(t)                                            \
    t ".id, " t ".user_name AS email,"                                        \
    " " t ".email_verified AS \"emailVerified\","                             \
    " " t ".display_name AS \"displayName\","                                 \
    " " t ".first_name AS \"firstName\", " t ".last_name AS \"lastName\","    \
    " " t ".title, " t ".department, " t ".locale,"                           \
    " " t ".external_id AS \"externalId\", " t ".status, " t ".role,"         \
    " coalesce(" t ".locked_until > CURRENT_TIMESTAMP, false) AS locked,"     \
    " " t ".mfa_enrolled AS \"mfaEnrolled\", " t ".source,"                   \
    " " t ".last_login_at AS \"lastLoginAt\","                                \
    " " t ".created_at AS \"createdAt\""

#define NGX_SVC_ADMIN_USER_GET                                                \
    "SELECT " NGX_SVC_ADMIN_USER_COLUMNS("u") " FROM svc.user_account u"      \
    " WHERE u.tenant_id = " NGX_SVC_TENANT " AND u.id = $1"

/*
 * Two CTEs of a statement that may take an owner away, whose id is $1.  "w":
 * all owners, when $1 is one of them, locked in the same order by all who do
 * this, so that they are not the last ones of each other; with what they are
 * once the locks are held.  "o": the user, locked after them.
 */

#define NGX_SVC_ADMIN_OWNERS                                                  \
    "w AS ("                                                                  \
        "SELECT id, status FROM svc.user_account"                             \
        " WHERE tenant_id = " NGX_SVC_TENANT " AND role = 'owner'"            \
        " AND EXISTS (SELECT FROM svc.user_account"                           \
            " WHERE tenant_id = " NGX_SVC_TENANT                              \
            " AND id = $1 AND role = 'owner')"                                \
        " ORDER BY id FOR UPDATE"                                             \
    "), o AS ("                                                               \
        "SELECT * FROM svc.user_account"                                      \
        " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1"                   \
        " AND (SELECT count(*) FROM w) >= 0 FOR UPDATE"                       \
    ")"

/* Of a row o: no other owner is active. */

#define NGX_SVC_ADMIN_LAST_OWNER                                              \
    "(o.role = 'owner' AND NOT EXISTS (SELECT FROM w"                         \
        " WHERE w.id <> o.id AND w.status = 'active'))"

/*
 * Who may act on whom.  Of a row o, a user whose lock an earlier statement has
 * taken, so that this one sees what his role grants: whether that is more than
 * the caller's permissions; and of the owners only one does so by a session.
 * The route is one with NGX_SVC_ROUTE_CALLER.
 */

#define NGX_SVC_ADMIN_BEYOND  NGX_SVC_ADMIN_ROLE_BEYOND("o.role")

/*
 * Likewise what a token may not, whatever it grants: see svc.token_acts().  It
 * looks at no permissions, and does without NGX_SVC_ROUTE_CALLER.
 */

#define NGX_SVC_ADMIN_TOKEN_BEYOND  "NOT svc.token_acts(o.id, o.role)"

/* Likewise both, as the first branches of the CASE of a verdict. */

#define NGX_SVC_ADMIN_REFUSED                                                 \
    " WHEN " NGX_SVC_ADMIN_BEYOND " THEN 'beyond'"                            \
    " WHEN " NGX_SVC_ADMIN_TOKEN_BEYOND " THEN 'token'"

/*
 * Likewise of a role, an expression, that somebody is to have.  Whoever gives
 * one has locked svc.governance: else it may be gone meanwhile.
 */

#define NGX_SVC_ADMIN_ROLE_REFUSED(role)                                      \
    " WHEN " NGX_SVC_ADMIN_ROLE_BEYOND(role) " THEN 'lacks'"                  \
    " WHEN NOT svc.token_acts(NULL, " role ") THEN 'token'"

#define NGX_SVC_ADMIN_ROLE_BEYOND(role)                                       \
    "((" NGX_SVC_ROLE_PERMISSIONS(role,                                       \
            "(SELECT k.permissions FROM svc.role k"                           \
                " WHERE k.tenant_id = " NGX_SVC_TENANT                        \
                " AND k.key = " role ")")                                     \
    ") <@ " NGX_SVC_CALLER_PERMISSIONS                                        \
    " AND CASE WHEN " role " = 'owner'"                                       \
        " AND current_setting('svc.actor_type', true) = 'user'"               \
        " THEN (" NGX_SVC_ROW("k.role", "svc.user_account",                   \
                "nullif(current_setting('svc.actor_id', true), '')::uuid")    \
            ") = 'owner'"                                                     \
        " ELSE true END) IS NOT TRUE"

#define NGX_SVC_ADMIN_ROLE_KNOWN(role)                                        \
    "(" role " IN ('owner', 'admin', 'member') OR EXISTS ("                   \
        "SELECT FROM svc.role k WHERE k.tenant_id = " NGX_SVC_TENANT          \
            " AND k.key = " role "))"

#define NGX_SVC_ADMIN_ROLE_VERDICTS                                           \
    { "unknown", NGX_SVC_E_INVALID_VALUE,                                     \
      "\"role\" must be the key of a role: there is no \"%V\"." },            \
    { "lacks", NGX_SVC_E_FORBIDDEN,                                           \
      "\"role\" grants what the caller does not have." }

#define NGX_SVC_ADMIN_ROLE_MAX  63      /* bytes of a role's key */

#define NGX_SVC_ADMIN_TOKEN_MAY                                               \
    "A token acts on owners, or makes one, only if an owner has made it, and" \
    " never on the user who has made it: use a session."

#define NGX_SVC_ADMIN_TOKEN_VERDICT                                           \
    { "token", NGX_SVC_E_FORBIDDEN, NGX_SVC_ADMIN_TOKEN_MAY }

#define NGX_SVC_ADMIN_REFUSALS                                                \
    { "beyond", NGX_SVC_E_FORBIDDEN,                                          \
      "The role of this user grants what the caller does not have." },        \
    NGX_SVC_ADMIN_TOKEN_VERDICT

#define NGX_SVC_ADMIN_LAST_VERDICT                                            \
    { "last", NGX_SVC_E_LAST_ADMIN,                                           \
      "The tenant would be left without an active owner." }

#define NGX_SVC_ADMIN_USER_LOCK                                               \
    "SELECT FROM svc.user_account"                                            \
    " WHERE tenant_id = " NGX_SVC_TENANT " AND id = $1 FOR UPDATE"


/*
 * ngx_svc_admin_user_change.c: the lock that NGX_SVC_ADMIN_REFUSED wants; and
 * that of all owners too, when the user is one.
 */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_lock;
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_user_owners_lock;

/* ngx_svc_admin_users.c: also what answers behind what changed a user. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_admin_users_get;

/*
 * ngx_svc_admin_ids.c: whether a text is an id, in the case that ids have, so
 * that another spelling is nobody's; and, for a parameter's function, n strings
 * that are, of which id is the first, as the text of a PostgreSQL array: NGX_OK
 * or NGX_ERROR.
 */
ngx_uint_t ngx_svc_admin_id_exact(const ngx_str_t *text);
ngx_int_t ngx_svc_admin_bind_ids(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const cJSON *id, size_t n);

/*
 * The check of a list of users with a "q": a search, like a page far behind, is
 * slow work.
 */
ngx_int_t ngx_svc_admin_search_check(ngx_svc_request_t *sr, void *body);


#endif /* _NGX_SVC_ADMIN_USER_H_INCLUDED_ */
