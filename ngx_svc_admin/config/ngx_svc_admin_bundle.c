/*
 * Reads a bundle from a body.  Members that it does not know are refused: a
 * member that is misspelt must not become governance that is missing.
 */

#include "ngx_svc_admin_bundle.h"


#define NGX_SVC_ADMIN_BUNDLE_PATH  64


typedef struct {
    ngx_svc_value_t  version;
    ngx_svc_value_t  access;
    ngx_svc_value_t  risk;
    ngx_svc_value_t  password;
    ngx_svc_value_t  overrides;
    ngx_svc_value_t  roles;
} ngx_svc_admin_bundle_values_t;

/* Reads an element, whose index is set already. */

typedef ngx_int_t (*ngx_svc_admin_bundle_element_pt)(cJSON *json,
    const char *path, void *element, ngx_svc_error_t *err);


static ngx_int_t ngx_svc_admin_bundle_access(ngx_pool_t *pool,
    const ngx_svc_zones_t *zones, cJSON *json, ngx_svc_admin_bundle_t *bundle,
    ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_risk(cJSON *json,
    ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_password(cJSON *json,
    ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err);
static void ngx_svc_admin_bundle_policy(const ngx_svc_member_t *fields,
    const void *values, ngx_svc_admin_bundle_policy_t *policy);
static ngx_int_t ngx_svc_admin_bundle_overrides(ngx_pool_t *pool, cJSON *json,
    ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_override(cJSON *json, const char *path,
    void *element, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_roles(ngx_pool_t *pool, cJSON *json,
    ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_role(cJSON *json, const char *path,
    void *element, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_object(const ngx_svc_member_t *table,
    const char *path, cJSON *json, void *dst, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_array(ngx_pool_t *pool, cJSON *json,
    const ngx_svc_admin_section_t *section, ngx_array_t *array,
    ngx_svc_admin_bundle_element_pt parse, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_bundle_once(ngx_array_t *array,
    const char *name, const char *member, ngx_svc_error_t *err);
static int ngx_libc_cdecl ngx_svc_admin_bundle_order(const void *one,
    const void *two);


#define ngx_svc_admin_bundle_row(title, what, field)                          \
    { .name = ngx_string(title),                                              \
      .type = what,                                                           \
      .offset = offsetof(ngx_svc_admin_bundle_values_t, field) }

static const ngx_svc_member_t  ngx_svc_admin_bundle_members[] = {

    { .name = ngx_string("version"),
      .type = NGX_SVC_T_INTEGER,
      .flags = NGX_SVC_M_REQUIRED,
      .min = NGX_SVC_ADMIN_BUNDLE_VERSION,
      .max = NGX_SVC_ADMIN_BUNDLE_VERSION,
      .offset = offsetof(ngx_svc_admin_bundle_values_t, version) },

    ngx_svc_admin_bundle_row("accessPolicy", NGX_SVC_T_OBJECT, access),
    ngx_svc_admin_bundle_row("riskPolicy", NGX_SVC_T_OBJECT, risk),
    ngx_svc_admin_bundle_row("passwordPolicy", NGX_SVC_T_OBJECT, password),
    ngx_svc_admin_bundle_row("groupPasswordPolicies", NGX_SVC_T_ARRAY,
                             overrides),
    ngx_svc_admin_bundle_row("roles", NGX_SVC_T_ARRAY, roles),

    ngx_svc_null_member
};


ngx_int_t
ngx_svc_admin_bundle_parse(ngx_pool_t *pool, const ngx_svc_zones_t *zones,
    cJSON *json, ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err)
{
    ngx_int_t                       rc;
    ngx_svc_admin_bundle_values_t   values;

    ngx_memzero(bundle, sizeof(ngx_svc_admin_bundle_t));
    ngx_memzero(&values, sizeof(ngx_svc_admin_bundle_values_t));

    bundle->unknown = -1;

    rc = ngx_svc_schema_object(ngx_svc_admin_bundle_members,
                               NGX_SVC_S_STRICT, json, &values, err);

    if (rc == NGX_OK && values.access.set) {
        rc = ngx_svc_admin_bundle_access(pool, zones, values.access.json,
                                         bundle, err);
    }

    if (rc == NGX_OK && values.risk.set) {
        rc = ngx_svc_admin_bundle_risk(values.risk.json, bundle, err);
    }

    if (rc == NGX_OK && values.password.set) {
        rc = ngx_svc_admin_bundle_password(values.password.json, bundle, err);
    }

    if (rc == NGX_OK && values.overrides.set) {
        rc = ngx_svc_admin_bundle_overrides(pool, values.overrides.json,
                                            bundle, err);
    }

    if (rc == NGX_OK && values.roles.set) {
        rc = ngx_svc_admin_bundle_roles(pool, values.roles.json, bundle, err);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_bundle_access(ngx_pool_t *pool, const ngx_svc_zones_t *zones,
    cJSON *json, ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err)
{
    ngx_int_t                 rc;
    ngx_svc_access_policy_t  *policy;

    rc = ngx_svc_access_parse(pool, zones, json, "accessPolicy",
                              NGX_SVC_S_STRICT, &policy, err);
    if (rc == NGX_OK) {
        bundle->sections |= 1 << NGX_SVC_ADMIN_ACCESS;
        bundle->access = policy;
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_bundle_risk(cJSON *json, ngx_svc_admin_bundle_t *bundle,
    ngx_svc_error_t *err)
{
    ngx_svc_admin_risk_t  risk;

    ngx_memzero(&risk, sizeof(ngx_svc_admin_risk_t));

    if (ngx_svc_admin_bundle_object(ngx_svc_admin_risk_bundle_members,
                                    "riskPolicy", json, &risk, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (risk.risk_mfa_threshold.integer >= risk.risk_deny_threshold.integer) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"riskPolicy.mfaThreshold\" must be less than "
                            "\"riskPolicy.denyThreshold\".");
    }

    bundle->sections |= 1 << NGX_SVC_ADMIN_RISK;
    ngx_svc_admin_bundle_policy(ngx_svc_admin_risk_members, &risk,
                                &bundle->risk);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_bundle_password(cJSON *json, ngx_svc_admin_bundle_t *bundle,
    ngx_svc_error_t *err)
{
    ngx_svc_admin_password_t  password;

    ngx_memzero(&password, sizeof(ngx_svc_admin_password_t));

    if (ngx_svc_admin_bundle_object(ngx_svc_admin_password_bundle_members,
                                    "passwordPolicy", json, &password, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    bundle->sections |= 1 << NGX_SVC_ADMIN_PASSWORD;
    ngx_svc_admin_bundle_policy(ngx_svc_admin_password_members, &password,
                                &bundle->password);

    return NGX_OK;
}


/* values: the struct that the table of fields describes. */

static void
ngx_svc_admin_bundle_policy(const ngx_svc_member_t *fields, const void *values,
    ngx_svc_admin_bundle_policy_t *policy)
{
    ngx_uint_t              i;
    const ngx_svc_value_t  *value;

    ngx_memzero(policy, sizeof(ngx_svc_admin_bundle_policy_t));

    for (i = 0; fields[i].name.len; i++) {

        value = (const ngx_svc_value_t *)
                    ((const u_char *) values + fields[i].offset);

        if (value->set) {
            policy->set |= 1 << i;
            policy->fields[i] = (int32_t) value->integer;
        }
    }
}


static ngx_int_t
ngx_svc_admin_bundle_overrides(ngx_pool_t *pool, cJSON *json,
    ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err)
{
    ngx_int_t                       rc;
    const ngx_svc_admin_section_t  *section;

    section = &ngx_svc_admin_sections[NGX_SVC_ADMIN_OVERRIDE];

    rc = ngx_svc_admin_bundle_array(pool, json, section, &bundle->overrides,
                                    ngx_svc_admin_bundle_override, err);
    if (rc != NGX_OK) {
        return rc;
    }

    bundle->sections |= 1 << NGX_SVC_ADMIN_OVERRIDE;

    return ngx_svc_admin_bundle_once(&bundle->overrides, section->member,
                                     "groupId", err);
}


static ngx_int_t
ngx_svc_admin_bundle_override(cJSON *json, const char *path, void *element,
    ngx_svc_error_t *err)
{
    ngx_svc_admin_password_t          password;
    ngx_svc_admin_bundle_override_t  *override = element;

    ngx_memzero(&password, sizeof(ngx_svc_admin_password_t));

    if (ngx_svc_admin_bundle_object(ngx_svc_admin_override_bundle_members,
                                    path, json, &password, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (!ngx_svc_admin_password_set(&password)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must set one member at least beside "
                            "\"groupId\".", path);
    }

    override->group_id = password.group_id.str;
    ngx_svc_admin_bundle_policy(ngx_svc_admin_password_members, &password,
                                &override->password);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_bundle_roles(ngx_pool_t *pool, cJSON *json,
    ngx_svc_admin_bundle_t *bundle, ngx_svc_error_t *err)
{
    ngx_int_t                       rc;
    const ngx_svc_admin_section_t  *section;

    section = &ngx_svc_admin_sections[NGX_SVC_ADMIN_ROLE];

    if (cJSON_GetArraySize(json) > NGX_SVC_ADMIN_ROLES) {
        return ngx_svc_fail(err, NGX_SVC_E_LIMIT_EXCEEDED,
                            "\"%s\" must be an array of at most %d elements.",
                            section->member, NGX_SVC_ADMIN_ROLES);
    }

    rc = ngx_svc_admin_bundle_array(pool, json, section, &bundle->roles,
                                    ngx_svc_admin_bundle_role, err);
    if (rc != NGX_OK) {
        return rc;
    }

    bundle->sections |= 1 << NGX_SVC_ADMIN_ROLE;

    return ngx_svc_admin_bundle_once(&bundle->roles, section->member, "key",
                                     err);
}


static ngx_int_t
ngx_svc_admin_bundle_role(cJSON *json, const char *path, void *element,
    ngx_svc_error_t *err)
{
    ngx_svc_admin_role_t          values;
    ngx_svc_admin_bundle_role_t  *role = element;

    ngx_memzero(&values, sizeof(ngx_svc_admin_role_t));

    if (ngx_svc_admin_bundle_object(ngx_svc_admin_role_bundle_members, path,
                                    json, &values, err)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_admin_system_role(&values.key.str)) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                            "\"%s.key\" must not be \"%V\", which is a role "
                            "of every tenant.", path, &values.key.str);
    }

    role->key = values.key.str;
    role->name = values.name.str;
    role->permissions = ngx_svc_permissions_json(values.permissions.json);
    role->members = 0;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_bundle_object(const ngx_svc_member_t *table, const char *path,
    cJSON *json, void *dst, ngx_svc_error_t *err)
{
    static const ngx_svc_member_t  object = { .type = NGX_SVC_T_OBJECT };

    if (ngx_svc_schema_value(&object, json, path, NULL, err) != NGX_OK) {
        return NGX_DECLINED;
    }

    return ngx_svc_schema_nested_flags(table, NGX_SVC_S_STRICT, path, json,
                                       dst, err);
}


static ngx_int_t
ngx_svc_admin_bundle_array(ngx_pool_t *pool, cJSON *json,
    const ngx_svc_admin_section_t *section, ngx_array_t *array,
    ngx_svc_admin_bundle_element_pt parse, ngx_svc_error_t *err)
{
    char                         path[NGX_SVC_ADMIN_BUNDLE_PATH];
    cJSON                       *child;
    ngx_uint_t                   n;
    ngx_svc_admin_bundle_key_t  *element;

    n = cJSON_GetArraySize(json);

    if (ngx_array_init(array, pool, n ? n : 1, section->size) != NGX_OK) {
        return NGX_ERROR;
    }

    for (child = json->child; child; child = child->next) {

        *ngx_snprintf((u_char *) path, sizeof(path) - 1, "%s[%ui]",
                      section->member, array->nelts) = '\0';

        element = ngx_array_push(array);
        if (element == NULL) {
            return NGX_ERROR;
        }

        element->index = array->nelts - 1;

        if (parse(child, path, element, err) != NGX_OK) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


/* Sorts an array, and refuses the first element that is there twice. */

static ngx_int_t
ngx_svc_admin_bundle_once(ngx_array_t *array, const char *name,
    const char *member, ngx_svc_error_t *err)
{
    u_char                      *p;
    ngx_uint_t                   i, first, second;
    ngx_svc_admin_bundle_key_t  *a, *b;

    ngx_svc_admin_bundle_sort(array);

    p = array->elts;
    first = 0;
    second = array->nelts;

    for (i = 1; i < array->nelts; i++, p += array->size) {

        a = (ngx_svc_admin_bundle_key_t *) p;
        b = (ngx_svc_admin_bundle_key_t *) (p + array->size);

        if (b->index < second
            && ngx_svc_admin_bundle_compare(&a->key, &b->key) == 0)
        {
            first = a->index;
            second = b->index;
        }
    }

    if (second == array->nelts) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s[%ui].%s\" must differ from \"%s[%ui].%s\".",
                        name, second, member, name, first, member);
}


ngx_int_t
ngx_svc_admin_bundle_compare(const ngx_str_t *a, const ngx_str_t *b)
{
    return ngx_memn2cmp(a->data, b->data, a->len, b->len);
}


void
ngx_svc_admin_bundle_sort(ngx_array_t *array)
{
    u_char      *p;
    ngx_uint_t   i;

    p = array->elts;

    for (i = 1; i < array->nelts; i++, p += array->size) {

        if (ngx_svc_admin_bundle_order(p, p + array->size) > 0) {
            ngx_qsort(array->elts, array->nelts, array->size,
                      ngx_svc_admin_bundle_order);
            return;
        }
    }
}


static int ngx_libc_cdecl
ngx_svc_admin_bundle_order(const void *one, const void *two)
{
    ngx_int_t                          rc;
    const ngx_svc_admin_bundle_key_t  *a, *b;

    a = one;
    b = two;

    rc = ngx_svc_admin_bundle_compare(&a->key, &b->key);

    if (rc == 0) {
        rc = (a->index > b->index) - (a->index < b->index);
    }

    return (int) rc;
}
