/*
 * The values of governance.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_crypto.h"


static ngx_int_t ngx_svc_admin_uuid_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_role_key_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


/* Rows for the fields of a policy; s: the struct of its values. */

#define ngx_svc_admin_field_row(s, column, title, types, how, least, most)    \
    { .name = ngx_string(title),                                              \
      .type = types,                                                          \
      .flags = how,                                                           \
      .min = least,                                                           \
      .max = most,                                                            \
      .offset = offsetof(s, column) },

#define ngx_svc_admin_field(s, n, column, name, type, min, max)               \
    ngx_svc_admin_field_row(s, column, #name, type,                           \
                            0, min, max)

#define ngx_svc_admin_field_required(s, n, column, name, type, min, max)      \
    ngx_svc_admin_field_row(s, column, #name, type,                           \
                            NGX_SVC_M_REQUIRED, min, max)

#define ngx_svc_admin_field_or_null(s, n, column, name, type, min, max)       \
    ngx_svc_admin_field_row(s, column, #name,                                 \
                            type|NGX_SVC_T_NULL,                              \
                            0, min, max)

const ngx_svc_member_t  ngx_svc_admin_risk_members[] = {
    NGX_SVC_ADMIN_RISK_FIELDS(ngx_svc_admin_field, , ngx_svc_admin_risk_t)
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_risk_bundle_members[] = {
    NGX_SVC_ADMIN_RISK_FIELDS(ngx_svc_admin_field_required, ,
                              ngx_svc_admin_risk_t)
    ngx_svc_null_member
};


#define ngx_svc_admin_override_read_only                                      \
    ngx_svc_read_only_member("groupName"),                                    \
    ngx_svc_read_only_member("createdAt"),                                    \
    ngx_svc_read_only_member("updatedAt"),

#define ngx_svc_admin_override_group                                          \
    { .name = ngx_string("groupId"),                                          \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = NGX_SVC_M_REQUIRED,                                            \
      .check = ngx_svc_admin_uuid_check,                                      \
      .offset = offsetof(ngx_svc_admin_password_t, group_id) }

const ngx_svc_member_t  ngx_svc_admin_password_members[] = {
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field, ,
                                  ngx_svc_admin_password_t)
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_password_bundle_members[] = {
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_required, ,
                                  ngx_svc_admin_password_t)
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_override_members[] = {
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_or_null, ,
                                  ngx_svc_admin_password_t)
    ngx_svc_read_only_member("groupId"),
    ngx_svc_admin_override_read_only
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_override_create_members[] = {
    ngx_svc_admin_override_group,
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field_or_null, ,
                                  ngx_svc_admin_password_t)
    ngx_svc_admin_override_read_only
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_override_bundle_members[] = {
    ngx_svc_admin_override_group,
    NGX_SVC_ADMIN_PASSWORD_FIELDS(ngx_svc_admin_field, ,
                                  ngx_svc_admin_password_t)
    ngx_svc_null_member
};


#define ngx_svc_admin_role_key(how)                                           \
                                                                              \
    { .name = ngx_string("key"),                                              \
      .type = NGX_SVC_T_STRING,                                               \
      .flags = how,                                                           \
      .check = ngx_svc_admin_role_key_check,                                  \
      .offset = offsetof(ngx_svc_admin_role_t, key) }

#define ngx_svc_admin_role_rows(how)                                          \
                                                                              \
    { .name = ngx_string("name"),                                             \
      .type = NGX_SVC_T_TEXT,                                                 \
      .flags = how,                                                           \
      .min = 1,                                                               \
      .max = 100,                                                             \
      .check = ngx_svc_check_name,                                            \
      .offset = offsetof(ngx_svc_admin_role_t, name) },                       \
                                                                              \
    { .name = ngx_string("permissions"),                                      \
      .type = NGX_SVC_T_ARRAY,                                                \
      .flags = how,                                                           \
      .max = 100,                                                             \
      .element = &ngx_svc_permission_element,                                 \
      .offset = offsetof(ngx_svc_admin_role_t, permissions) },                \
                                                                              \
    ngx_svc_null_member

const ngx_svc_member_t  ngx_svc_admin_role_create_members[] = {
    ngx_svc_admin_role_key(0),
    ngx_svc_admin_role_rows(NGX_SVC_M_REQUIRED)
};

const ngx_svc_member_t  ngx_svc_admin_role_members[] = {
    ngx_svc_admin_role_rows(0)
};

const ngx_svc_member_t  ngx_svc_admin_role_bundle_members[] = {
    ngx_svc_admin_role_key(NGX_SVC_M_REQUIRED),
    ngx_svc_admin_role_rows(NGX_SVC_M_REQUIRED)
};


const ngx_svc_admin_system_role_t  ngx_svc_admin_system_roles[] = {
    { "owner", "Owner", NGX_SVC_P_ALL },
    { "admin", "Administrator", NGX_SVC_P_ALL },
    { "member", "Member", 0 },
    { NULL, NULL, 0 }
};


/* Ids are case-exact texts. */

static ngx_int_t
ngx_svc_admin_uuid_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    u_char  id[NGX_SVC_UUID_LEN], text[NGX_SVC_UUID_TEXT_LEN];

    if (ngx_svc_uuid_parse(value->str.data, value->str.len, id) == NGX_OK
        && (ngx_svc_uuid_text(text, id),
            ngx_memcmp(text, value->str.data, sizeof(text)) == 0))
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be the id of a group.", path);
}


static ngx_int_t
ngx_svc_admin_role_key_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_role_key_valid(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be 2 to %d of a-z, 0-9, \"_\" and \"-\", "
                        "the first of them a letter.", path,
                        NGX_SVC_ADMIN_ROLE_KEY);
}


ngx_uint_t
ngx_svc_admin_password_set(const ngx_svc_admin_password_t *password)
{
    const ngx_svc_value_t   *value;
    const ngx_svc_member_t  *field;

    for (field = ngx_svc_admin_password_members; field->name.len; field++) {

        value = (const ngx_svc_value_t *)
                    ((const u_char *) password + field->offset);

        if (value->set && !value->null) {
            return 1;
        }
    }

    return 0;
}


ngx_uint_t
ngx_svc_admin_role_key_valid(const ngx_str_t *key)
{
    u_char  c;
    size_t  i;

    if (key->len < 2 || key->len > NGX_SVC_ADMIN_ROLE_KEY) {
        return 0;
    }

    for (i = 0; i < key->len; i++) {
        c = key->data[i];

        if (c >= 'a' && c <= 'z') {
            continue;
        }

        if (i == 0 || ((c < '0' || c > '9') && c != '_' && c != '-')) {
            return 0;
        }
    }

    return 1;
}


const ngx_svc_admin_system_role_t *
ngx_svc_admin_system_role(const ngx_str_t *key)
{
    const ngx_svc_admin_system_role_t  *role;

    for (role = ngx_svc_admin_system_roles; role->key; role++) {
        if (key->len == ngx_strlen(role->key)
            && ngx_memcmp(key->data, role->key, key->len) == 0)
        {
            return role;
        }
    }

    return NULL;
}
