/*
 * The canonical form of a bundle: the same bytes for the same governance.
 */

#include "ngx_svc_admin_bundle.h"


static void ngx_svc_admin_bundle_write_fields(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_password_t *password);


const ngx_svc_admin_risk_field_t
    ngx_svc_admin_risk_fields[NGX_SVC_ADMIN_RISK_FIELDS] =
{
    { "enabled", 1 },
    { "mfaThreshold", 0 },
    { "denyThreshold", 0 }
};


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
        ngx_svc_admin_bundle_write_risk(w, "riskPolicy", bundle);
    }

    if (bundle->sections & NGX_SVC_ADMIN_BUNDLE_PASSWORD) {
        ngx_svc_admin_bundle_write_password(w, "passwordPolicy", bundle);
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
ngx_svc_admin_bundle_write_risk(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_admin_bundle_t *bundle)
{
    ngx_uint_t                         i;
    const ngx_svc_admin_risk_field_t  *field;

    ngx_svc_json_open(w, key, '{');

    for (i = 0; i < NGX_SVC_ADMIN_RISK_FIELDS; i++) {
        field = &ngx_svc_admin_risk_fields[i];

        if (field->boolean) {
            ngx_svc_json_boolean(w, field->name, bundle->risk[i]);

        } else {
            ngx_svc_json_integer(w, field->name, bundle->risk[i]);
        }
    }

    ngx_svc_json_close(w, '}');
}


void
ngx_svc_admin_bundle_write_password(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_admin_bundle_t *bundle)
{
    ngx_svc_json_open(w, key, '{');
    ngx_svc_admin_bundle_write_fields(w, &bundle->password);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_fields(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_password_t *password)
{
    ngx_uint_t                             i;
    const ngx_svc_admin_password_field_t  *field;

    for (i = 0; i < NGX_SVC_ADMIN_PASSWORD_FIELDS; i++) {

        if (!(password->set & (1 << i))) {
            continue;
        }

        field = &ngx_svc_admin_password_fields[i];

        if (field->type == NGX_SVC_T_BOOLEAN) {
            ngx_svc_json_boolean(w, field->name, password->fields[i]);

        } else {
            ngx_svc_json_integer(w, field->name, password->fields[i]);
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
    ngx_svc_admin_bundle_write_fields(w, &override->password);
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
