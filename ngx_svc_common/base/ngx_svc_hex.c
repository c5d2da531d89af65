/*
 * Hexadecimal digits as bytes.
 */

#include "ngx_svc_hex.h"


/* The value of a digit, plus one; 0 for any other byte. */

static const u_char  ngx_svc_hex_digits[256] = {
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6,
    ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12,
    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
    ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16
};


ngx_int_t
ngx_svc_hex(const u_char *text, size_t n, u_char *out)
{
    u_char         high, low;
    const u_char  *end;

    for (end = text + 2 * n; text < end; text += 2) {
        high = ngx_svc_hex_digits[text[0]];
        low = ngx_svc_hex_digits[text[1]];

        if (high == 0 || low == 0) {
            return NGX_DECLINED;
        }

        *out++ = (u_char) ((high - 1) << 4 | (low - 1));
    }

    return NGX_OK;
}


ngx_int_t
ngx_svc_hex_bytea(const ngx_str_t *text, u_char *out, size_t *len)
{
    size_t  n;

    if (text->len < 2 || text->len % 2
        || text->data[0] != '\\' || text->data[1] != 'x')
    {
        return NGX_DECLINED;
    }

    n = text->len / 2 - 1;

    if (n > *len) {
        return NGX_DECLINED;
    }

    *len = n;

    return ngx_svc_hex(text->data + 2, n, out);
}
