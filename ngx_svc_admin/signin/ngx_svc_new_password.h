/*
 * A new password: what the policy of its user asks of it, and its hash.
 */

#ifndef _NGX_SVC_NEW_PASSWORD_H_INCLUDED_
#define _NGX_SVC_NEW_PASSWORD_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_notice.h"
#include "ngx_svc_password_queue.h"
#include "ngx_svc_password_rules.h"
#include "ngx_svc_stored.h"


#define NGX_SVC_NEW_PASSWORD_HISTORY  24    /* as svc.governance allows */


/*
 * SQL: the columns that ngx_svc_new_password_job() reads, and, behind FROM,
 * where they come from; u: the user's row, t: the tenant's.
 */

#define NGX_SVC_NEW_PASSWORD_COLUMNS                                          \
    "u.id AS _user, u.user_name AS _email, u.first_name AS _first,"           \
    " u.last_name AS _last, u.display_name AS _display, t.slug AS _slug,"     \
    " t.name AS _name, n.min_length, n.reject_breached,"                      \
    " n.reject_contextual, n.require_lower, n.require_upper,"                 \
    " n.require_digit, n.require_symbol, p.hash AS _hash,"                    \
    " p.version AS _password,"                                                \
    " (SELECT string_agg(encode(h.hash, 'hex'), ',' ORDER BY h.version DESC)" \
        " FROM (SELECT k.hash, k.version FROM svc.password_history k"         \
            " WHERE k.tenant_id = u.tenant_id AND k.user_id = u.id"           \
            " ORDER BY k.version DESC LIMIT n.history_count) h) AS _history"

#define NGX_SVC_NEW_PASSWORD_FROM                                             \
    " JOIN svc.governance g ON g.tenant_id = u.tenant_id"                     \
    " CROSS JOIN LATERAL "                                                    \
        NGX_SVC_PASSWORD_RULES(NGX_SVC_PASSWORD_RULES_OF_USER) " n"           \
    " LEFT JOIN svc.password p"                                               \
        " ON p.tenant_id = u.tenant_id AND p.user_id = u.id"


/*
 * SQL: the statement that stores it: $1: the user, $2: the sealed hash, $3: the
 * version that was read, as text, or NULL, $4: of a notice; action: of the
 * table of ngx_svc_audit.h.  The one before goes to the history.  Nothing that
 * began before, no token to reset it and no lock outlive it.  A row: it is
 * stored.
 */

#define NGX_SVC_NEW_PASSWORD_STORE(action)                                    \
    "WITH o AS ("                                                             \
        "SELECT u.tenant_id, u.id, p.version, p.hash FROM svc.user_account u" \
        " LEFT JOIN svc.password p"                                           \
            " ON p.tenant_id = u.tenant_id AND p.user_id = u.id"              \
        " WHERE u.tenant_id = " NGX_SVC_TENANT " AND u.id = $1"               \
            " AND p.version IS NOT DISTINCT FROM $3::text::bigint"            \
    "), h AS ("                                                               \
        "INSERT INTO svc.password_history (tenant_id, user_id, version, hash)"\
        " SELECT o.tenant_id, o.id, o.version, o.hash FROM o"                 \
        " WHERE o.version IS NOT NULL"                                        \
    "), x AS ("                                                               \
        "DELETE FROM svc.password_history k USING o"                          \
        " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.user_id = $1"          \
            " AND k.version <= o.version - "                                  \
                ngx_value(NGX_SVC_NEW_PASSWORD_HISTORY)                       \
    "), p AS ("                                                               \
        "INSERT INTO svc.password AS p (tenant_id, user_id, hash)"            \
        " SELECT o.tenant_id, o.id, $2::bytea FROM o"                         \
        " ON CONFLICT (tenant_id, user_id) DO UPDATE"                         \
            " SET hash = excluded.hash, set_at = now(),"                      \
                " version = p.version + 1"                                    \
        " RETURNING p.user_id"                                                \
    "), u AS ("                                                               \
        "UPDATE svc.user_account a SET valid_after = clock_timestamp(),"      \
            " failed_logins = 0, failed_since = NULL, locked_until = NULL"    \
        " FROM p WHERE a.tenant_id = " NGX_SVC_TENANT " AND a.id = p.user_id" \
    "), r AS ("                                                               \
        "DELETE FROM svc.password_reset k USING p"                            \
        " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.user_id = p.user_id"   \
    "), e AS ("                                                               \
        NGX_SVC_AUDIT(action, "p.user_id::text", "NULL", "'{}'", "FROM p")    \
    ")"                                                                       \
    " SELECT p.user_id, " NGX_SVC_NOTICE_IP ", m.*"                           \
    " FROM p LEFT JOIN LATERAL (" NGX_SVC_NOTICE("$1", "$4", "true")          \
    ") m ON true"


/*
 * From the row a job that looks at a password, normalised, and hashes it: the
 * caller sets its handler and its data, and posts it.  NULL: memory.
 */
ngx_svc_password_job_t *ngx_svc_new_password_job(ngx_svc_request_t *sr,
    const ngx_str_t *password, const ngx_svc_stored_row_t *row, PGresult *res);

/*
 * For its handler.  NGX_OK: what is to be stored; NGX_DECLINED with sr->error;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_new_password_result(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, const ngx_svc_stored_row_t *row,
    ngx_str_t *sealed);

/*
 * The password of a body's member, normalised, of the request's pool; name: the
 * member's.  NGX_OK; NGX_DECLINED with sr->error; NGX_ERROR.
 */
ngx_int_t ngx_svc_new_password_text(ngx_svc_request_t *sr, const char *name,
    const ngx_str_t *text, ngx_str_t *password);


#endif /* _NGX_SVC_NEW_PASSWORD_H_INCLUDED_ */
