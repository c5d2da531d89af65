/*
 * The admin API's own declarations.
 */

#ifndef _NGX_SVC_ADMIN_H_INCLUDED_
#define _NGX_SVC_ADMIN_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_schema.h"


/* ngx_svc_admin_routes.c */
extern ngx_svc_resources_t  ngx_svc_admin_resources[];
extern const ngx_svc_constraint_t  ngx_svc_admin_constraints[];


/* The resources, each of the file of its name. */

extern const ngx_svc_route_t  ngx_svc_admin_public[];
extern const ngx_svc_route_t  ngx_svc_admin_openapi[];
extern const ngx_svc_route_t  ngx_svc_admin_tenant[];
extern const ngx_svc_route_t  ngx_svc_admin_logo[];
extern const ngx_svc_route_t  ngx_svc_admin_tokens[];
extern const ngx_svc_route_t  ngx_svc_admin_users[];
extern const ngx_svc_route_t  ngx_svc_admin_user_unlock[];
extern const ngx_svc_route_t  ngx_svc_admin_user_change[];
extern const ngx_svc_route_t  ngx_svc_admin_identities[];
extern const ngx_svc_route_t  ngx_svc_admin_groups[];
extern const ngx_svc_route_t  ngx_svc_admin_group_members[];
extern const ngx_svc_route_t  ngx_svc_admin_roles[];
extern const ngx_svc_route_t  ngx_svc_admin_risk_policy[];
extern const ngx_svc_route_t  ngx_svc_admin_password_policy[];
extern const ngx_svc_route_t  ngx_svc_admin_password_groups[];
extern const ngx_svc_route_t  ngx_svc_admin_audit[];
extern const ngx_svc_route_t  ngx_svc_admin_audit_export[];
extern const ngx_svc_route_t  ngx_svc_admin_audit_stream[];
extern const ngx_svc_route_t  ngx_svc_admin_ip_blocks[];
extern const ngx_svc_route_t  ngx_svc_admin_access[];
extern const ngx_svc_route_t  ngx_svc_admin_access_versions[];
extern const ngx_svc_route_t  ngx_svc_admin_access_restore[];
extern const ngx_svc_route_t  ngx_svc_admin_simulate[];
extern const ngx_svc_route_t  ngx_svc_admin_config[];
extern const ngx_svc_route_t  ngx_svc_admin_apply[];


#endif /* _NGX_SVC_ADMIN_H_INCLUDED_ */
