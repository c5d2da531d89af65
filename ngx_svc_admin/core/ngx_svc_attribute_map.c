/*
 * Maps from the members of a user to attributes.
 */

#include "ngx_svc_attribute_map.h"


#define NGX_SVC_ATTRIBUTE_NAME  255     /* bytes */
#define NGX_SVC_ATTRIBUTE_MAP   1024    /* bytes of JSON, first guess */

#define NGX_SVC_ATTRIBUTE_KEYS                                                \
    "\"email\", \"firstName\", \"lastName\", \"displayName\", \"title\","     \
    " \"department\", \"locale\" and \"externalId\""


static ngx_uint_t ngx_svc_attribute_known(const char *key);
static ngx_uint_t ngx_svc_attribute_name(cJSON *name);


const char *const  ngx_svc_attribute_keys[NGX_SVC_ATTRIBUTES + 1] = {
    [NGX_SVC_ATTRIBUTE_EMAIL] = "email",
    [NGX_SVC_ATTRIBUTE_FIRST_NAME] = "firstName",
    [NGX_SVC_ATTRIBUTE_LAST_NAME] = "lastName",
    [NGX_SVC_ATTRIBUTE_DISPLAY_NAME] = "displayName",
    [NGX_SVC_ATTRIBUTE_TITLE] = "title",
    [NGX_SVC_ATTRIBUTE_DEPARTMENT] = "department",
    [NGX_SVC_ATTRIBUTE_LOCALE] = "locale",
    [NGX_SVC_ATTRIBUTE_EXTERNAL_ID] = "externalId",
    [NGX_SVC_ATTRIBUTES] = NULL
};


ngx_int_t
ngx_svc_attribute_map_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err)
{
    cJSON  *item;

    for (item = value->json->child; item; item = item->next) {

        if (!ngx_svc_attribute_known(item->string)) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s\" may have the members "
                                NGX_SVC_ATTRIBUTE_KEYS ", and no others.",
                                path);
        }

        if (!ngx_svc_attribute_name(item)) {
            return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                                "\"%s.%s\" must be the name of an attribute: 1 "
                                "to %d visible ASCII characters without quotes "
                                "and backslashes.", path, item->string,
                                NGX_SVC_ATTRIBUTE_NAME);
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_attribute_map_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    cJSON                  *item;
    ngx_svc_value_t        *value;
    ngx_svc_json_writer_t   w;

    value = (ngx_svc_value_t *) ((u_char *) body + param->offset);

    if (!value->set || value->null) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    if (ngx_svc_json_writer_init(&w, sr->request->pool, NGX_SVC_ATTRIBUTE_MAP)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    for (item = value->json->child; item; item = item->next) {
        ngx_svc_json_plain(&w, item->string, (u_char *) item->valuestring,
                           ngx_strlen(item->valuestring));
    }

    ngx_svc_json_close(&w, '}');

    if (w.failed) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind(call, w.start, w.last - w.start);

    return NGX_OK;
}


ngx_int_t
ngx_svc_attribute_map_read(ngx_pool_t *pool, ngx_str_t *map,
    ngx_str_t names[NGX_SVC_ATTRIBUTES])
{
    cJSON            *json, *name;
    ngx_uint_t        i;
    ngx_svc_error_t   err;

    ngx_memzero(names, NGX_SVC_ATTRIBUTES * sizeof(ngx_str_t));

    if (map->data == NULL) {
        return NGX_OK;
    }

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(pool, map, &json, &err) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        name = cJSON_GetObjectItemCaseSensitive(json,
                                                ngx_svc_attribute_keys[i]);
        if (cJSON_IsString(name)) {
            names[i].data = (u_char *) name->valuestring;
            names[i].len = ngx_strlen(name->valuestring);
        }
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_attribute_known(const char *key)
{
    const char *const  *known;

    for (known = ngx_svc_attribute_keys; *known; known++) {
        if (ngx_strcmp(*known, key) == 0) {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_svc_attribute_name(cJSON *name)
{
    size_t  i;
    char   *text;

    if (!cJSON_IsString(name)) {
        return 0;
    }

    text = name->valuestring;

    for (i = 0; text[i]; i++) {
        if (text[i] <= ' ' || text[i] >= 0x7f || text[i] == '"'
            || text[i] == '\\')
        {
            return 0;
        }
    }

    return i && i <= NGX_SVC_ATTRIBUTE_NAME;
}
