/*
 * The admin API's tables: routes, constraints, statements.
 */

#include "ngx_svc_admin_governance.h"


#define NGX_SVC_ADMIN_MANAGE   ngx_string("tenant:manage")
#define NGX_SVC_ADMIN_USERS    ngx_string("users:view")
#define NGX_SVC_ADMIN_MEMBERS  ngx_string("members:manage")
#define NGX_SVC_ADMIN_GROUPS   ngx_string("groups:manage")
#define NGX_SVC_ADMIN_RBAC     ngx_string("roles:manage")
#define NGX_SVC_ADMIN_AUDIT    ngx_string("audit:view")


/* An empty permission: any live token will do. */

const ngx_svc_route_t  ngx_svc_admin_routes[] = {

    { NGX_HTTP_GET, ngx_string("/tenants/*/branding"), ngx_string(""),
      NGX_SVC_ROUTE_PUBLIC, ngx_svc_admin_public_branding_prepare,
      ngx_svc_admin_public_branding_reply },

    { NGX_HTTP_GET, ngx_string("/tenants/*/logo"), ngx_string(""),
      NGX_SVC_ROUTE_PUBLIC, ngx_svc_admin_public_logo_prepare,
      ngx_svc_admin_public_logo_reply },

    { NGX_HTTP_GET, ngx_string("/openapi.json"), ngx_string(""),
      NGX_SVC_ROUTE_PUBLIC, ngx_svc_admin_openapi_prepare, NULL },

    { NGX_HTTP_GET, ngx_string("/admin/tenant"), ngx_string(""), 0,
      ngx_svc_admin_tenant_get_prepare, ngx_svc_admin_tenant_reply },

    { NGX_HTTP_PATCH, ngx_string("/admin/tenant"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_tenant_patch_prepare, ngx_svc_admin_tenant_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/tenant/logo"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_RAW, NULL, ngx_svc_admin_logo_put_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/tenant/logo"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_logo_delete_prepare, ngx_svc_admin_tenant_reply },

    { NGX_HTTP_GET, ngx_string("/admin/api-tokens"), NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_tokens_list_prepare, ngx_svc_admin_tokens_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/api-tokens"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE|NGX_SVC_ROUTE_CREATE,
      ngx_svc_admin_tokens_create_prepare,
      ngx_svc_admin_tokens_create_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/api-tokens/*"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_tokens_revoke_prepare,
      ngx_svc_admin_tokens_revoke_reply },

    { NGX_HTTP_GET, ngx_string("/admin/users"), NGX_SVC_ADMIN_USERS, 0,
      ngx_svc_admin_users_list_prepare, ngx_svc_admin_users_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/users/unlock"), NGX_SVC_ADMIN_MEMBERS,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_user_unlock_prepare, ngx_svc_admin_user_unlock_reply },

    { NGX_HTTP_GET, ngx_string("/admin/users/*"), NGX_SVC_ADMIN_USERS, 0,
      ngx_svc_admin_users_get_prepare, ngx_svc_admin_users_get_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/users/*"), NGX_SVC_ADMIN_MEMBERS,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_user_put_prepare, ngx_svc_admin_user_put_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/users/*"), NGX_SVC_ADMIN_MEMBERS,
      NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_user_delete_prepare, ngx_svc_admin_user_delete_reply },

    { NGX_HTTP_POST, ngx_string("/admin/users/*/suspend"),
      NGX_SVC_ADMIN_MEMBERS, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_user_suspend_prepare, ngx_svc_admin_user_suspend_reply },

    { NGX_HTTP_POST, ngx_string("/admin/users/*/reactivate"),
      NGX_SVC_ADMIN_MEMBERS, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_user_reactivate_prepare,
      ngx_svc_admin_user_reactivate_reply },

    { NGX_HTTP_POST, ngx_string("/admin/users/*/logout"),
      NGX_SVC_ADMIN_MEMBERS, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_user_logout_prepare, ngx_svc_admin_user_logout_reply },

    { NGX_HTTP_GET, ngx_string("/admin/identities"), NGX_SVC_ADMIN_USERS, 0,
      ngx_svc_admin_identities_prepare, ngx_svc_admin_identities_reply },

    { NGX_HTTP_GET, ngx_string("/admin/groups"), NGX_SVC_ADMIN_GROUPS, 0,
      ngx_svc_admin_groups_list_prepare, ngx_svc_admin_groups_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/groups"), NGX_SVC_ADMIN_GROUPS,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE|NGX_SVC_ROUTE_CREATE,
      ngx_svc_admin_groups_create_prepare, ngx_svc_admin_groups_create_reply },

    { NGX_HTTP_GET, ngx_string("/admin/groups/*"), NGX_SVC_ADMIN_GROUPS, 0,
      ngx_svc_admin_groups_get_prepare, ngx_svc_admin_groups_get_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/groups/*"), NGX_SVC_ADMIN_GROUPS,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_groups_put_prepare, ngx_svc_admin_groups_put_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/groups/*"), NGX_SVC_ADMIN_GROUPS,
      NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_groups_delete_prepare, ngx_svc_admin_groups_delete_reply },

    { NGX_HTTP_GET, ngx_string("/admin/groups/*/members"),
      NGX_SVC_ADMIN_GROUPS, 0,
      ngx_svc_admin_members_list_prepare, ngx_svc_admin_members_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/groups/*/members"),
      NGX_SVC_ADMIN_GROUPS, NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_members_add_prepare, ngx_svc_admin_members_change_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/groups/*/members"),
      NGX_SVC_ADMIN_GROUPS, NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_members_put_prepare, ngx_svc_admin_members_change_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/groups/*/members/*"),
      NGX_SVC_ADMIN_GROUPS, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_members_remove_prepare,
      ngx_svc_admin_members_remove_reply },

    { NGX_HTTP_GET, ngx_string("/admin/roles"), NGX_SVC_ADMIN_RBAC, 0,
      ngx_svc_admin_roles_list_prepare, ngx_svc_admin_roles_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/roles"), NGX_SVC_ADMIN_RBAC,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE|NGX_SVC_ROUTE_CREATE,
      ngx_svc_admin_roles_create_prepare, ngx_svc_admin_roles_create_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/roles/*"), NGX_SVC_ADMIN_RBAC,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_roles_put_prepare, ngx_svc_admin_roles_put_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/roles/*"), NGX_SVC_ADMIN_RBAC,
      NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_roles_delete_prepare, ngx_svc_admin_roles_delete_reply },

    { NGX_HTTP_GET, ngx_string("/admin/risk-policy"), NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_risk_policy_get_prepare,
      ngx_svc_admin_risk_policy_get_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/risk-policy"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_risk_policy_put_prepare,
      ngx_svc_admin_risk_policy_put_reply },

    { NGX_HTTP_GET, ngx_string("/admin/password-policy"),
      NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_password_policy_get_prepare,
      ngx_svc_admin_password_policy_get_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/password-policy"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_password_policy_put_prepare,
      ngx_svc_admin_password_policy_put_reply },

    { NGX_HTTP_GET, ngx_string("/admin/password-policy/groups"),
      NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_overrides_list_prepare,
      ngx_svc_admin_overrides_list_reply },

    { NGX_HTTP_POST, ngx_string("/admin/password-policy/groups"),
      NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE|NGX_SVC_ROUTE_CREATE,
      ngx_svc_admin_overrides_create_prepare,
      ngx_svc_admin_overrides_create_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/password-policy/groups/*"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_overrides_put_prepare,
      ngx_svc_admin_overrides_put_reply },

    { NGX_HTTP_DELETE, ngx_string("/admin/password-policy/groups/*"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_overrides_delete_prepare,
      ngx_svc_admin_overrides_delete_reply },

    { NGX_HTTP_GET, ngx_string("/admin/audit"), NGX_SVC_ADMIN_AUDIT, 0,
      ngx_svc_admin_audit_list_prepare, ngx_svc_admin_audit_list_reply },

    { NGX_HTTP_GET, ngx_string("/admin/audit/export"), NGX_SVC_ADMIN_AUDIT, 0,
      ngx_svc_admin_audit_export_prepare, ngx_svc_admin_audit_export_reply },

    { NGX_HTTP_GET, ngx_string("/admin/audit/stream"), NGX_SVC_ADMIN_AUDIT,
      NGX_SVC_ROUTE_WRITE,
      ngx_svc_admin_audit_stream_prepare, ngx_svc_admin_audit_stream_reply },

    { NGX_HTTP_GET, ngx_string("/admin/access-policy"), NGX_SVC_ADMIN_MANAGE,
      0, ngx_svc_admin_access_get_prepare, ngx_svc_admin_access_get_reply },

    { NGX_HTTP_PUT, ngx_string("/admin/access-policy"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON,
      ngx_svc_admin_access_put_prepare, ngx_svc_admin_access_put_reply },

    { NGX_HTTP_GET, ngx_string("/admin/access-policy/versions"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_SLOW,
      ngx_svc_admin_access_versions_prepare,
      ngx_svc_admin_access_versions_reply },

    { NGX_HTTP_POST, ngx_string("/admin/access-policy/versions/*/restore"),
      NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_access_restore_prepare,
      ngx_svc_admin_access_restore_reply },

    { NGX_HTTP_POST, ngx_string("/admin/access-policy/simulate"),
      NGX_SVC_ADMIN_MANAGE, NGX_SVC_ROUTE_JSON|NGX_SVC_ROUTE_SLOW,
      ngx_svc_admin_simulate_prepare, ngx_svc_admin_simulate_reply },

    { NGX_HTTP_GET, ngx_string("/admin/config"), NGX_SVC_ADMIN_MANAGE, 0,
      ngx_svc_admin_config_get_prepare, ngx_svc_admin_config_get_reply },

    { NGX_HTTP_POST, ngx_string("/admin/config/plan"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON,
      ngx_svc_admin_config_plan_prepare, ngx_svc_admin_config_plan_reply },

    { NGX_HTTP_POST, ngx_string("/admin/config/apply"), NGX_SVC_ADMIN_MANAGE,
      NGX_SVC_ROUTE_JSON,
      ngx_svc_admin_apply_prepare, ngx_svc_admin_apply_reply },

    { 0, ngx_null_string, ngx_null_string, 0, NULL, NULL }
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

    { "role_pkey", NGX_SVC_E_CONFLICT,
      "A role with this key exists already." },

    { NULL, NGX_SVC_E_NONE, NULL }
};


ngx_svc_pg_statements_t *const  ngx_svc_admin_statements[] = {
    ngx_svc_admin_tenant_statements,
    ngx_svc_admin_logo_statements,
    ngx_svc_admin_public_statements,
    ngx_svc_admin_tokens_statements,
    ngx_svc_admin_users_statements,
    ngx_svc_admin_user_change_statements,
    ngx_svc_admin_user_unlock_statements,
    ngx_svc_admin_identities_statements,
    ngx_svc_admin_groups_statements,
    ngx_svc_admin_group_members_statements,
    ngx_svc_admin_audit_statements,
    ngx_svc_admin_audit_export_statements,
    ngx_svc_admin_audit_stream_statements,
    ngx_svc_admin_audit_follow_statements,
    ngx_svc_admin_revision_statements,
    ngx_svc_admin_access_statements,
    ngx_svc_admin_access_versions_statements,
    ngx_svc_admin_access_restore_statements,
    ngx_svc_admin_simulate_statements,
    ngx_svc_admin_roles_statements,
    ngx_svc_admin_risk_policy_statements,
    ngx_svc_admin_password_policy_statements,
    ngx_svc_admin_password_groups_statements,
    ngx_svc_admin_bundle_statements,
    ngx_svc_admin_apply_statements,
    NULL
};
