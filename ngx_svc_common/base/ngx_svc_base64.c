/*
 * base64url without padding.
 */

#include "ngx_svc_base64.h"


ngx_int_t
ngx_svc_base64url_decode(const u_char *text, size_t len, u_char *out,
    size_t *out_len)
{
    u_char     last[4];
    size_t     rest;
    ngx_str_t  src, dst;

    *out_len = 0;

    if (len == 0) {
        return NGX_OK;
    }

    src.data = (u_char *) text;
    src.len = len;
    dst.data = out;

    /* ngx_decode_base64url() would stop at a "=" */

    if (memchr(text, '=', len) != NULL
        || ngx_decode_base64url(&dst, &src) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    /* bits beyond the last byte are in the last character */

    rest = dst.len % 3;

    if (rest) {
        (void) ngx_svc_base64url(last, out + dst.len - rest, rest);

        if (last[rest] != text[len - 1]) {
            return NGX_DECLINED;
        }
    }

    *out_len = dst.len;

    return NGX_OK;
}


u_char *
ngx_svc_base64url(u_char *p, const u_char *data, size_t len)
{
    ngx_str_t  src, dst;

    src.data = (u_char *) data;
    src.len = len;
    dst.data = p;

    ngx_encode_base64url(&dst, &src);

    return p + dst.len;
}
