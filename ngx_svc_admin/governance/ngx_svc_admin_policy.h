/*
 * The risk policy and the password policy, which is also that of a group: SQL
 * of their fields.
 */

#ifndef _NGX_SVC_ADMIN_POLICY_H_INCLUDED_
#define _NGX_SVC_ADMIN_POLICY_H_INCLUDED_


#include "ngx_svc_admin_governance.h"


/* The row of NGX_SVC_PARAMS() for $n; s: the struct of the body's values. */
#define ngx_svc_admin_field_param(s, n, column, name, type, ...)              \
    { .bind = type(NGX_SVC_ADMIN_TYPE_BIND), .offset = offsetof(s, column) },


#endif /* _NGX_SVC_ADMIN_POLICY_H_INCLUDED_ */
