/*
 * The admin API's tables: resources, constraints.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_RESOURCE(name)  name,

ngx_svc_resources_t  ngx_svc_admin_resources[] = {
    NGX_SVC_ADMIN_RESOURCES(NGX_SVC_ADMIN_RESOURCE)
    NULL
};


ngx_svc_resources_t  ngx_svc_admin_federation_resources[] = {
    NGX_SVC_ADMIN_FEDERATION_RESOURCES(NGX_SVC_ADMIN_RESOURCE)
    NULL
};


const ngx_svc_constraint_t  ngx_svc_admin_constraints[] = {

    { "user_account_user_name_key", NGX_SVC_E_EMAIL_TAKEN,
      "A user with this e-mail address exists already." },

    { "user_account_token_check", NGX_SVC_E_FORBIDDEN,
      NGX_SVC_ADMIN_TOKEN_MAY },

    { "user_group_name_key", NGX_SVC_E_CONFLICT,
      "A group with this name exists already." },

    { "group_member_group_fkey", NGX_SVC_E_NOT_FOUND,
      "There is no group with this id." },

    { "group_member_user_fkey", NGX_SVC_E_INVALID_VALUE,
      "A user with one of these ids has just been deleted." },

    { "group_app_group_fkey", NGX_SVC_E_NOT_FOUND,
      "There is no group with this id." },

    { "group_app_application_fkey", NGX_SVC_E_INVALID_VALUE,
      "An application with one of these clientIds has just been deleted." },

    { "application_resource_key", NGX_SVC_E_CONFLICT,
      "Another application has this \"resourceUri\"." },

    { "application_owner_fkey", NGX_SVC_E_INVALID_VALUE,
      "The user with this \"ownerId\" has just been deleted." },

    { "group_password_policy_group_fkey", NGX_SVC_E_NOT_FOUND,
      "There is no group with this id." },

    { "role_pkey", NGX_SVC_E_CONFLICT,
      "A role with this key exists already." },

    { "role_token_check", NGX_SVC_E_FORBIDDEN,
      "A token does not have the role of the user who has made it grant more:"
      " use a session." },

    { "passkey_pkey", NGX_SVC_E_CONFLICT,
      "This passkey is registered already." },

    { "domain_verified_key", NGX_SVC_E_CONFLICT,
      "Another tenant has this domain." },

    { "domain_break_glass_check", NGX_SVC_E_ANTI_LOCKOUT,
      "People of a domain come in by one connection alone: an active owner must"
      " keep a passkey." },

    { NULL, NGX_SVC_E_NONE, NULL }
};
