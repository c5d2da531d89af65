/*
 * The values of governance.
 */

#include "ngx_svc_admin_governance.h"
#include "ngx_svc_crypto.h"


static ngx_int_t ngx_svc_admin_permission_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_uuid_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_role_key_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


/* Sorted: a permission's bit is 1 << its index. */

static const ngx_str_t  ngx_svc_admin_permissions[] = {
    ngx_string("apps:manage"),
    ngx_string("audit:view"),
    ngx_string("groups:manage"),
    ngx_string("members:manage"),
    ngx_string("roles:manage"),
    ngx_string("tenant:manage"),
    ngx_string("users:view")
};


const ngx_svc_member_t  ngx_svc_admin_permission_element = {
    ngx_string("permission"), NGX_SVC_T_STRING, 0, 0, 0,
    ngx_svc_admin_permission_check, NULL, NULL, 0
};


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
      &ngx_svc_admin_permission_element,                                      \
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
    { "owner", "Owner", (1 << NGX_SVC_ADMIN_PERMISSIONS) - 1 },
    { "admin", "Administrator", (1 << NGX_SVC_ADMIN_PERMISSIONS) - 1 },
    { "member", "Member", 0 },
    { NULL, NULL, 0 }
};


ngx_uint_t
ngx_svc_admin_permission(const u_char *data, size_t len)
{
    ngx_uint_t        i;
    const ngx_str_t  *p;

    for (i = 0; i < NGX_SVC_ADMIN_PERMISSIONS; i++) {
        p = &ngx_svc_admin_permissions[i];

        if (p->len == len && p->data[0] == data[0]
            && ngx_memcmp(p->data, data, len) == 0)
        {
            return 1 << i;
        }
    }

    return 0;
}


const ngx_str_t *
ngx_svc_admin_permission_name(ngx_uint_t mask)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_ADMIN_PERMISSIONS - 1; i++) {
        if (mask & (1 << i)) {
            break;
        }
    }

    return &ngx_svc_admin_permissions[i];
}


ngx_uint_t
ngx_svc_admin_permissions_of(const ngx_str_t *array)
{
    u_char      *p, *start, *end;
    ngx_uint_t   mask;

    mask = 0;
    end = array->data + array->len;

    for (p = array->data; p < end; p++) {

        start = p;

        while (p < end && *p != '{' && *p != '}' && *p != ',' && *p != '"') {
            p++;
        }

        mask |= ngx_svc_admin_permission(start, p - start);
    }

    return mask;
}


ngx_uint_t
ngx_svc_admin_permissions_json(cJSON *array)
{
    cJSON       *element;
    ngx_uint_t   mask;

    mask = 0;

    for (element = array->child; element; element = element->next) {
        mask |= ngx_svc_admin_permission((u_char *) element->valuestring,
                                         ngx_strlen(element->valuestring));
    }

    return mask;
}


void
ngx_svc_admin_permissions_write(ngx_svc_json_writer_t *w, const char *key,
    ngx_uint_t mask)
{
    ngx_uint_t        i;
    const ngx_str_t  *p;

    ngx_svc_json_open(w, key, '[');

    for (i = 0; i < NGX_SVC_ADMIN_PERMISSIONS; i++) {
        if (mask & (1 << i)) {
            p = &ngx_svc_admin_permissions[i];
            ngx_svc_json_plain(w, NULL, p->data, p->len);
        }
    }

    ngx_svc_json_close(w, ']');
}


ngx_int_t
ngx_svc_admin_permissions_text(ngx_pool_t *pool, ngx_uint_t mask,
    ngx_str_t *text)
{
    u_char      *p;
    size_t       len;
    ngx_uint_t   i;

    len = sizeof("{}");

    for (i = 0; i < NGX_SVC_ADMIN_PERMISSIONS; i++) {
        len += ngx_svc_admin_permissions[i].len + 1;
    }

    p = ngx_pnalloc(pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    *p++ = '{';

    for (i = 0; i < NGX_SVC_ADMIN_PERMISSIONS; i++) {

        if (!(mask & (1 << i))) {
            continue;
        }

        if (p[-1] != '{') {
            *p++ = ',';
        }

        p = ngx_cpymem(p, ngx_svc_admin_permissions[i].data,
                       ngx_svc_admin_permissions[i].len);
    }

    *p++ = '}';
    text->len = p - text->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_permission_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_permission(value->str.data, value->str.len)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a permission such as "
                        "\"tenant:manage\".", path);
}


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
