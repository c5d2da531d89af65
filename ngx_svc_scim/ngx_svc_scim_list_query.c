/*
 * What a client asks of a list.
 */

#include "ngx_svc_scim.h"
#include "ngx_svc_scim_list_query.h"


#define NGX_SVC_SCIM_SEARCH_URN                                               \
    "urn:ietf:params:scim:api:messages:2.0:SearchRequest"


static ngx_int_t ngx_svc_scim_query_number(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *text, int32_t *n);
static ngx_int_t ngx_svc_scim_query_sort(ngx_svc_request_t *sr,
    ngx_str_t *by, ngx_str_t *order, ngx_svc_scim_query_t *query);
static ngx_int_t ngx_svc_scim_query_schemas(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_query_member(ngx_svc_request_t *sr,
    const char *name, cJSON **member);
static ngx_int_t ngx_svc_scim_query_string(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *text);
static ngx_int_t ngx_svc_scim_query_integer(ngx_svc_request_t *sr,
    const char *name, int32_t *n);
static ngx_int_t ngx_svc_scim_query_names(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *text);
static void ngx_svc_scim_query_bounds(ngx_svc_scim_query_t *query);


ngx_int_t
ngx_svc_scim_query_args(ngx_svc_request_t *sr, ngx_svc_scim_query_t *query)
{
    ngx_int_t  rc;
    ngx_str_t  start, count, by, order;

    rc = ngx_svc_scim_mask(sr, NULL);
    query->mask = (uintptr_t) sr->data;

    if (rc == NGX_OK) {
        rc = ngx_svc_argument(sr, "filter", &query->filter);

        if (rc == NGX_DECLINED) {
            sr->error.kind = NGX_SVC_E_INVALID_FILTER;
        }
    }

    if (rc != NGX_OK
        || (rc = ngx_svc_argument(sr, "startIndex", &start)) != NGX_OK
        || (rc = ngx_svc_argument(sr, "count", &count)) != NGX_OK
        || (rc = ngx_svc_argument(sr, "sortBy", &by)) != NGX_OK
        || (rc = ngx_svc_argument(sr, "sortOrder", &order)) != NGX_OK)
    {
        return rc;
    }

    query->start = 1;
    query->count = NGX_SVC_SCIM_LIST_MAX;

    if ((start.data
         && ngx_svc_scim_query_number(sr, "startIndex", &start, &query->start)
            != NGX_OK)
        || (count.data
            && ngx_svc_scim_query_number(sr, "count", &count, &query->count)
               != NGX_OK))
    {
        return NGX_DECLINED;
    }

    ngx_svc_scim_query_bounds(query);

    return ngx_svc_scim_query_sort(sr, &by, &order, query);
}


/* A number that is too great for *n becomes the greatest. */

static ngx_int_t
ngx_svc_scim_query_number(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *text, int32_t *n)
{
    u_char      *p, *end;
    int64_t      value;
    ngx_uint_t   negative;

    p = text->data;
    end = p + text->len;

    negative = p < end && *p == '-';
    p += negative;

    if (p == end) {
        goto invalid;
    }

    for (value = 0; p < end; p++) {
        if (*p < '0' || *p > '9') {
            goto invalid;
        }

        value = ngx_min(value * 10 + (*p - '0'), INT32_MAX);
    }

    *n = (int32_t) (negative ? -value : value);

    return NGX_OK;

invalid:

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be an integer.", name);
}


static void
ngx_svc_scim_query_bounds(ngx_svc_scim_query_t *query)
{
    query->start = ngx_max(query->start, 1);
    query->count = ngx_max(query->count, 0);
    query->count = ngx_min(query->count, NGX_SVC_SCIM_LIST_MAX);
}


static ngx_int_t
ngx_svc_scim_query_sort(ngx_svc_request_t *sr, ngx_str_t *by,
    ngx_str_t *order, ngx_svc_scim_query_t *query)
{
    ngx_svc_scim_attr_path_t  path;

    static const ngx_str_t  ascending = ngx_string("ascending");
    static const ngx_str_t  descending = ngx_string("descending");

    query->sort = NULL;
    query->descending = 0;

    if (order->len) {
        query->descending = ngx_svc_scim_name_is(&descending, order);

        if (!query->descending && !ngx_svc_scim_name_is(&ascending, order)) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                "\"sortOrder\" must be \"ascending\" or "
                                "\"descending\".");
        }
    }

    if (by->len == 0) {
        query->descending = 0;
        return NGX_OK;
    }

    if (ngx_svc_scim_attr_path(by->data, by->data + by->len, &path) == NGX_OK) {
        query->sort = ngx_svc_scim_attr(&path);
    }

    if (query->sort == NULL || query->sort->sort == NULL) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"sortBy\" must be userName, emails.value, id, "
                            "externalId, meta.created or meta.lastModified.");
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_scim_query_body(ngx_svc_request_t *sr, ngx_svc_scim_query_t *query)
{
    ngx_int_t  rc;
    ngx_str_t  by, order, attributes, excluded;

    query->start = 1;
    query->count = NGX_SVC_SCIM_LIST_MAX;

    if ((rc = ngx_svc_scim_query_schemas(sr)) != NGX_OK
        || (rc = ngx_svc_scim_query_string(sr, "filter", &query->filter))
           != NGX_OK
        || (rc = ngx_svc_scim_query_string(sr, "sortBy", &by)) != NGX_OK
        || (rc = ngx_svc_scim_query_string(sr, "sortOrder", &order)) != NGX_OK
        || (rc = ngx_svc_scim_query_integer(sr, "startIndex", &query->start))
           != NGX_OK
        || (rc = ngx_svc_scim_query_integer(sr, "count", &query->count))
           != NGX_OK
        || (rc = ngx_svc_scim_query_names(sr, "attributes", &attributes))
           != NGX_OK
        || (rc = ngx_svc_scim_query_names(sr, "excludedAttributes",
                                          &excluded))
           != NGX_OK)
    {
        return rc;
    }

    query->mask = ngx_svc_scim_projection(attributes.data ? &attributes : NULL,
                                          excluded.data ? &excluded : NULL);
    ngx_svc_scim_query_bounds(query);

    return ngx_svc_scim_query_sort(sr, &by, &order, query);
}


