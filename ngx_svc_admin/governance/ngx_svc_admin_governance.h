/*
 * The values of governance: what the routes of each resource and the config
 * bundle have in common.
 */

#ifndef _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_
#define _NGX_SVC_ADMIN_GOVERNANCE_H_INCLUDED_


#include "ngx_svc_admin_revision.h"


/* Risk policy */

typedef struct {
    ngx_svc_value_t  enabled;
    ngx_svc_value_t  mfa_threshold;
    ngx_svc_value_t  deny_threshold;
} ngx_svc_admin_risk_t;

/* Each member may be absent; and none may: that of the bundle. */
extern const ngx_svc_member_t  ngx_svc_admin_risk_members[];
extern const ngx_svc_member_t  ngx_svc_admin_risk_bundle_members[];

#define NGX_SVC_ADMIN_RISK_ORDER                                              \
    "\"mfaThreshold\" must be less than \"denyThreshold\"."


/* Password policy, and a group's override */

#define NGX_SVC_ADMIN_PASSWORD_FIELDS  9

typedef struct {
    const char      *name;
    ngx_uint_t       type;              /* NGX_SVC_T_INTEGER, _BOOLEAN */
} ngx_svc_admin_password_field_t;

/* In the order of the bundle, and of the columns below. */
extern const ngx_svc_admin_password_field_t
    ngx_svc_admin_password_fields[NGX_SVC_ADMIN_PASSWORD_FIELDS];

#define NGX_SVC_ADMIN_PASSWORD_COLUMNS                                        \
    "min_length, reject_breached, reject_contextual, require_lower,"          \
    " require_upper, require_digit, require_symbol, history_count,"           \
    " max_age_days"

typedef struct {
    ngx_svc_value_t  fields[NGX_SVC_ADMIN_PASSWORD_FIELDS];
    ngx_svc_value_t  group_id;          /* of an override in a body */
} ngx_svc_admin_password_t;

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

/* How many fields are set to something. */
ngx_uint_t ngx_svc_admin_password_set(ngx_svc_admin_password_t *password);

/*
 * Binds an integer or a boolean, as type says; NULL when the value is unset or
 * null.  NGX_ERROR: memory.
 */
ngx_int_t ngx_svc_admin_bind_field(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, ngx_uint_t type, ngx_svc_value_t *value);


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
