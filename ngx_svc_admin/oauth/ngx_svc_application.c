/*
 * Applications: their types, and the parameters that are made of a body.
 */

#include "ngx_svc_application.h"
#include "ngx_svc_application_resource.h"


typedef ngx_uint_t (*ngx_svc_application_may_pt)(
    const ngx_svc_application_type_t *type, const ngx_svc_application_t *app);


static ngx_uint_t ngx_svc_application_may_grant(
    const ngx_svc_application_type_t *type, const ngx_svc_application_t *app);
static ngx_uint_t ngx_svc_application_may_prove(
    const ngx_svc_application_type_t *type, const ngx_svc_application_t *app);
static ngx_int_t ngx_svc_application_bind_types(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_application_t *app,
    ngx_svc_application_may_pt may);


#define NGX_SVC_APPLICATION_TYPE_SIZE(name, ...)  + sizeof(name)
#define NGX_SVC_APPLICATION_TYPE_ROW(name, prefix, may, grants, scopes, ttl,  \
    consent, method)                                                          \
    { name, prefix, may, method },

static const ngx_svc_application_type_t  ngx_svc_application_types[] = {
    NGX_SVC_APPLICATION_TYPES(NGX_SVC_APPLICATION_TYPE_ROW)
    { NULL, NULL, 0, NULL }
};

/* the first is the lowest bit */

const char *const  ngx_svc_application_grant_names[] = {
    "authorization_code", "refresh_token", "client_credentials",
    NGX_SVC_GRANT_EXCHANGE_NAME, NULL
};


#include "ngx_svc_application.sql.h"


ngx_uint_t
ngx_svc_application_grants(const ngx_svc_value_t *value)
{
    cJSON       *grant;
    ngx_uint_t   i, grants;

    grants = 0;
    grant = value->set ? value->json->child : NULL;

    for ( /* void */ ; grant; grant = grant->next) {
        for (i = 0; ngx_svc_application_grant_names[i]; i++) {

            if (ngx_strcmp(ngx_svc_application_grant_names[i],
                           grant->valuestring)
                == 0)
            {
                grants |= 1 << i;
            }
        }
    }

    return grants;
}


ngx_uint_t
ngx_svc_application_by_keys(const ngx_svc_application_t *app)
{
    return app->method.set
           ? ngx_strcmp(app->method.str.data, NGX_SVC_APPLICATION_BY_KEYS) == 0
           : app->profile.set && !app->profile.null;
}


const ngx_svc_application_type_t *
ngx_svc_application_type(const ngx_str_t *name)
{
    const ngx_svc_application_type_t  *type;

    for (type = ngx_svc_application_types; type->name; type++) {
        if (ngx_strlen(type->name) == name->len
            && ngx_memcmp(type->name, name->data, name->len) == 0)
        {
            return type;
        }
    }

    return NULL;
}


ngx_uint_t
ngx_svc_application_id(const ngx_str_t *text)
{
    size_t                             i;
    const ngx_svc_application_type_t  *type;

    if (text->len != NGX_SVC_APPLICATION_ID) {
        return 0;
    }

    for (i = NGX_SVC_APPLICATION_PREFIX; i < text->len; i++) {
        if (!isdigit(text->data[i])
            && (text->data[i] < 'a' || text->data[i] > 'f'))
        {
            return 0;
        }
    }

    for (type = ngx_svc_application_types; type->name; type++) {
        if (ngx_memcmp(text->data, type->prefix, NGX_SVC_APPLICATION_PREFIX)
            == 0)
        {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_application_bind_id(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    if (!ngx_svc_application_id(&sr->params[param->n])) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                            NGX_SVC_NO_APPLICATION);
    }

    ngx_svc_pg_bind_str(call, &sr->params[param->n]);

    return NGX_OK;
}


ngx_int_t
ngx_svc_application_bind_strings(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    ngx_str_t         text;
    ngx_svc_value_t  *value;

    value = (ngx_svc_value_t *) ((u_char *) body + param->offset);

    if (!value->set || value->null) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    if (ngx_svc_application_strings(sr->request->pool, value->json, &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &text);

    return NGX_OK;
}


ngx_int_t
ngx_svc_application_strings(ngx_pool_t *pool, const cJSON *array,
    ngx_str_t *text)
{
    u_char       *p;
    size_t        size;
    const cJSON  *string;

    size = sizeof("{}");

    for (string = array->child; string; string = string->next) {
        size += ngx_strlen(string->valuestring) + sizeof("\"\",");
    }

    p = ngx_pnalloc(pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    *p++ = '{';

    for (string = array->child; string; string = string->next) {
        p = ngx_sprintf(p, "\"%s\"%s", string->valuestring,
                        string->next ? "," : "");
    }

    *p++ = '}';
    text->len = p - text->data;

    return NGX_OK;
}


ngx_int_t
ngx_svc_application_bind_grants(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    return ngx_svc_application_bind_types(sr, call, body,
                                          ngx_svc_application_may_grant);
}


ngx_int_t
ngx_svc_application_bind_method(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    return ngx_svc_application_bind_types(sr, call, body,
                                          ngx_svc_application_may_prove);
}


static ngx_uint_t
ngx_svc_application_may_grant(const ngx_svc_application_type_t *type,
    const ngx_svc_application_t *app)
{
    return (ngx_svc_application_grants(&app->grant_types) & ~type->grants)
           == 0;
}


static ngx_uint_t
ngx_svc_application_may_prove(const ngx_svc_application_type_t *type,
    const ngx_svc_application_t *app)
{
    return !app->method.set
           || ngx_strcmp(type->method, app->method.str.data) == 0
           || (ngx_svc_application_by_keys(app)
               && ngx_strcmp(type->method, "none") != 0);
}


static ngx_int_t
ngx_svc_application_bind_types(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_application_t *app, ngx_svc_application_may_pt may)
{
    u_char                            *p;
    ngx_str_t                          text;
    const ngx_svc_application_type_t  *type;

    p = ngx_pnalloc(sr->request->pool, sizeof("{}")
            NGX_SVC_APPLICATION_TYPES(NGX_SVC_APPLICATION_TYPE_SIZE));
    if (p == NULL) {
        return NGX_ERROR;
    }

    text.data = p;
    *p++ = '{';

    for (type = ngx_svc_application_types; type->name; type++) {
        if (may(type, app)) {
            p = ngx_sprintf(p, "%s%s", p == text.data + 1 ? "" : ",",
                            type->name);
        }
    }

    *p++ = '}';
    text.len = p - text.data;

    ngx_svc_pg_bind_str(call, &text);

    return NGX_OK;
}


ngx_int_t
ngx_svc_application_bind_key(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t         key;
    ngx_svc_value_t  *uri;

    uri = (ngx_svc_value_t *) ((u_char *) body + param->offset);

    if (!uri->set || uri->null) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    key.data = ngx_pnalloc(sr->request->pool, uri->str.len + 1);

    if (key.data == NULL
        || ngx_svc_application_resource(&uri->str, &key) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &key);

    return NGX_OK;
}
