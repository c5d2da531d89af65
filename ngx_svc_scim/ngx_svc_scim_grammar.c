/*
 * The grammar of attribute paths (RFC 7644, 3.5.2).
 */

#include "ngx_svc_scim_grammar.h"


static ngx_int_t ngx_svc_scim_attr_uri(const u_char *p, const u_char *end);
static const u_char *ngx_svc_scim_attr_name(const u_char *p,
    const u_char *end);


ngx_int_t
ngx_svc_scim_attr_path(const u_char *p, const u_char *end,
    ngx_svc_scim_attr_path_t *path)
{
    const u_char  *q;

    ngx_memzero(path, sizeof(ngx_svc_scim_attr_path_t));

    for (q = end; q > p && q[-1] != ':'; q--) { /* void */ }

    if (q > p) {

        if (ngx_svc_scim_attr_uri(p, q - 1) != NGX_OK) {
            return NGX_ERROR;
        }

        path->urn.data = (u_char *) p;
        path->urn.len = q - 1 - p;
    }

    p = q;
    q = ngx_svc_scim_attr_name(p, end);

    path->name.data = (u_char *) p;
    path->name.len = q - p;

    if (q < end && *q == '.') {

        p = q + 1;
        q = ngx_svc_scim_sub_attr(p, end);

        if (q == p) {
            return NGX_ERROR;
        }

        path->sub.data = (u_char *) p;
        path->sub.len = q - p;
    }

    return (path->name.len && q == end) ? NGX_OK : NGX_ERROR;
}


const u_char *
ngx_svc_scim_sub_attr(const u_char *p, const u_char *end)
{
    const u_char  *q;

    if (p == end || *p != '$') {
        return ngx_svc_scim_attr_name(p, end);
    }

    q = ngx_svc_scim_attr_name(p + 1, end);

    return (q > p + 1) ? q : p;
}


ngx_uint_t
ngx_svc_scim_name_is(const ngx_str_t *name, const ngx_str_t *text)
{
    return name->len == text->len
           && ngx_strncasecmp(name->data, text->data, text->len) == 0;
}


/*
 * Checks for a scheme, a colon and characters of RFC 3986, other than brackets.
 */

static ngx_int_t
ngx_svc_scim_attr_uri(const u_char *p, const u_char *end)
{
    u_char         c;
    ngx_uint_t     colon;
    const char    *marks;
    const u_char  *start;

    colon = 0;
    marks = "+-.";

    for (start = p; p < end; p++) {

        c = *p | 0x20;

        if (c >= 'a' && c <= 'z') {
            continue;
        }

        if (p == start) {
            return NGX_ERROR;
        }

        if (*p >= '0' && *p <= '9') {
            continue;
        }

        if (*p == ':') {
            colon = 1;
            marks = "-._~/?#@!$&'()*+,;=%";
            continue;
        }

        if (*p == '\0' || ngx_strchr(marks, *p) == NULL) {
            return NGX_ERROR;
        }
    }

    return (colon && end[-1] != ':') ? NGX_OK : NGX_ERROR;
}


/* Returns the end of an ATTRNAME (RFC 7643, 2.1) at p; p when there is none. */

static const u_char *
ngx_svc_scim_attr_name(const u_char *p, const u_char *end)
{
    u_char         c;
    const u_char  *start;

    for (start = p; p < end; p++) {

        c = *p | 0x20;

        if (c >= 'a' && c <= 'z') {
            continue;
        }

        if (p > start
            && ((*p >= '0' && *p <= '9')
                || *p == '-' || *p == '_' || *p == '$'))
        {
            continue;
        }

        break;
    }

    return p;
}
