/*
 * The admin API's own declarations.
 */

#ifndef _NGX_SVC_ADMIN_H_INCLUDED_
#define _NGX_SVC_ADMIN_H_INCLUDED_


#include "ngx_svc_http.h"
#include "ngx_svc_schema.h"


/* ngx_svc_admin_routes.c */
extern const ngx_svc_route_t  ngx_svc_admin_routes[];
extern const ngx_svc_constraint_t  ngx_svc_admin_constraints[];
extern ngx_svc_pg_statements_t *const  ngx_svc_admin_statements[];


/* Handlers: see ngx_svc_route_t. */

/* ngx_svc_admin_tenant.c */
ngx_int_t ngx_svc_admin_tenant_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tenant_patch_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tenant_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_tenant_statements[];

/* ngx_svc_admin_logo.c; a reply is ngx_svc_admin_tenant_reply() too */
ngx_int_t ngx_svc_admin_logo_put_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_logo_delete_prepare(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_logo_statements[];

/* ngx_svc_admin_public.c */
ngx_int_t ngx_svc_admin_public_branding_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_public_branding_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_public_logo_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_public_logo_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_public_statements[];

/* ngx_svc_admin_openapi.c */
ngx_int_t ngx_svc_admin_openapi_prepare(ngx_svc_request_t *sr);

/* ngx_svc_admin_tokens.c */
ngx_int_t ngx_svc_admin_tokens_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_create_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_create_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_revoke_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_tokens_revoke_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_tokens_statements[];

/* ngx_svc_admin_users.c */
ngx_int_t ngx_svc_admin_users_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_users_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_users_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_users_get_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_users_statements[];

/* ngx_svc_admin_user_change.c */
ngx_int_t ngx_svc_admin_user_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_put_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_suspend_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_suspend_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_reactivate_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_reactivate_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_logout_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_logout_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_delete_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_delete_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_user_change_statements[];

/* ngx_svc_admin_user_unlock.c */
ngx_int_t ngx_svc_admin_user_unlock_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_user_unlock_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_user_unlock_statements[];

/* ngx_svc_admin_identities.c */
ngx_int_t ngx_svc_admin_identities_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_identities_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_identities_statements[];

/* ngx_svc_admin_groups.c */
ngx_int_t ngx_svc_admin_groups_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_get_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_create_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_create_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_put_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_delete_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_groups_delete_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_groups_statements[];

/* ngx_svc_admin_group_members.c */
ngx_int_t ngx_svc_admin_members_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_members_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_members_add_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_members_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_members_change_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_members_remove_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_members_remove_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_group_members_statements[];

/* ngx_svc_admin_roles.c */
ngx_int_t ngx_svc_admin_roles_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_roles_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_roles_create_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_roles_create_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_roles_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_roles_put_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_roles_delete_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_roles_delete_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_roles_statements[];

/* ngx_svc_admin_risk_policy.c */
ngx_int_t ngx_svc_admin_risk_policy_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_risk_policy_get_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_risk_policy_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_risk_policy_put_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_risk_policy_statements[];

/* ngx_svc_admin_password_policy.c */
ngx_int_t ngx_svc_admin_password_policy_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_password_policy_get_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_password_policy_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_password_policy_put_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_password_policy_statements[];

/* ngx_svc_admin_password_groups.c */
ngx_int_t ngx_svc_admin_overrides_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_overrides_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_overrides_create_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_overrides_create_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_overrides_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_overrides_put_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_overrides_delete_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_overrides_delete_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_password_groups_statements[];

/* ngx_svc_admin_audit.c, ngx_svc_admin_audit_export.c, ..._stream.c */
ngx_int_t ngx_svc_admin_audit_list_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_list_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_export_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_export_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_stream_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_audit_stream_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_audit_statements[];
extern ngx_svc_pg_statements_t  ngx_svc_admin_audit_export_statements[];
extern ngx_svc_pg_statements_t  ngx_svc_admin_audit_stream_statements[];
extern ngx_svc_pg_statements_t  ngx_svc_admin_audit_follow_statements[];

/* ngx_svc_admin_access.c, ..._versions.c, ..._restore.c, ..._simulate.c */
ngx_int_t ngx_svc_admin_access_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_access_get_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_access_put_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_access_put_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_access_versions_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_access_versions_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_access_restore_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_access_restore_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_simulate_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_simulate_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_access_statements[];
extern ngx_svc_pg_statements_t  ngx_svc_admin_access_versions_statements[];
extern ngx_svc_pg_statements_t  ngx_svc_admin_access_restore_statements[];
extern ngx_svc_pg_statements_t  ngx_svc_admin_simulate_statements[];
/* ngx_svc_admin_config.c, ngx_svc_admin_apply.c */
ngx_int_t ngx_svc_admin_config_get_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_config_get_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_config_plan_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_config_plan_reply(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_apply_prepare(ngx_svc_request_t *sr);
ngx_int_t ngx_svc_admin_apply_reply(ngx_svc_request_t *sr);
extern ngx_svc_pg_statements_t  ngx_svc_admin_bundle_statements[];
extern ngx_svc_pg_statements_t  ngx_svc_admin_apply_statements[];


/*
 * ngx_svc_admin_etag.c: If-Match as the text of a PostgreSQL array of versions;
 * no data: any version will do.  NGX_OK, or NGX_ERROR.
 */
ngx_int_t ngx_svc_admin_if_match(ngx_svc_request_t *sr, ngx_str_t *versions);

/* The ETag of an answer, from a column with the version. */
ngx_int_t ngx_svc_admin_etag(ngx_svc_request_t *sr, PGresult *res, int row,
    int column);

/* With its quotes, of the request's pool. */
ngx_int_t ngx_svc_admin_body_etag(ngx_svc_request_t *sr, ngx_str_t *body,
    ngx_str_t *etag);

/* Fills *err for the same; NGX_DECLINED. */
ngx_int_t ngx_svc_admin_precondition(ngx_svc_error_t *err);

/* 412; returns what a reply returns. */
ngx_int_t ngx_svc_admin_precondition_failed(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ADMIN_H_INCLUDED_ */
