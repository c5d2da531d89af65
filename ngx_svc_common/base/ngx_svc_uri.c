/*
 * The characters of URIs, and one spelling of them.
 */

#include "ngx_svc_uri.h"
#include "ngx_svc_hex.h"

#include <ctype.h>


size_t
ngx_svc_uri_bytes(const u_char *p, size_t len)
{
    size_t  i;

    for (i = 0; i < len; i++) {
        if (p[i] <= ' ' || p[i] >= 0x7f || ngx_strchr("\"#<>\\^`{|}", p[i])) {
            break;
        }
    }

    return i;
}


u_char *
ngx_svc_uri_origin(u_char *dst, u_char *p, const u_char *end)
{
    size_t      i, len;
    ngx_uint_t  n;

    static const struct {
        ngx_str_t  scheme;
        ngx_str_t  port;
    } own[] = {
        { ngx_string("https://"), ngx_string(":443") },
        { ngx_string("http://"), ngx_string(":80") }
    };

    len = end - p;
    ngx_strlow(dst, p, len);

    for (n = 0; n < sizeof(own) / sizeof(own[0]); n++) {
        i = own[n].scheme.len + own[n].port.len;

        if (len > i
            && ngx_memcmp(dst, own[n].scheme.data, own[n].scheme.len) == 0
            && ngx_memcmp(dst + len - own[n].port.len, own[n].port.data,
                          own[n].port.len) == 0)
        {
            len -= own[n].port.len;
            break;
        }
    }

    return dst + len;
}


u_char *
ngx_svc_uri_path(u_char *dst, const u_char *p, const u_char *end)
{
    u_char  c;

    while (p < end) {

        if (*p != '%') {
            *dst++ = *p++;
            continue;
        }

        if (end - p < 3 || ngx_svc_hex(p + 1, 1, &c) != NGX_OK || c < 0x20
            || c == 0x7f)
        {
            return NULL;
        }

        if (isalnum(c) || ngx_strchr("-._~", c)) {
            *dst++ = c;

        } else {
            *dst++ = '%';
            *dst++ = ngx_toupper(p[1]);
            *dst++ = ngx_toupper(p[2]);
        }

        p += 3;
    }

    return dst;
}
