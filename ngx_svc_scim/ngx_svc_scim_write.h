/*
 * What the statements and routes that write a user have in common in both
 * modes.
 */

#ifndef _NGX_SVC_SCIM_WRITE_H_INCLUDED_
#define _NGX_SVC_SCIM_WRITE_H_INCLUDED_


#include "ngx_svc_scim.h"


/*
 * SQL: a user's columns that a SCIM client sets, with the parameters of
 * NGX_SVC_PROFILE.
 */

#define NGX_SVC_SCIM_PROFILE(_)                                               \
    _(EXTERNAL_ID, external_id, "externalId", "$2", "$3")                     \
    NGX_SVC_PROFILE(_)

#define ngx_svc_scim_param(id, column, ...)                                   \
    ngx_svc_param_text(ngx_svc_scim_user_t, column),

#define ngx_svc_scim_params(id, column, ...)                                  \
    ngx_svc_param_given(ngx_svc_scim_user_t, column),                         \
    ngx_svc_param_text(ngx_svc_scim_user_t, column),


/*
 * SQL: adds a user, unless it would not be unique; "where": behind a condition;
 * more: what it returns behind the columns.  The parameters of a statement that
 * does.
 */

#define NGX_SVC_SCIM_INSERT(where, more)                                      \
    "INSERT INTO svc.user_account (tenant_id, id, user_name,"                 \
        " external_id, status, email_verified, source"                        \
        NGX_SVC_PROFILE(NGX_SVC_PROFILE_COLUMN) ")"                           \
    " SELECT " NGX_SVC_TENANT_OR_NULL ", $1::uuid, $2, $3,"                   \
        " coalesce($4, 'active'), true, 'scim',"                              \
        " $5, $6, $7, $8, $9, $10"                                            \
    " WHERE current_setting('svc.tenant', true) <> ''" where                  \
    " ON CONFLICT DO NOTHING RETURNING " NGX_SVC_SCIM_COLUMNS more

#define ngx_svc_scim_insert_params()                                          \
    ngx_svc_param_new_id(),                                                   \
    ngx_svc_param_text(ngx_svc_scim_user_t, user_name),                       \
    ngx_svc_param_text(ngx_svc_scim_user_t, external_id),                     \
    ngx_svc_param_call(ngx_svc_scim_status),                                  \
    NGX_SVC_PROFILE(ngx_svc_scim_param)


/*
 * SQL: the event of a statement of a route with NGX_SVC_ROUTE_AUDITS, see
 * NGX_SVC_AUDIT(); of the user "u".  ip, agent, request: where its
 * ngx_svc_scim_client_params() are.
 */

#define NGX_SVC_SCIM_AUDIT(action, ip, agent, request, details, from)         \
    NGX_SVC_SCIM_AUDIT_AS(action(NGX_SVC_AUDIT_BOTH), ip, agent, request,     \
                          details, from)

#define NGX_SVC_SCIM_AUDIT_AS(action, ip, agent, request, details, from)      \
    NGX_SVC_AUDIT_INTO(NGX_SVC_AUDIT_TOKEN_COLUMNS)                           \
    NGX_SVC_AUDIT_ROWS(                                                       \
        NGX_SVC_AUDIT_TOKEN("u.tenant_id", "scim", ip, agent, request) action,\
        "u.id::text", "NULL", details, from)

#define ngx_svc_scim_client_params()                                          \
    ngx_svc_param_client_ip(), ngx_svc_param_client_agent(),                  \
    ngx_svc_param_request_id()


/*
 * SQL: of the locked row "o" the status that $16 makes of it: "active": true
 * leaves a suspended user as it is, and "active": false deactivates it, which
 * forgets that it was suspended.
 */

#define NGX_SVC_SCIM_STATUS_WANTED                                            \
    ", CASE WHEN $16 = 'deactivated'"                                         \
        " OR $16 = 'active' AND status = 'deactivated'"                       \
        " THEN $16 ELSE status END AS status"

/*
 * SQL: of a change the action and the type of the event: of a user "u", "old"
 * is the status it had; and its details, of what NGX_SVC_AUDIT_CHANGED()
 * takes, with a comma before each.
 */

#define NGX_SVC_SCIM_CHANGED_ACTION(old)                                      \
    "CASE WHEN u.status = 'deactivated' AND " old " <> 'deactivated' THEN "   \
        NGX_SVC_A_USER_DEACTIVATED(NGX_SVC_AUDIT_NAME)                        \
        " WHEN u.status = 'active' AND " old " = 'deactivated' THEN "         \
        NGX_SVC_A_USER_REACTIVATED(NGX_SVC_AUDIT_NAME)                        \
        " ELSE " NGX_SVC_A_USER_UPDATED(NGX_SVC_AUDIT_NAME) " END, 'user'"

#define NGX_SVC_SCIM_CHANGED_DETAILS(differ)                                  \
    "'{\"source\":\"scim\"}' || " NGX_SVC_AUDIT_CHANGED("NULL" differ)


/* The beginning of a route that writes a user; c: its check. */

#define ngx_svc_scim_route(m, p, f, c)                                        \
    .method = m,                                                              \
    .path = p,                                                                \
    .permission = NGX_SVC_P_SCIM,                                             \
    .flags = f|NGX_SVC_ROUTE_WRITE_POOL,                                      \
    .body_size = sizeof(ngx_svc_scim_user_t),                                 \
    .check = c


#endif /* _NGX_SVC_SCIM_WRITE_H_INCLUDED_ */
