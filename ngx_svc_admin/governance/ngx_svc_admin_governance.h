/*
 * The values of governance: the common parts of the routes of each resource and
 * of the config bundle.
 */

#ifndef _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_
#define _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_


#include "ngx_svc_admin_revision.h"


/*
 * The fields of a policy, in the order of the bundle.  C's lists of them are
 * made of these tables; statements name the columns themselves.  Each field is
 *
 *     _(x, n, column, name, type, min, max)
 *
 * with sep between them.  x: an argument of "_"; n: from 1 on; type: the type
 * in JSON.
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

/* The number of fields of the larger policy. */
#define NGX_SVC_ADMIN_POLICY_FIELDS                                           \
    (0 NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_count, , ))
#define ngx_svc_admin_field_count(...)  + 1


/* The values of a body, named as the columns are. */

#define ngx_svc_admin_field_value(x, n, column, ...)  ngx_svc_value_t  column;

typedef struct {
    NGX_SVC_ADMIN_RISK_FIELDS(ngx_svc_admin_field_value, , )
} ngx_svc_admin_risk_t;

typedef struct {
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_value, , )
    ngx_svc_value_t  group_id;          /* of an override */
} ngx_svc_admin_password_t;


/* Each member may be absent; in the bundle's table none may. */
extern const ngx_svc_member_t  ngx_svc_admin_risk_members[];
extern const ngx_svc_member_t  ngx_svc_admin_risk_bundle_members[];

#define NGX_SVC_ADMIN_RISK_ORDER                                              \
    "\"mfaThreshold\" must be less than \"denyThreshold\"."

/*
 * The members of a tenant's policy, of which each may be absent; in the
 * bundle's table none may.  The members of a group's policy: without the
 * group's id, as in the group's own route, where null counts as absent; with
 * the id; and the bundle's, without null.
 */
extern const ngx_svc_member_t  ngx_svc_admin_password_members[];
extern const ngx_svc_member_t  ngx_svc_admin_password_bundle_members[];
extern const ngx_svc_member_t  ngx_svc_admin_override_members[];
extern const ngx_svc_member_t  ngx_svc_admin_override_create_members[];
extern const ngx_svc_member_t  ngx_svc_admin_override_bundle_members[];

/* Returns 1 when at least one of the fields has a value. */
ngx_uint_t ngx_svc_admin_password_set(const ngx_svc_admin_password_t *password);


/* Roles */

#define NGX_SVC_ADMIN_ROLES     1000    /* in a tenant */
#define NGX_SVC_ADMIN_ROLE_KEY  63      /* bytes */

typedef struct {
    ngx_svc_value_t  key;
    ngx_svc_value_t  name;
    ngx_svc_value_t  permissions;
} ngx_svc_admin_role_t;

/*
 * The members of a new role, whose key may be absent; of a change; and of a
 * role in the bundle, which has them all.
 */
extern const ngx_svc_member_t  ngx_svc_admin_role_create_members[];
extern const ngx_svc_member_t  ngx_svc_admin_role_members[];
extern const ngx_svc_member_t  ngx_svc_admin_role_bundle_members[];

/* The roles that each tenant has; a NULL key ends the table. */

typedef struct {
    const char      *key;
    const char      *name;
    ngx_uint_t       permissions;
} ngx_svc_admin_system_role_t;

extern const ngx_svc_admin_system_role_t  ngx_svc_admin_system_roles[];

/* Returns 1 when the text may be the key of a role. */
ngx_uint_t ngx_svc_admin_role_key_valid(const ngx_str_t *key);

/* Returns the one of these roles with this key, or NULL. */
const ngx_svc_admin_system_role_t *ngx_svc_admin_system_role(
    const ngx_str_t *key);


#endif /* _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_ */
