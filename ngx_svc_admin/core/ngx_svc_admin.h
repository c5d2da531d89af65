/*
 * The admin API's own declarations.
 */

#ifndef _NGX_SVC_ADMIN_H_INCLUDED_
#define _NGX_SVC_ADMIN_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_schema.h"


/* ngx_svc_admin_routes.c */
extern ngx_svc_resources_t  ngx_svc_admin_resources[];
extern ngx_svc_resources_t  ngx_svc_admin_federation_resources[];
extern const ngx_svc_constraint_t  ngx_svc_admin_constraints[];


/*
 * The registry: a resource is the table of routes in the file of its name.
 * Where two patterns match the first one counts, so that "/admin/users/unlock"
 * is not taken for a user.
 */

#define NGX_SVC_ADMIN_RESOURCES(_)                                            \
    _(ngx_svc_admin_public)                                                   \
    _(ngx_svc_admin_openapi)                                                  \
    _(ngx_svc_admin_console)                                                  \
    _(ngx_svc_admin_tenant)                                                   \
    _(ngx_svc_admin_logo)                                                     \
    _(ngx_svc_admin_tokens)                                                   \
    _(ngx_svc_admin_user_unlock)                                              \
    _(ngx_svc_admin_users)                                                    \
    _(ngx_svc_admin_user_change)                                              \
    _(ngx_svc_admin_user_reset_mfa)                                           \
    _(ngx_svc_admin_user_sessions)                                            \
    _(ngx_svc_admin_members)                                                  \
    _(ngx_svc_admin_invitations)                                              \
    _(ngx_svc_admin_identities)                                               \
    _(ngx_svc_admin_names)                                                    \
    _(ngx_svc_admin_groups)                                                   \
    _(ngx_svc_admin_group_members)                                            \
    _(ngx_svc_admin_roles)                                                    \
    _(ngx_svc_admin_risk_policy)                                              \
    _(ngx_svc_admin_password_policy)                                          \
    _(ngx_svc_admin_password_groups)                                          \
    _(ngx_svc_admin_audit_export)                                             \
    _(ngx_svc_admin_audit_stream)                                             \
    _(ngx_svc_admin_audit)                                                    \
    _(ngx_svc_admin_ip_blocks)                                                \
    _(ngx_svc_admin_incidents)                                                \
    _(ngx_svc_admin_statistics)                                               \
    _(ngx_svc_admin_scim_tokens)                                              \
    _(ngx_svc_admin_ldap)                                                     \
    _(ngx_svc_admin_social)                                                   \
    _(ngx_svc_admin_saml)                                                     \
    _(ngx_svc_admin_saml_idp)                                                 \
    _(ngx_svc_admin_integrations)                                             \
    _(ngx_svc_admin_access)                                                   \
    _(ngx_svc_admin_access_versions)                                          \
    _(ngx_svc_admin_access_restore)                                           \
    _(ngx_svc_admin_simulate)                                                 \
    _(ngx_svc_admin_config)                                                   \
    _(ngx_svc_admin_apply)                                                    \
    _(ngx_svc_admin_domains)                                                  \
    _(ngx_svc_admin_domain_verify)                                            \
    _(ngx_svc_admin_applications)                                             \
    _(ngx_svc_admin_application_create)                                       \
    _(ngx_svc_admin_application_patch)                                        \
    _(ngx_svc_admin_application_secret)                                       \
    _(ngx_svc_admin_application_use)                                          \
    _(ngx_svc_admin_agent_settings)                                           \
    _(ngx_svc_admin_oauth_settings)                                           \
    _(ngx_svc_admin_anomalies)                                                \
    _(ngx_svc_admin_delegations)                                              \
    _(ngx_svc_admin_agent_policy)                                             \
    _(ngx_svc_admin_agent_identity)                                           \
    _(ngx_svc_admin_agent_review)                                             \
    _(ngx_svc_admin_agent_simulate)                                           \
    _(ngx_svc_admin_agents)                                                   \
    _(ngx_svc_admin_group_apps)

/* Those that "svc_federation on" adds. */

#define NGX_SVC_ADMIN_FEDERATION_RESOURCES(_)                                 \
    _(ngx_svc_admin_ldap_test)                                                \
    _(ngx_svc_directory_sync)                                                 \
    _(ngx_svc_signin_discover)                                                \
    _(ngx_svc_admin_domain_sign_in)

#define NGX_SVC_ADMIN_ROUTES(name)  extern const ngx_svc_route_t  name[];

NGX_SVC_ADMIN_RESOURCES(NGX_SVC_ADMIN_ROUTES)
NGX_SVC_ADMIN_FEDERATION_RESOURCES(NGX_SVC_ADMIN_ROUTES)


#endif /* _NGX_SVC_ADMIN_H_INCLUDED_ */
