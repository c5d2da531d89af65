/*
 * The filter of GET /Users (RFC 7644, 3.4.2.2), as far as it is recognised.
 */

#include "ngx_svc_scim_filter.h"
#include "ngx_svc_scim_text.h"


typedef struct {
    ngx_str_t              name;
    ngx_svc_scim_filter_e  attribute;
} ngx_svc_scim_filter_name_t;


static const u_char *ngx_svc_scim_filter_space(const u_char *p,
    const u_char *end);
static const u_char *ngx_svc_scim_filter_word(const u_char *p,
    const u_char *end);
static ngx_svc_scim_filter_e ngx_svc_scim_filter_attribute(const u_char *p,
    size_t len);


static const ngx_svc_scim_filter_name_t  ngx_svc_scim_filter_names[] = {
    { ngx_string("userName"), NGX_SVC_SCIM_FILTER_USER_NAME },
    { ngx_string("externalId"), NGX_SVC_SCIM_FILTER_EXTERNAL_ID },
    { ngx_string(NGX_SVC_SCIM_CORE_URN ":userName"),
      NGX_SVC_SCIM_FILTER_USER_NAME },
    { ngx_string(NGX_SVC_SCIM_CORE_URN ":externalId"),
      NGX_SVC_SCIM_FILTER_EXTERNAL_ID },
};


ngx_int_t
ngx_svc_scim_filter_parse(const u_char *text, size_t len, u_char *buf,
    ngx_svc_scim_filter_t *filter)
{
    ssize_t                 n;
    const u_char           *p, *last, *end;
    ngx_svc_scim_filter_e   attribute;

    ngx_memzero(filter, sizeof(ngx_svc_scim_filter_t));

    end = text + len;

    p = ngx_svc_scim_filter_space(text, end);
    last = ngx_svc_scim_filter_word(p, end);

    attribute = ngx_svc_scim_filter_attribute(p, last - p);
    if (attribute == NGX_SVC_SCIM_FILTER_NONE) {
        return NGX_DECLINED;
    }

    p = ngx_svc_scim_filter_space(last, end);
    last = ngx_svc_scim_filter_word(p, end);

    if (last - p != 2 || ngx_strncasecmp((u_char *) p, (u_char *) "eq", 2)) {
        return NGX_DECLINED;
    }

    p = ngx_svc_scim_filter_space(last, end);
    if (p == last) {
        return NGX_DECLINED;
    }

    n = ngx_svc_scim_string(&p, end, buf);

    if (n == NGX_ERROR || ngx_svc_scim_filter_space(p, end) != end) {
        return NGX_DECLINED;
    }

    filter->attribute = attribute;
    filter->value.data = buf;
    filter->value.len = n;

    return NGX_OK;
}


static const u_char *
ngx_svc_scim_filter_space(const u_char *p, const u_char *end)
{
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }

    return p;
}


static const u_char *
ngx_svc_scim_filter_word(const u_char *p, const u_char *end)
{
    while (p < end && *p != ' ' && *p != '\t' && *p != '"') {
        p++;
    }

    return p;
}


static ngx_svc_scim_filter_e
ngx_svc_scim_filter_attribute(const u_char *p, size_t len)
{
    ngx_uint_t                         i;
    const ngx_svc_scim_filter_name_t  *row;

    for (i = 0;
         i < sizeof(ngx_svc_scim_filter_names)
             / sizeof(ngx_svc_scim_filter_name_t);
         i++)
    {
        row = &ngx_svc_scim_filter_names[i];

        if (len == row->name.len
            && ngx_strncasecmp((u_char *) p, row->name.data, len) == 0)
        {
            return row->attribute;
        }
    }

    return NGX_SVC_SCIM_FILTER_NONE;
}
