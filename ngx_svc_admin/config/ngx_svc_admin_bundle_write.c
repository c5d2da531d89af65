/*
 * The canonical form of a bundle: the same bytes for the same governance.
 */

#include "ngx_svc_admin_bundle.h"
#include "ngx_svc_access_write.h"


static void ngx_svc_admin_bundle_write_section(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_section_t *section, const u_char *value);
static void ngx_svc_admin_bundle_write_access(ngx_svc_json_writer_t *w,
    const char *key, const void *value);
static void ngx_svc_admin_bundle_write_risk(ngx_svc_json_writer_t *w,
    const char *key, const void *value);
static void ngx_svc_admin_bundle_write_password(ngx_svc_json_writer_t *w,
    const char *key, const void *value);
static void ngx_svc_admin_bundle_write_override(ngx_svc_json_writer_t *w,
    const char *key, const void *value);
static void ngx_svc_admin_bundle_write_role(ngx_svc_json_writer_t *w,
    const char *key, const void *value);
static void ngx_svc_admin_bundle_write_policy(ngx_svc_json_writer_t *w,
    const ngx_svc_member_t *fields,
    const ngx_svc_admin_bundle_policy_t *policy);


const ngx_svc_admin_section_t
    ngx_svc_admin_sections[NGX_SVC_ADMIN_NSECTIONS] =
{
    [NGX_SVC_ADMIN_ACCESS] = {
        .member = "accessPolicy",
        .name = "accessPolicy",
        .write = ngx_svc_admin_bundle_write_access
    },

    [NGX_SVC_ADMIN_RISK] = {
        .member = "riskPolicy",
        .name = "riskPolicy",
        .fields = ngx_svc_admin_risk_members,
        .offset = offsetof(ngx_svc_admin_bundle_t, risk),
        .write = ngx_svc_admin_bundle_write_risk
    },

    [NGX_SVC_ADMIN_PASSWORD] = {
        .member = "passwordPolicy",
        .name = "passwordPolicy",
        .fields = ngx_svc_admin_password_members,
        .offset = offsetof(ngx_svc_admin_bundle_t, password),
        .write = ngx_svc_admin_bundle_write_password
    },

    [NGX_SVC_ADMIN_OVERRIDE] = {
        .member = "groupPasswordPolicies",
        .name = "groupPasswordPolicy",
        .fields = ngx_svc_admin_password_members,
        .offset = offsetof(ngx_svc_admin_bundle_t, overrides),
        .size = sizeof(ngx_svc_admin_bundle_override_t),
        .write = ngx_svc_admin_bundle_write_override
    },

    [NGX_SVC_ADMIN_ROLE] = {
        .member = "roles",
        .name = "role",
        .fields = ngx_svc_admin_role_members,
        .offset = offsetof(ngx_svc_admin_bundle_t, roles),
        .size = sizeof(ngx_svc_admin_bundle_role_t),
        .write = ngx_svc_admin_bundle_write_role
    }
};


void
ngx_svc_admin_bundle_write(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_bundle_t *bundle)
{
    ngx_uint_t                      i;
    const ngx_svc_admin_section_t  *section;

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_integer(w, "version", NGX_SVC_ADMIN_BUNDLE_VERSION);

    for (i = 0; i < NGX_SVC_ADMIN_NSECTIONS; i++) {
        section = &ngx_svc_admin_sections[i];

        if (bundle->sections & (1 << i)) {
            ngx_svc_admin_bundle_write_section(w, section,
                                      (const u_char *) bundle
                                      + section->offset);
        }
    }

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_section(ngx_svc_json_writer_t *w,
    const ngx_svc_admin_section_t *section, const u_char *value)
{
    u_char             *p;
    ngx_uint_t          i;
    const ngx_array_t  *array;

    if (section->size == 0) {
        section->write(w, section->member, value);
        return;
    }

    array = (const ngx_array_t *) value;
    p = array->elts;

    ngx_svc_json_open(w, section->member, '[');

    for (i = 0; i < array->nelts; i++) {
        section->write(w, NULL, p + i * section->size);
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_admin_bundle_write_access(ngx_svc_json_writer_t *w, const char *key,
    const void *value)
{
    const ngx_svc_admin_bundle_t  *bundle = value;

    if (bundle->access_json.data) {
        ngx_svc_json_raw(w, key, bundle->access_json.data,
                         bundle->access_json.len);
        return;
    }

    ngx_svc_json_open(w, key, '{');
    ngx_svc_access_write(w, bundle->access);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_risk(ngx_svc_json_writer_t *w, const char *key,
    const void *value)
{
    ngx_svc_json_open(w, key, '{');
    ngx_svc_admin_bundle_write_policy(w, ngx_svc_admin_risk_members, value);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_password(ngx_svc_json_writer_t *w, const char *key,
    const void *value)
{
    ngx_svc_json_open(w, key, '{');
    ngx_svc_admin_bundle_write_policy(w, ngx_svc_admin_password_members, value);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_override(ngx_svc_json_writer_t *w, const char *key,
    const void *value)
{
    const ngx_svc_admin_bundle_override_t  *override = value;

    ngx_svc_json_open(w, key, '{');
    ngx_svc_json_plain(w, "groupId", override->group_id.data,
                       override->group_id.len);
    ngx_svc_admin_bundle_write_policy(w, ngx_svc_admin_password_members,
                                      &override->password);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_role(ngx_svc_json_writer_t *w, const char *key,
    const void *value)
{
    const ngx_svc_admin_bundle_role_t  *role = value;

    ngx_svc_json_open(w, key, '{');
    ngx_svc_json_plain(w, "key", role->key.data, role->key.len);
    ngx_svc_json_string(w, "name", role->name.data, role->name.len);
    ngx_svc_permissions_write(w, "permissions", role->permissions);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_admin_bundle_write_policy(ngx_svc_json_writer_t *w,
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
