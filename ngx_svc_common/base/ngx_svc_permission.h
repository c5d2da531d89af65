/*
 * Permissions: what a token or a role may do.  A set of them is a mask with the
 * bit 1 << p for the permission p.
 */

#ifndef _NGX_SVC_PERMISSION_H_INCLUDED_
#define _NGX_SVC_PERMISSION_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_schema.h"


/* Those that a role may hold, sorted by name; and that of SCIM's tokens. */

#define NGX_SVC_PERMISSIONS(_)                                                \
    _(APPS_MANAGE, "apps:manage")                                             \
    _(AUDIT_VIEW, "audit:view")                                               \
    _(GROUPS_MANAGE, "groups:manage")                                         \
    _(MEMBERS_MANAGE, "members:manage")                                       \
    _(ROLES_MANAGE, "roles:manage")                                           \
    _(TENANT_MANAGE, "tenant:manage")                                         \
    _(USERS_VIEW, "users:view")

#define NGX_SVC_PERMISSION_ENUM(id, name)  NGX_SVC_P_##id,

typedef enum {
    NGX_SVC_P_NONE = 0,
    NGX_SVC_PERMISSIONS(NGX_SVC_PERMISSION_ENUM)
    NGX_SVC_P_SCIM
} ngx_svc_permission_e;

/* The set of all that a role may hold. */
#define NGX_SVC_P_ALL  (((1 << NGX_SVC_P_SCIM) - 1) & ~(1 << NGX_SVC_P_NONE))


/* The name of one; empty of NGX_SVC_P_NONE. */
NGX_SVC_API const ngx_str_t *ngx_svc_permission_name(ngx_svc_permission_e p);

/* The first one of a set that is not empty. */
NGX_SVC_API ngx_svc_permission_e ngx_svc_permission_first(ngx_uint_t set);

/* Of PostgreSQL's text of an array, whose unknown elements do not count. */
NGX_SVC_API ngx_uint_t ngx_svc_permissions_of(const ngx_str_t *array);

/* Of a JSON array that ngx_svc_permission_element has checked. */
NGX_SVC_API ngx_uint_t ngx_svc_permissions_json(cJSON *array);

/* As a member that is an array, sorted. */
NGX_SVC_API void ngx_svc_permissions_write(ngx_svc_json_writer_t *w,
    const char *key, ngx_uint_t set);

/* As the text of a PostgreSQL array, sorted; NGX_ERROR: memory. */
NGX_SVC_API ngx_int_t ngx_svc_permissions_text(ngx_pool_t *pool,
    ngx_uint_t set, ngx_str_t *text);

/* For an array's element: a string that is a permission. */
extern NGX_SVC_API const ngx_svc_member_t  ngx_svc_permission_element;


#endif /* _NGX_SVC_PERMISSION_H_INCLUDED_ */
