/*
 * The admin API's registry: resources, constraints.
 */

#include "ngx_svc_admin_governance.h"


ngx_svc_resources_t  ngx_svc_admin_resources[] = {
    ngx_svc_admin_public,
    ngx_svc_admin_openapi,
    ngx_svc_admin_tenant,
    ngx_svc_admin_logo,
    ngx_svc_admin_tokens,
    ngx_svc_admin_user_unlock,  /* before users: "unlock" is no id */
    ngx_svc_admin_users,
    ngx_svc_admin_user_change,
    ngx_svc_admin_identities,
    ngx_svc_admin_groups,
    ngx_svc_admin_group_members,
    ngx_svc_admin_roles,
    ngx_svc_admin_risk_policy,
    ngx_svc_admin_password_policy,
    ngx_svc_admin_password_groups,
    ngx_svc_admin_audit,
    ngx_svc_admin_audit_export,
    ngx_svc_admin_audit_stream,
    ngx_svc_admin_ip_blocks,
    ngx_svc_admin_access,
    ngx_svc_admin_access_versions,
    ngx_svc_admin_access_restore,
    ngx_svc_admin_simulate,
    ngx_svc_admin_config,
    ngx_svc_admin_apply,
    NULL
};


const ngx_svc_constraint_t  ngx_svc_admin_constraints[] = {

    { "user_account_user_name_key", NGX_SVC_E_EMAIL_TAKEN,
      "A user with this e-mail address exists already." },

    { "user_group_name_key", NGX_SVC_E_CONFLICT,
      "A group with this name exists already." },

    { "group_member_group_fkey", NGX_SVC_E_NOT_FOUND,
      "There is no group with this id." },

    { "group_member_user_fkey", NGX_SVC_E_INVALID_VALUE,
      "A user with one of these ids has just been deleted." },

    { "group_password_policy_group_fkey", NGX_SVC_E_NOT_FOUND,
      "There is no group with this id." },

    { "ip_block_pkey", NGX_SVC_E_CONFLICT,
      "This address is blocked already." },

    { "role_pkey", NGX_SVC_E_CONFLICT,
      "A role with this key exists already." },

    { NULL, NGX_SVC_E_NONE, NULL }
};
