/*
 * The values of governance: what the routes of each resource and the config
 * bundle have in common.
 */

#ifndef _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_
#define _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_


#include "ngx_svc_admin_revision.h"


/*
 * The fields of a policy, in the order of the bundle: what C lists of them is
 * made of these tables; statements name the columns themselves.  Of each
 *
 *     _(x, n, column, name, type, min, max)
 *
 * with sep between them.  x: whatever "_" makes use of; n: from 1 on; type: that
 * of the JSON.
 */

#define NGX_SVC_ADMIN_RISK_FIELDS(_, sep, x)                                  \
    _(x, 1, risk_enabled, enabled, NGX_SVC_T_BOOLEAN, 0, 0) sep               \
    _(x, 2, risk_mfa_threshold, mfaThreshold,                                 \
      NGX_SVC_T_INTEGER, 0, 100) sep                                          \
    _(x, 3, risk_deny_threshold, denyThreshold,                               \
      NGX_SVC_T_INTEGER, 1, 100)

#define NGX_SVC_ADMIN_PASSWORD_FIELDS(_, sep, x)                              \
    _(x, 1, min_length, minLength, NGX_SVC_T_INTEGER, 8, 128) sep             \
    _(x, 2, reject_breached, rejectBreached,                                  \
      NGX_SVC_T_BOOLEAN, 0, 0) sep                                            \
    _(x, 3, reject_contextual, rejectContextual,                              \
      NGX_SVC_T_BOOLEAN, 0, 0) sep                                            \
    _(x, 4, require_lower, requireLower, NGX_SVC_T_BOOLEAN, 0, 0) sep         \
    _(x, 5, require_upper, requireUpper, NGX_SVC_T_BOOLEAN, 0, 0) sep         \
    _(x, 6, require_digit, requireDigit, NGX_SVC_T_BOOLEAN, 0, 0) sep         \
    _(x, 7, require_symbol, requireSymbol, NGX_SVC_T_BOOLEAN, 0, 0) sep       \
    _(x, 8, history_count, historyCount, NGX_SVC_T_INTEGER, 0, 24) sep        \
    _(x, 9, max_age_days, maxAgeDays, NGX_SVC_T_INTEGER, 0, 3650)

/* How many fields the larger one has. */
#define NGX_SVC_ADMIN_POLICY_FIELDS                                           \
    (0 NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_count, , ))
#define ngx_svc_admin_field_count(...)  + 1


/* The values of a body, by the names of the columns. */

#define ngx_svc_admin_field_value(x, n, column, ...)  ngx_svc_value_t  column;

typedef struct {
    NGX_SVC_ADMIN_RISK_FIELDS(ngx_svc_admin_field_value, , )
} ngx_svc_admin_risk_t;

typedef struct {
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_value, , )
    ngx_svc_value_t  group_id;          /* of an override */
} ngx_svc_admin_password_t;


/* Each member may be absent; and none may: that of the bundle. */
extern const ngx_svc_member_t  ngx_svc_admin_risk_members[];
extern const ngx_svc_member_t  ngx_svc_admin_risk_bundle_members[];

#define NGX_SVC_ADMIN_RISK_ORDER                                              \
    "\"mfaThreshold\" must be less than \"denyThreshold\"."

/*
 * The tenant's, each absent or not, and none; a group's without its id, as in
 * its own route, where null is as good as absent; with it; and in the bundle,
 * without null.
 */
extern const ngx_svc_member_t  ngx_svc_admin_password_members[];
extern const ngx_svc_member_t  ngx_svc_admin_password_bundle_members[];
extern const ngx_svc_member_t  ngx_svc_admin_override_members[];
extern const ngx_svc_member_t  ngx_svc_admin_override_create_members[];
extern const ngx_svc_member_t  ngx_svc_admin_override_bundle_members[];

/* 1: one of its fields at least is set to something. */
ngx_uint_t ngx_svc_admin_password_set(const ngx_svc_admin_password_t *password);


/* Roles */

#define NGX_SVC_ADMIN_ROLES     1000    /* of a tenant */
#define NGX_SVC_ADMIN_ROLE_KEY  63      /* bytes */

typedef struct {
    ngx_svc_value_t  key;
    ngx_svc_value_t  name;
    ngx_svc_value_t  permissions;
} ngx_svc_admin_role_t;

/* A new one, whose key may be absent; a change; and of the bundle: complete. */
extern const ngx_svc_member_t  ngx_svc_admin_role_create_members[];
extern const ngx_svc_member_t  ngx_svc_admin_role_members[];
extern const ngx_svc_member_t  ngx_svc_admin_role_bundle_members[];

/* The roles that each tenant has; a NULL key ends them. */

typedef struct {
    const char      *key;
    const char      *name;
    ngx_uint_t       permissions;
} ngx_svc_admin_system_role_t;

extern const ngx_svc_admin_system_role_t  ngx_svc_admin_system_roles[];

/* 1: it may be a key; it is the key of one of these. */
ngx_uint_t ngx_svc_admin_role_key_valid(const ngx_str_t *key);
ngx_uint_t ngx_svc_admin_system_role(const ngx_str_t *key);


#endif /* _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_ */
