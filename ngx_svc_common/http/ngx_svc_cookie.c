/*
 * Cookies (RFC 6265).
 */

#include "ngx_svc_cookie.h"
#include "ngx_svc_header.h"


#define NGX_SVC_COOKIE_HOST  "__Host-"


static ngx_uint_t ngx_svc_cookie_next(u_char **pos, u_char *end,
    ngx_str_t *name, ngx_str_t *value);


ngx_int_t
ngx_svc_cookie(ngx_http_request_t *r, const ngx_str_t *name, ngx_str_t *value)
{
    u_char           *p, *end;
    ngx_str_t         key, text;
    ngx_uint_t        n;
    ngx_table_elt_t  *h;

    n = 0;
    h = NULL;

    for ( ;; ) {
        h = ngx_svc_header_in(r, "Cookie", sizeof("Cookie") - 1, h);
        if (h == NULL) {
            break;
        }

        p = h->value.data;
        end = p + h->value.len;

        while (ngx_svc_cookie_next(&p, end, &key, &text)) {
            if (key.len == name->len
                && ngx_strncmp(key.data, name->data, key.len) == 0)
            {
                *value = text;
                n++;
            }
        }
    }

    return n == 0 ? NGX_DONE : n == 1 ? NGX_OK : NGX_DECLINED;
}


/* Finds the next cookie of a header; returns 0 when there are no more. */

static ngx_uint_t
ngx_svc_cookie_next(u_char **pos, u_char *end, ngx_str_t *name,
    ngx_str_t *value)
{
    u_char  *p, *last, *equal;

    p = *pos;

    while (p < end && (*p == ' ' || *p == '\t' || *p == ';')) {
        p++;
    }

    if (p == end) {
        return 0;
    }

    last = ngx_strlchr(p, end, ';');
    if (last == NULL) {
        last = end;
    }

    *pos = last;

    while (last > p && (last[-1] == ' ' || last[-1] == '\t')) {
        last--;
    }

    equal = ngx_strlchr(p, last, '=');

    name->data = p;
    name->len = (equal ? equal : last) - p;
    value->data = equal ? equal + 1 : last;
    value->len = last - value->data;

    return 1;
}


ngx_int_t
ngx_svc_cookie_set(ngx_svc_request_t *sr, const ngx_str_t *name,
    const ngx_str_t *value, time_t age, ngx_uint_t flags)
{
    u_char      *p;
    size_t       len;
    ngx_str_t    header;
    ngx_uint_t   secure;

    secure = ngx_svc_cookie_secure(sr);

    len = sizeof(NGX_SVC_COOKIE_HOST "=; Path=/; SameSite=Lax; Secure; "
                 "HttpOnly; Max-Age=")
          + NGX_TIME_T_LEN + name->len + value->len;

    p = ngx_pnalloc(sr->request->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    header.data = p;

    p = ngx_sprintf(p, "%s%V=", secure ? NGX_SVC_COOKIE_HOST : "", name);

    if (!(flags & NGX_SVC_COOKIE_DELETE)) {
        p = ngx_cpymem(p, value->data, value->len);
    }

    p = ngx_sprintf(p, "; Path=/%s%s; SameSite=Lax",
                    secure ? "; Secure" : "",
                    (flags & NGX_SVC_COOKIE_HTTP_ONLY) ? "; HttpOnly" : "");

    if (age || (flags & NGX_SVC_COOKIE_DELETE)) {
        p = ngx_sprintf(p, "; Max-Age=%T",
                        (flags & NGX_SVC_COOKIE_DELETE) ? 0 : age);
    }

    header.len = p - header.data;

    return ngx_svc_add_header(sr->request, "Set-Cookie", &header);
}


ngx_uint_t
ngx_svc_cookie_secure(ngx_svc_request_t *sr)
{
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(sr->request,
                                        ngx_http_svc_common_module);

    return ngx_strncmp(slcf->base_url.data, "http:", sizeof("http:") - 1) != 0;
}
