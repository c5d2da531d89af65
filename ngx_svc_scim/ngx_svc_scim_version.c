/*
 * Versions of a user (RFC 7644, 3.14): the digits of the time of its last
 * change.
 */

#include "ngx_svc_scim_version.h"
#include "ngx_svc_time.h"


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


/* RFC 7644 has weak tags alone, so that If-Match compares these. */

ngx_int_t
ngx_svc_scim_version_bind(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_str_t         versions;
    ngx_table_elt_t  *h;

    h = sr->request->headers_in.if_none_match;

    if (h && h->value.len == 1 && h->value.data[0] == '*') {

        /* RFC 9110, 13.1.2: the user must not exist yet, and does */

        ngx_str_set(&versions, "{}");

    } else if (ngx_svc_if_match(sr, &versions) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, versions.data ? &versions : NULL);

    return NGX_OK;
}
