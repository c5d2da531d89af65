/*
 * Functions for parsing and compiling policies.
 */

#include "ngx_svc_access_policy.h"


const char *
ngx_svc_access_path(const ngx_svc_access_parse_t *parse,
    char *path, const char *fmt, ...)
{
    u_char   *p, *last;
    va_list   args;

    p = (u_char *) path;
    last = p + NGX_SVC_ACCESS_PATH - 1;

    p = ngx_slprintf(p, last, "%s%s", parse->path, parse->path[0] ? "." : "");

    va_start(args, fmt);
    p = ngx_vslprintf(p, last, fmt, args);
    va_end(args);

    *p = '\0';

    return path;
}


void *
ngx_svc_access_alloc(ngx_pool_t *pool, ngx_svc_access_policy_t *policy,
    size_t size)
{
    policy->size += size;

    return ngx_palloc(pool, size);
}


ngx_int_t
ngx_svc_access_limit(const ngx_svc_access_parse_t *parse, cJSON *array,
    ngx_uint_t limit, const char *path)
{
    ngx_uint_t  n;

    n = cJSON_GetArraySize(array);

    if (n <= limit) {
        return NGX_OK;
    }

    return ngx_svc_fail(parse->err, NGX_SVC_E_LIMIT_EXCEEDED,
                        "\"%s\" has %ui elements, and may have %ui at most.",
                        path, n, limit);
}
