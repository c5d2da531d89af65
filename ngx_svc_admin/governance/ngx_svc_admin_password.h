/*
 * What the password policy of a tenant and those of its groups share.
 */

#ifndef _NGX_SVC_ADMIN_PASSWORD_H_INCLUDED_
#define _NGX_SVC_ADMIN_PASSWORD_H_INCLUDED_


#include "ngx_svc_admin_governance.h"


/* SQL: the nine columns of a table or a CTE. */

#define NGX_SVC_ADMIN_PASSWORD_OF(t)                                          \
    t ".min_length, " t ".reject_breached, " t ".reject_contextual, "         \
    t ".require_lower, " t ".require_upper, " t ".require_digit, "            \
    t ".require_symbol, " t ".history_count, " t ".max_age_days"

/* SQL: the details of an audit event: which members differ in u and o. */

#define NGX_SVC_ADMIN_PASSWORD_DIFFERS(column, name)                          \
    "CASE WHEN u." column " IS DISTINCT FROM o." column                       \
    " THEN '" name "' END"

#define NGX_SVC_ADMIN_PASSWORD_CHANGED                                        \
    "jsonb_build_object('changed', to_jsonb(array_remove(ARRAY["              \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("min_length", "minLength") ", "            \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("reject_breached", "rejectBreached") ", "  \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("reject_contextual", "rejectContextual")   \
    ", "                                                                      \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("require_lower", "requireLower") ", "      \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("require_upper", "requireUpper") ", "      \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("require_digit", "requireDigit") ", "      \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("require_symbol", "requireSymbol") ", "    \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("history_count", "historyCount") ", "      \
    NGX_SVC_ADMIN_PASSWORD_DIFFERS("max_age_days", "maxAgeDays")              \
    "], NULL)))"


/* Binds the nine fields; NGX_ERROR: memory. */
ngx_int_t ngx_svc_admin_password_bind(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, ngx_svc_admin_password_t *password);

/* The nine members; column: where theirs begin. */
void ngx_svc_admin_password_write(ngx_svc_json_writer_t *w, PGresult *res,
    int row, int column);


#endif /* _NGX_SVC_ADMIN_PASSWORD_H_INCLUDED_ */
