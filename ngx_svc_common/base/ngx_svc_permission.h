/*
 * The permissions of tokens and roles.  A set of them is a mask with the bit
 * 1 << p for the permission p.
 */

#ifndef _NGX_SVC_PERMISSION_H_INCLUDED_
#define _NGX_SVC_PERMISSION_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_schema.h"


/*
 * The permissions that a role may have, sorted by name.  NGX_SVC_P_SCIM below
 * is that of SCIM tokens.
 */

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

/* The set of all permissions that a role may have. */
#define NGX_SVC_P_ALL  (((1 << NGX_SVC_P_SCIM) - 1) & ~(1 << NGX_SVC_P_NONE))


/* Returns a permission's name; it is empty for NGX_SVC_P_NONE. */
NGX_SVC_API const ngx_str_t *ngx_svc_permission_name(ngx_svc_permission_e p);

/* Returns the first permission of a set that is not empty. */
NGX_SVC_API ngx_svc_permission_e ngx_svc_permission_first(ngx_uint_t set);

/*
 * Returns the set of an array as PostgreSQL writes it; elements that are not
 * known are ignored.
 */
NGX_SVC_API ngx_uint_t ngx_svc_permissions_of(const ngx_str_t *array);

/* Returns the set of a JSON array that the row below has checked. */
NGX_SVC_API ngx_uint_t ngx_svc_permissions_json(cJSON *array);

/* Writes a set as a member that is a sorted array. */
NGX_SVC_API void ngx_svc_permissions_write(ngx_svc_json_writer_t *w,
    const char *key, ngx_uint_t set);

/*
 * Writes a set as the text of a sorted PostgreSQL array, of the pool.  Returns
 * NGX_OK, or NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_permissions_text(ngx_pool_t *pool,
    ngx_uint_t set, ngx_str_t *text);

/* The row for an element of an array: a string that is a permission. */
extern NGX_SVC_API const ngx_svc_member_t  ngx_svc_permission_element;


#endif /* _NGX_SVC_PERMISSION_H_INCLUDED_ */
