/*
 * Where browsers are sent to.
 */

#include "ngx_svc_login_url.h"
#include "ngx_svc_admin_conf.h"


static ngx_uint_t ngx_svc_login_url_dots(const ngx_str_t *path);


ngx_str_t
ngx_svc_login_url(ngx_http_request_t *r)
{
    ngx_svc_admin_loc_conf_t  *alcf;

    static const ngx_str_t  login = ngx_string("/login");

    alcf = ngx_http_get_module_loc_conf(r, ngx_http_svc_admin_module);

    return alcf->login_url.len ? alcf->login_url : login;
}


/* A path ends, or goes on with a character that begins something new. */

ngx_uint_t
ngx_svc_login_url_leads(const ngx_str_t *path)
{
    u_char      *next;
    size_t       i;
    ngx_uint_t   page;

    static const struct {
        ngx_str_t    path;
        const char  *next;
    } pages[] = {
        { ngx_string("/oauth/authorize"), "?" },
        { ngx_string("/console"), "/?" },
        { ngx_string("/account"), "?" }
    };

    if (path->len == 0 || path->len > NGX_SVC_RETURN_TO) {
        return 0;
    }

    for (i = 0; i < path->len; i++) {
        if (path->data[i] <= 0x20 || path->data[i] >= 0x7f
            || path->data[i] == '\\')
        {
            return 0;
        }
    }

    for (page = 0; page < sizeof(pages) / sizeof(pages[0]); page++) {

        if (path->len < pages[page].path.len
            || ngx_memcmp(path->data, pages[page].path.data,
                          pages[page].path.len)
               != 0)
        {
            continue;
        }

        next = path->data + pages[page].path.len;

        if (path->len == pages[page].path.len) {
            return page != 0;
        }

        return ngx_strchr(pages[page].next, *next) != NULL
               && !ngx_svc_login_url_dots(path);
    }

    return 0;
}


/*
 * Returns 1 if a segment is "." or "..", of which browsers make another path;
 * they read %2e as a dot.
 */

static ngx_uint_t
ngx_svc_login_url_dots(const ngx_str_t *path)
{
    u_char      *p, *last;
    ngx_uint_t   dots;

    p = path->data;
    last = path->data + path->len;

    while (p < last && *p != '?' && *p != '#') {

        if (*p++ != '/') {
            continue;
        }

        for (dots = 0; dots < 3; dots++) {

            if (p < last && *p == '.') {
                p++;

            } else if (last - p >= 3
                       && ngx_strncasecmp(p, (u_char *) "%2e", 3) == 0)
            {
                p += 3;

            } else {
                break;
            }
        }

        if ((dots == 1 || dots == 2)
            && (p == last || ngx_strchr("/?#", *p) != NULL))
        {
            return 1;
        }
    }

    return 0;
}
