/*
 * UTF-8 that is valid for every reader.
 */

#include "ngx_svc_utf8.h"


ngx_int_t
ngx_svc_utf8(const u_char *text, size_t len)
{
    const u_char  *p, *end;

    end = text + len;

    for (p = text; p < end; /* void */ ) {

        if (*p < 0x80) {
            p++;

        } else if (ngx_svc_utf8_char(&p, end) != NGX_OK) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_utf8_char(const u_char **p, const u_char *end)
{
    u_char         low, high;
    ngx_uint_t     n;
    const u_char  *c;

    c = *p;

    /* the range of the second byte excludes overlong forms and surrogates */

    low = 0x80;
    high = 0xbf;

    if (c[0] >= 0xc2 && c[0] <= 0xdf) {
        n = 1;

    } else if (c[0] >= 0xe0 && c[0] <= 0xef) {
        n = 2;
        low = (c[0] == 0xe0) ? 0xa0 : 0x80;
        high = (c[0] == 0xed) ? 0x9f : 0xbf;

    } else if (c[0] >= 0xf0 && c[0] <= 0xf4) {
        n = 3;
        low = (c[0] == 0xf0) ? 0x90 : 0x80;
        high = (c[0] == 0xf4) ? 0x8f : 0xbf;

    } else {
        return NGX_DECLINED;
    }

    if (end - c <= (ssize_t) n || c[1] < low || c[1] > high) {
        return NGX_DECLINED;
    }

    for (c += 2, n--; n; c++, n--) {
        if ((*c & 0xc0) != 0x80) {
            return NGX_DECLINED;
        }
    }

    *p = c;

    return NGX_OK;
}
