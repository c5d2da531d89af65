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
 * SQL: adds a user, unless it would not be unique; "where": behind a condition.
 * The parameters of a statement that does.
 */

#define NGX_SVC_SCIM_INSERT(where)                                            \
    "INSERT INTO svc.user_account (tenant_id, id, user_name,"                 \
        " external_id, status, email_verified, source"                        \
        NGX_SVC_PROFILE(NGX_SVC_PROFILE_COLUMN) ")"                           \
    " SELECT " NGX_SVC_TENANT_OR_NULL ", $1::uuid, $2, $3,"                   \
        " coalesce($4, 'active'), true, 'scim',"                              \
        " $5, $6, $7, $8, $9, $10"                                            \
    " WHERE current_setting('svc.tenant', true) <> ''" where                  \
    " ON CONFLICT DO NOTHING RETURNING " NGX_SVC_SCIM_COLUMNS

#define ngx_svc_scim_insert_params()                                          \
    NGX_SVC_PARAMS(ngx_svc_param_new_id(),                                    \
                   ngx_svc_param_text(ngx_svc_scim_user_t, user_name),        \
                   ngx_svc_param_text(ngx_svc_scim_user_t, external_id),      \
                   ngx_svc_param_call(ngx_svc_scim_status),                   \
                   NGX_SVC_PROFILE(ngx_svc_scim_param))


/*
 * SQL: of the locked row "o" the status that $16 makes of it: "active": true
 * leaves a suspended user as it is, and "active": false deactivates it, which
 * forgets that it was suspended.
 */

#define NGX_SVC_SCIM_STATUS_WANTED                                            \
    ", CASE WHEN $16 = 'deactivated'"                                         \
        " OR $16 = 'active' AND status = 'deactivated'"                       \
        " THEN $16 ELSE status END AS status"

/* SQL: the event of a change from "o" to "u" of the columns of a profile. */

#define NGX_SVC_SCIM_CHANGED(profile)                                         \
    NGX_SVC_AUDIT_AS(                                                         \
        "CASE WHEN u.status = 'deactivated'"                                  \
            " AND o.status <> 'deactivated' THEN "                            \
            NGX_SVC_A_USER_DEACTIVATED(NGX_SVC_AUDIT_NAME)                    \
            " WHEN u.status = 'active' AND o.status = 'deactivated'"          \
            " THEN " NGX_SVC_A_USER_REACTIVATED(NGX_SVC_AUDIT_NAME)           \
            " ELSE " NGX_SVC_A_USER_UPDATED(NGX_SVC_AUDIT_NAME)               \
            " END, 'user'",                                                   \
        "u.id::text", "NULL",                                                 \
        "'{\"source\":\"scim\"}' || " NGX_SVC_AUDIT_CHANGED(                  \
            "NULL" profile(NGX_SVC_PROFILE_DIFFERS)                           \
            ", " NGX_SVC_DIFFERS("status", "status")),                        \
        "FROM u, o")


/* The beginning of a route that writes a user; c: its check. */

#define ngx_svc_scim_route(m, p, f, c)                                        \
    .method = m,                                                              \
    .path = p,                                                                \
    .permission = NGX_SVC_P_SCIM,                                             \
    .flags = f|NGX_SVC_ROUTE_WRITE_POOL,                                      \
    .body_size = sizeof(ngx_svc_scim_user_t),                                 \
    .check = c


#endif /* _NGX_SVC_SCIM_WRITE_H_INCLUDED_ */
