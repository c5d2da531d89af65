/*
 * AI agents: the body of a policy.
 */

#include "ngx_svc_agent.h"
#include "ngx_svc_application_resource.h"
#include "ngx_svc_application_scope.h"


static ngx_int_t ngx_svc_agent_keys(ngx_svc_request_t *sr,
    const ngx_svc_value_t *audiences, ngx_str_t *text);
static ngx_uint_t ngx_svc_agent_twice(const ngx_str_t *keys, ngx_uint_t n);


static const ngx_svc_member_t  ngx_svc_agent_scope_element = {
    .name = ngx_string("allowedScopes"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_APPLICATION_SCOPE,
    .check = ngx_svc_application_check_scope
};

static const ngx_svc_member_t  ngx_svc_agent_audience_element = {
    .name = ngx_string("allowedAudiences"),
    .type = NGX_SVC_T_STRING,
    .min = 1,
    .max = NGX_SVC_APPLICATION_RESOURCE,
    .check = ngx_svc_application_check_resource
};

const ngx_svc_member_t  ngx_svc_agent_policy_members[] = {

    { .name = ngx_string("enabled"),
      .type = NGX_SVC_T_BOOLEAN,
      .offset = offsetof(ngx_svc_agent_policy_t, enabled) },

    { .name = ngx_string("maxTokenTtlSeconds"),
      .type = NGX_SVC_T_INTEGER|NGX_SVC_T_NULL,
      .min = 60,
      .max = 86400,
      .offset = offsetof(ngx_svc_agent_policy_t, max_ttl) },

    { .name = ngx_string("allowedScopes"),
      .type = NGX_SVC_T_ARRAY|NGX_SVC_T_NULL,
      .element = &ngx_svc_agent_scope_element,
      .offset = offsetof(ngx_svc_agent_policy_t, scopes) },

    { .name = ngx_string("allowedAudiences"),
      .type = NGX_SVC_T_ARRAY|NGX_SVC_T_NULL,
      .element = &ngx_svc_agent_audience_element,
      .offset = offsetof(ngx_svc_agent_policy_t, audiences) },

    ngx_svc_read_only_member("isDefault"),

    ngx_svc_null_member
};


#include "ngx_svc_agent.sql.h"


ngx_int_t
ngx_svc_agent_policy_check(ngx_svc_request_t *sr, void *body)
{
    ngx_svc_agent_policy_t  *policy = body;

    if (ngx_svc_application_count(sr, &policy->scopes,
                                  NGX_SVC_APPLICATION_SCOPES, "allowedScopes")
        != NGX_OK
        || ngx_svc_application_count(sr, &policy->audiences,
                                     NGX_SVC_AGENT_AUDIENCES,
                                     "allowedAudiences")
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_svc_agent_keys(sr, &policy->audiences, &policy->keys);
}


/* Writes the array of keys.  They have no quotes and no backslashes. */

static ngx_int_t
ngx_svc_agent_keys(ngx_svc_request_t *sr, const ngx_svc_value_t *audiences,
    ngx_str_t *text)
{
    cJSON       *uri;
    u_char      *p;
    size_t       size;
    ngx_str_t    given, keys[NGX_SVC_AGENT_AUDIENCES];
    ngx_uint_t   n;

    if (!audiences->set || audiences->null) {
        return NGX_OK;
    }

    size = sizeof("{}");

    for (uri = audiences->json->child; uri; uri = uri->next) {
        size += ngx_strlen(uri->valuestring) + 1 + sizeof("\"\",");
    }

    p = ngx_pnalloc(sr->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;
    *p++ = '{';

    for (n = 0, uri = audiences->json->child; uri; n++, uri = uri->next) {
        given.data = (u_char *) uri->valuestring;
        given.len = ngx_strlen(given.data);

        *p++ = '"';
        keys[n].data = p;

        if (ngx_svc_application_resource(&given, &keys[n]) != NGX_OK) {
            return NGX_ERROR;
        }

        if (ngx_svc_agent_twice(keys, n)) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                "\"allowedAudiences\" has a URI twice.");
        }

        p += keys[n].len;
        p = ngx_sprintf(p, "\"%s", uri->next ? "," : "");
    }

    *p++ = '}';
    text->len = p - text->data;

    return NGX_OK;
}


/* Returns 1 if the n-th key is one of those before it. */

static ngx_uint_t
ngx_svc_agent_twice(const ngx_str_t *keys, ngx_uint_t n)
{
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        if (keys[i].len == keys[n].len
            && ngx_memcmp(keys[i].data, keys[n].data, keys[n].len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_agent_bind_keys(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_agent_policy_t  *policy = body;

    ngx_svc_pg_bind_str(call, policy->keys.data ? &policy->keys : NULL);

    return NGX_OK;
}
