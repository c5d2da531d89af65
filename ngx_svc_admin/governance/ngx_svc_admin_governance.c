/*
 * The values of governance.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_crypto.h"


static ngx_int_t ngx_svc_admin_uuid_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_role_key_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#define ngx_svc_admin_risk_rows(flags)                                        \
                                                                              \
    { ngx_string("enabled"), NGX_SVC_T_BOOLEAN, flags, 0, 0,                  \
      NULL, NULL, NULL, offsetof(ngx_svc_admin_risk_t, enabled) },            \
                                                                              \
    { ngx_string("mfaThreshold"), NGX_SVC_T_INTEGER, flags, 0, 100,           \
      NULL, NULL, NULL, offsetof(ngx_svc_admin_risk_t, mfa_threshold) },      \
                                                                              \
    { ngx_string("denyThreshold"), NGX_SVC_T_INTEGER, flags, 1, 100,          \
      NULL, NULL, NULL, offsetof(ngx_svc_admin_risk_t, deny_threshold) },     \
                                                                              \
    ngx_svc_null_member

const ngx_svc_member_t  ngx_svc_admin_risk_members[] = {
    ngx_svc_admin_risk_rows(0)
};

const ngx_svc_member_t  ngx_svc_admin_risk_bundle_members[] = {
    ngx_svc_admin_risk_rows(NGX_SVC_M_REQUIRED)
};


const ngx_svc_admin_password_field_t
    ngx_svc_admin_password_fields[NGX_SVC_ADMIN_PASSWORD_FIELDS] =
{
    { "minLength", NGX_SVC_T_INTEGER },
    { "rejectBreached", NGX_SVC_T_BOOLEAN },
    { "rejectContextual", NGX_SVC_T_BOOLEAN },
    { "requireLower", NGX_SVC_T_BOOLEAN },
    { "requireUpper", NGX_SVC_T_BOOLEAN },
    { "requireDigit", NGX_SVC_T_BOOLEAN },
    { "requireSymbol", NGX_SVC_T_BOOLEAN },
    { "historyCount", NGX_SVC_T_INTEGER },
    { "maxAgeDays", NGX_SVC_T_INTEGER },
};


#define ngx_svc_admin_password_row(name, i, type, flags, min, max)            \
    { ngx_string(name), type, flags, min, max, NULL, NULL, NULL,              \
      offsetof(ngx_svc_admin_password_t, fields)                              \
      + (i) * sizeof(ngx_svc_value_t) }

/* null: 0, or NGX_SVC_T_NULL where it is as good as absent */

#define ngx_svc_admin_password_rows(null, flags)                              \
    ngx_svc_admin_password_row("minLength", 0,                                \
        NGX_SVC_T_INTEGER|(null), flags, 8, 128),                             \
    ngx_svc_admin_password_row("rejectBreached", 1,                           \
        NGX_SVC_T_BOOLEAN|(null), flags, 0, 0),                               \
    ngx_svc_admin_password_row("rejectContextual", 2,                         \
        NGX_SVC_T_BOOLEAN|(null), flags, 0, 0),                               \
    ngx_svc_admin_password_row("requireLower", 3,                             \
        NGX_SVC_T_BOOLEAN|(null), flags, 0, 0),                               \
    ngx_svc_admin_password_row("requireUpper", 4,                             \
        NGX_SVC_T_BOOLEAN|(null), flags, 0, 0),                               \
    ngx_svc_admin_password_row("requireDigit", 5,                             \
        NGX_SVC_T_BOOLEAN|(null), flags, 0, 0),                               \
    ngx_svc_admin_password_row("requireSymbol", 6,                            \
        NGX_SVC_T_BOOLEAN|(null), flags, 0, 0),                               \
    ngx_svc_admin_password_row("historyCount", 7,                             \
        NGX_SVC_T_INTEGER|(null), flags, 0, 24),                              \
    ngx_svc_admin_password_row("maxAgeDays", 8,                               \
        NGX_SVC_T_INTEGER|(null), flags, 0, 3650)

#define ngx_svc_admin_override_group                                          \
    { ngx_string("groupId"), NGX_SVC_T_STRING, NGX_SVC_M_REQUIRED, 0, 0,      \
      ngx_svc_admin_uuid_check, NULL, NULL,                                   \
      offsetof(ngx_svc_admin_password_t, group_id) }

const ngx_svc_member_t  ngx_svc_admin_password_members[] = {
    ngx_svc_admin_password_rows(0, 0),
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_password_bundle_members[] = {
    ngx_svc_admin_password_rows(0, NGX_SVC_M_REQUIRED),
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_override_members[] = {
    ngx_svc_admin_password_rows(NGX_SVC_T_NULL, 0),
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_override_create_members[] = {
    ngx_svc_admin_override_group,
    ngx_svc_admin_password_rows(NGX_SVC_T_NULL, 0),
    ngx_svc_null_member
};

const ngx_svc_member_t  ngx_svc_admin_override_bundle_members[] = {
    ngx_svc_admin_override_group,
    ngx_svc_admin_password_rows(0, 0),
    ngx_svc_null_member
};


#define ngx_svc_admin_role_key(flags)                                         \
    { ngx_string("key"), NGX_SVC_T_STRING, flags, 0, 0,                       \
      ngx_svc_admin_role_key_check, NULL, NULL,                               \
      offsetof(ngx_svc_admin_role_t, key) }

#define ngx_svc_admin_role_rows(flags)                                        \
                                                                              \
    { ngx_string("name"), NGX_SVC_T_TEXT, flags, 1, 100, NULL, NULL, NULL,    \
      offsetof(ngx_svc_admin_role_t, name) },                                 \
                                                                              \
    { ngx_string("permissions"), NGX_SVC_T_ARRAY, flags, 0, 100, NULL, NULL,  \
      &ngx_svc_permission_element,                                      \
      offsetof(ngx_svc_admin_role_t, permissions) },                          \
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


/* Ids are text, case-exact. */

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
ngx_svc_admin_password_set(ngx_svc_admin_password_t *password)
{
    ngx_uint_t  i, n;

    n = 0;

    for (i = 0; i < NGX_SVC_ADMIN_PASSWORD_FIELDS; i++) {
        if (password->fields[i].set && !password->fields[i].null) {
            n++;
        }
    }

    return n;
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


ngx_uint_t
ngx_svc_admin_system_role(const ngx_str_t *key)
{
    const ngx_svc_admin_system_role_t  *role;

    for (role = ngx_svc_admin_system_roles; role->key; role++) {
        if (key->len == ngx_strlen(role->key)
            && ngx_memcmp(key->data, role->key, key->len) == 0)
        {
            return 1;
        }
    }

    return 0;
}
