/*
 * Versions of a user (RFC 7644, 3.14): the digits of the time of its last
 * change.
 */

#include "ngx_svc_scim_version.h"
#include "ngx_svc_time.h"


static u_char *ngx_svc_scim_version_next(u_char *p, u_char *end,
    ngx_str_t *version);


u_char *
ngx_svc_scim_version(u_char *p, const ngx_str_t *updated_at)
{
    u_char      text[NGX_SVC_TIME_LEN];
    ngx_uint_t  i;

    ngx_svc_time_text(text, updated_at);

    p = ngx_cpymem(p, "W/\"", 3);

    for (i = 0; i < NGX_SVC_TIME_LEN; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            *p++ = text[i];
        }
    }

    *p++ = '"';

    return p;
}


ngx_int_t
ngx_svc_scim_version_etag(ngx_svc_request_t *sr, const ngx_str_t *updated_at)
{
    ngx_str_t  value;

    value.data = ngx_pnalloc(sr->request->pool, NGX_SVC_SCIM_VERSION_LEN);
    if (value.data == NULL) {
        return NGX_ERROR;
    }

    value.len = ngx_svc_scim_version(value.data, updated_at) - value.data;

    return ngx_svc_send_etag(sr, &value);
}


/*
 * As the text of a PostgreSQL array; NULL: any version will do.  RFC 9110,
 * 13.1.1 would have a weak tag match nothing, RFC 7644 has no other.
 */

ngx_int_t
ngx_svc_scim_version_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    u_char           *p, *end, *dst;
    ngx_str_t         version, versions;
    ngx_table_elt_t  *h;

    static ngx_str_t  none = ngx_string("{}");

    /* RFC 9110, 13.1.2: only of what is not there yet */

    h = sr->request->headers_in.if_none_match;

    if (h && h->value.len == 1 && h->value.data[0] == '*') {
        ngx_svc_pg_bind_str(call, &none);
        return NGX_OK;
    }

    h = sr->request->headers_in.if_match;

    if (h == NULL || (h->value.len == 1 && h->value.data[0] == '*')) {
        ngx_svc_pg_bind_str(call, NULL);
        return NGX_OK;
    }

    dst = ngx_pnalloc(sr->request->pool, h->value.len + sizeof("{}"));
    if (dst == NULL) {
        return NGX_ERROR;
    }

    versions.data = dst;
    *dst++ = '{';

    p = h->value.data;
    end = p + h->value.len;

    while (p < end) {
        p = ngx_svc_scim_version_next(p, end, &version);

        if (version.len == 0) {
            continue;
        }

        if (dst[-1] != '{') {
            *dst++ = ',';
        }

        dst = ngx_cpymem(dst, version.data, version.len);
    }

    *dst++ = '}';
    versions.len = dst - versions.data;

    ngx_svc_pg_bind_str(call, &versions);

    return NGX_OK;
}


/* What follows the next tag; version is empty when it is none of ours. */

static u_char *
ngx_svc_scim_version_next(u_char *p, u_char *end, ngx_str_t *version)
{
    u_char      *start;
    ngx_uint_t   ours;

    version->len = 0;
    ours = 1;

    while (p < end && *p != '"') {
        p++;
    }

    start = ++p;

    for ( /* void */ ; p < end && *p != '"'; p++) {
        if (*p < '0' || *p > '9') {
            ours = 0;
        }
    }

    if (p < end && ours) {
        version->data = start;
        version->len = p - start;
    }

    return p + 1;
}
