/*
 * The canonical form of a bundle: the same bytes for the same governance.
 */

#include "ngx_svc_admin_bundle.h"
#include "ngx_svc_access_write.h"


static void ngx_svc_admin_bundle_write_fields(ngx_svc_json_writer_t *w,
    const ngx_svc_member_t *fields,
    const ngx_svc_admin_bundle_policy_t *policy);


void
ngx_svc_admin_bundle_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_t *bundle)
{
    ngx_uint_t                        i;
    ngx_svc_admin_bundle_role_t      *role;
    ngx_svc_admin_bundle_override_t  *override;

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_integer(w, "version", NGX_SVC_ADMIN_BUNDLE_VERSION);

    if (bundle->sections & NGX_SVC_ADMIN_BUNDLE_ACCESS) {
        ngx_svc_admin_bundle_write_access(w, "accessPolicy", bundle);
    }

    if (bundle->sections & NGX_SVC_ADMIN_BUNDLE_RISK) {
        ngx_svc_admin_bundle_write_policy(w, "riskPolicy",
                                          ngx_svc_admin_risk_members,
                                          &bundle->risk);
    }

    if (bundle->sections & NGX_SVC_ADMIN_BUNDLE_PASSWORD) {
        ngx_svc_admin_bundle_write_policy(w, "passwordPolicy",
                                          ngx_svc_admin_password_members,
                                          &bundle->password);
    }

    if (bundle->sections & NGX_SVC_ADMIN_BUNDLE_OVERRIDES) {
        ngx_svc_json_open(w, "groupPasswordPolicies", '[');

        override = bundle->overrides.elts;

        for (i = 0; i < bundle->overrides.nelts; i++) {
            ngx_svc_admin_bundle_write_override(w, NULL, &override[i]);
        }

        ngx_svc_json_close(w, ']');
    }

    if (bundle->sections & NGX_SVC_ADMIN_BUNDLE_ROLES) {
        ngx_svc_json_open(w, "roles", '[');

        role = bundle->roles.elts;

        for (i = 0; i < bundle->roles.nelts; i++) {
            ngx_svc_admin_bundle_write_role(w, NULL, &role[i]);
        }

        ngx_svc_json_close(w, ']');
    }

    ngx_svc_json_close(w, '}');
}


void
ngx_svc_admin_bundle_write_access(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_admin_bundle_t *bundle)
{
    if (bundle->access_json.data) {
        ngx_svc_json_raw(w, key, bundle->access_json.data,
                         bundle->access_json.len);
        return;
    }

    ngx_svc_json_open(w, key, '{');
    ngx_svc_access_write(w, bundle->access);
    ngx_svc_json_close(w, '}');
}


void
ngx_svc_admin_bundle_write_policy(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_member_t *fields,
    const ngx_svc_admin_bundle_policy_t *policy)
{
    ngx_svc_json_open(w, key, '{');
    ngx_svc_admin_bundle_write_fields(w, fields, policy);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_fields(ngx_svc_json_writer_t *w,
    const ngx_svc_member_t *fields,
    const ngx_svc_admin_bundle_policy_t *policy)
{
    ngx_uint_t   i;
    const char  *name;

    for (i = 0; fields[i].name.len; i++) {

        if (!(policy->set & (1 << i))) {
            continue;
        }

        name = (const char *) fields[i].name.data;

        if (fields[i].type & NGX_SVC_T_BOOLEAN) {
            ngx_svc_json_boolean(w, name, policy->fields[i]);

        } else {
            ngx_svc_json_integer(w, name, policy->fields[i]);
        }
    }
}


void
ngx_svc_admin_bundle_write_override(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_admin_bundle_override_t *override)
{
    ngx_svc_json_open(w, key, '{');
    ngx_svc_json_plain(w, "groupId", override->group_id.data,
                       override->group_id.len);
    ngx_svc_admin_bundle_write_fields(w, ngx_svc_admin_password_members,
                                      &override->password);
    ngx_svc_json_close(w, '}');
}


void
ngx_svc_admin_bundle_write_role(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_admin_bundle_role_t *role)
{
    ngx_svc_json_open(w, key, '{');
    ngx_svc_json_plain(w, "key", role->key.data, role->key.len);
    ngx_svc_json_string(w, "name", role->name.data, role->name.len);
    ngx_svc_permissions_write(w, "permissions", role->permissions);
    ngx_svc_json_close(w, '}');
}