/* Checks for the URN of a search, which is required (RFC 7644, 3.4.3). */

static ngx_int_t
ngx_svc_scim_query_schemas(ngx_svc_request_t *sr)
{
    cJSON  *schemas;

    if (ngx_svc_scim_query_member(sr, "schemas", &schemas) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (schemas == NULL) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_SYNTAX,
                            "\"schemas\" is required.");
    }

    return ngx_svc_scim_user_schemas(sr->json, NGX_SVC_SCIM_SEARCH_URN,
                                     NGX_SVC_E_INVALID_SYNTAX, &sr->error);
}


/* Sets *member to NULL when it is absent or null. */

static ngx_int_t
ngx_svc_scim_query_member(ngx_svc_request_t *sr, const char *name,
    cJSON **member)
{
    if (ngx_svc_scim_user_member(sr->json, name, member, &sr->error)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (cJSON_IsNull(*member)) {
        *member = NULL;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_query_string(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *text)
{
    cJSON  *member;

    ngx_str_null(text);

    if (ngx_svc_scim_query_member(sr, name, &member) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (member == NULL) {
        return NGX_OK;
    }

    if (!cJSON_IsString(member)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_SYNTAX,
                            "\"%s\" must be a string.", name);
    }

    text->data = (u_char *) member->valuestring;
    text->len = ngx_strlen(text->data);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_scim_query_integer(ngx_svc_request_t *sr, const char *name, int32_t *n)
{
    cJSON   *member;
    double   value;

    if (ngx_svc_scim_query_member(sr, name, &member) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (member == NULL) {
        return NGX_OK;
    }

    value = member->valuedouble;

    if (!cJSON_IsNumber(member)
        || (value > -INT32_MAX && value < INT32_MAX
            && value != (double) (int32_t) value))
    {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"%s\" must be an integer.", name);
    }

    *n = (value >= INT32_MAX) ? INT32_MAX
         : (value <= -INT32_MAX) ? -INT32_MAX
         : (int32_t) value;

    return NGX_OK;
}


/* Joins the names with commas, as a query has them. */

static ngx_int_t
ngx_svc_scim_query_names(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *text)
{
    size_t   len;
    cJSON   *member, *item;
    u_char  *p;

    ngx_str_null(text);

    if (ngx_svc_scim_query_member(sr, name, &member) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (member == NULL) {
        return NGX_OK;
    }

    len = 1;

    cJSON_ArrayForEach(item, member) {

        if (!cJSON_IsArray(member) || !cJSON_IsString(item)) {
            break;
        }

        len += ngx_strlen(item->valuestring) + 1;
    }

    if (!cJSON_IsArray(member) || item) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_SYNTAX,
                            "\"%s\" must be an array of strings.", name);
    }

    p = ngx_pnalloc(sr->request->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;

    cJSON_ArrayForEach(item, member) {
        p = ngx_cpymem(p, item->valuestring, ngx_strlen(item->valuestring));
        *p++ = ',';
    }

    text->len = p - text->data;

    return NGX_OK;
}
