/*
 * Permissions.
 */

#include "ngx_svc_permission.h"


static ngx_uint_t ngx_svc_permission_bit(const u_char *data, size_t len);
static ngx_int_t ngx_svc_permission_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#define NGX_SVC_PERMISSION_STRING(id, name)  ngx_string(name),

static const ngx_str_t  ngx_svc_permission_names[] = {
    ngx_string(""),
    NGX_SVC_PERMISSIONS(NGX_SVC_PERMISSION_STRING)
    ngx_string("scim")
};


const ngx_svc_member_t  ngx_svc_permission_element = {
    .name = ngx_string("permission"),
    .type = NGX_SVC_T_STRING,
    .check = ngx_svc_permission_check
};


const ngx_str_t *
ngx_svc_permission_name(ngx_svc_permission_e p)
{
    return &ngx_svc_permission_names[p];
}


ngx_svc_permission_e
ngx_svc_permission_first(ngx_uint_t set)
{
    ngx_uint_t  i;

    for (i = 1; i < NGX_SVC_P_SCIM; i++) {
        if (set & (1 << i)) {
            break;
        }
    }

    return i;
}


/* Returns the bit of the permission with that name; 0: it is not known. */

static ngx_uint_t
ngx_svc_permission_bit(const u_char *data, size_t len)
{
    ngx_uint_t        i;
    const ngx_str_t  *p;

    for (i = 1; i < NGX_SVC_P_SCIM; i++) {
        p = &ngx_svc_permission_names[i];

        if (p->len == len && ngx_memcmp(p->data, data, len) == 0) {
            return 1 << i;
        }
    }

    return 0;
}


ngx_uint_t
ngx_svc_permissions_of(const ngx_str_t *array)
{
    u_char      *p, *start, *end;
    ngx_uint_t   set;

    set = 0;
    end = array->data + array->len;

    for (p = array->data; p < end; p++) {

        start = p;

        while (p < end && *p != '{' && *p != '}' && *p != ',' && *p != '"') {
            p++;
        }

        set |= ngx_svc_permission_bit(start, p - start);
    }

    return set;
}


ngx_uint_t
ngx_svc_permissions_json(cJSON *array)
{
    cJSON       *element;
    ngx_uint_t   set;

    set = 0;

    for (element = array->child; element; element = element->next) {
        set |= ngx_svc_permission_bit((u_char *) element->valuestring,
                                      ngx_strlen(element->valuestring));
    }

    return set;
}


void
ngx_svc_permissions_write(ngx_svc_json_writer_t *w, const char *key,
    ngx_uint_t set)
{
    ngx_uint_t        i;
    const ngx_str_t  *p;

    ngx_svc_json_open(w, key, '[');

    for (i = 1; i < NGX_SVC_P_SCIM; i++) {
        if (set & (1 << i)) {
            p = &ngx_svc_permission_names[i];
            ngx_svc_json_plain(w, NULL, p->data, p->len);
        }
    }

    ngx_svc_json_close(w, ']');
}


ngx_int_t
ngx_svc_permissions_text(ngx_pool_t *pool, ngx_uint_t set,
    ngx_str_t *text)
{
    u_char      *p;
    size_t       len;
    ngx_uint_t   i;

    len = sizeof("{}");

    for (i = 1; i < NGX_SVC_P_SCIM; i++) {
        len += ngx_svc_permission_names[i].len + 1;
    }

    p = ngx_pnalloc(pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    *p++ = '{';

    for (i = 1; i < NGX_SVC_P_SCIM; i++) {

        if (!(set & (1 << i))) {
            continue;
        }

        if (p[-1] != '{') {
            *p++ = ',';
        }

        p = ngx_cpymem(p, ngx_svc_permission_names[i].data,
                       ngx_svc_permission_names[i].len);
    }

    *p++ = '}';
    text->len = p - text->data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_permission_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_permission_bit(value->str.data, value->str.len)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a permission such as "
                        "\"tenant:manage\".", path);
}
