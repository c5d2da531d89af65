/*
 * Outbound SCIM: reads resources of a target.
 */

#include "ngx_svc_push_read.h"


const cJSON *
ngx_svc_push_read_member(const cJSON *resource, const char *name)
{
    const cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(resource, name);

    return item ? item : cJSON_GetObjectItem(resource, name);
}


ngx_int_t
ngx_svc_push_read_text(const cJSON *resource, const char *name, ngx_str_t *text)
{
    const cJSON  *item;

    item = ngx_svc_push_read_member(resource, name);

    if (!cJSON_IsString(item)) {
        ngx_str_null(text);
        return NGX_DECLINED;
    }

    text->data = (u_char *) item->valuestring;
    text->len = ngx_strlen(text->data);

    return NGX_OK;
}


ngx_uint_t
ngx_svc_push_read_is(const cJSON *resource, const char *name,
    const ngx_str_t *value, ngx_uint_t exact)
{
    ngx_str_t  text;

    (void) ngx_svc_push_read_text(resource, name, &text);

    if (text.len != value->len) {
        return 0;
    }

    if (text.len == 0) {
        return 1;
    }

    return (exact ? ngx_memcmp(text.data, value->data, text.len)
                  : ngx_strncasecmp(text.data, value->data, text.len)) == 0;
}


/* The ids "." and ".." would change the path of the URL. */

ngx_int_t
ngx_svc_push_read_id(const cJSON *resource, ngx_str_t *id)
{
    size_t  i;

    (void) ngx_svc_push_read_text(resource, "id", id);

    if (id->len == 0 || id->len > NGX_SVC_PUSH_ID
        || (id->data[0] == '.'
            && (id->len == 1 || (id->len == 2 && id->data[1] == '.'))))
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < id->len; i++) {
        if (id->data[i] < 0x20 || id->data[i] == 0x7f) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_push_read_active(const cJSON *resource)
{
    const cJSON  *active;

    active = ngx_svc_push_read_member(resource, "active");

    if (!cJSON_IsBool(active)) {
        return -1;
    }

    return cJSON_IsTrue(active) ? 1 : 0;
}


const cJSON *
ngx_svc_push_read_list(const cJSON *list)
{
    const cJSON  *resources;

    resources = ngx_svc_push_read_member(list, "Resources");

    return cJSON_IsArray(resources) ? resources : NULL;
}


ngx_uint_t
ngx_svc_push_read_find(const cJSON *list, const ngx_svc_push_want_t *want,
    ngx_svc_push_by_e by, const cJSON **resource)
{
    ngx_uint_t    n;
    const char   *name;
    const cJSON  *item;
    ngx_str_t     value;

    if (by == NGX_SVC_PUSH_BY_NAME) {
        name = "userName";
        value = want->user_name;

    } else {
        name = "externalId";
        value = want->id;
    }

    n = 0;
    item = ngx_svc_push_read_list(list);

    for (item = item ? item->child : NULL; item && value.len; item = item->next)
    {
        if (ngx_svc_push_read_is(item, name, &value,
                                 by == NGX_SVC_PUSH_BY_ID))
        {
            *resource = item;
            n++;
        }
    }

    return n;
}
