/*
 * Characters and JSON strings inside of filters and paths.
 */

#include "ngx_svc_scim_text.h"


static uint32_t ngx_svc_scim_escape(const u_char **pos, const u_char *end);
static uint32_t ngx_svc_scim_unicode(const u_char **pos, const u_char *end);
static uint32_t ngx_svc_scim_hex(const u_char **pos, const u_char *end);
static size_t ngx_svc_scim_encode(uint32_t c, u_char *dst);


/* nginx's own decoder lets bytes from 0xc0 pass as the second of a sequence. */

uint32_t
ngx_svc_scim_decode(const u_char **pos, const u_char *end)
{
    uint32_t       c, least;
    ngx_uint_t     n;
    const u_char  *p;

    p = *pos;
    c = *p++;

    if (c < 0x80) {
        *pos = p;
        return c;
    }

    if (c >= 0xc2 && c < 0xe0) {
        n = 1;
        least = 0x80;
        c &= 0x1f;

    } else if (c >= 0xe0 && c < 0xf0) {
        n = 2;
        least = 0x800;
        c &= 0x0f;

    } else if (c >= 0xf0 && c < 0xf5) {
        n = 3;
        least = 0x10000;
        c &= 0x07;

    } else {
        return 0;
    }

    for ( /* void */ ; n; n--) {

        if (p == end || (*p & 0xc0) != 0x80) {
            return 0;
        }

        c = (c << 6) | (*p++ & 0x3f);
    }

    if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return 0;
    }

    *pos = p;

    return c;
}


ssize_t
ngx_svc_scim_string(const u_char **pos, const u_char *end, u_char *dst)
{
    size_t         len;
    uint32_t       c;
    const u_char  *p;

    p = *pos;

    if (p == end || *p++ != '"') {
        return NGX_ERROR;
    }

    len = 0;

    while (p < end) {

        if (*p == '"') {
            *pos = p + 1;
            return len;
        }

        if (*p < 0x20) {
            return NGX_ERROR;
        }

        if (*p == '\\') {
            p++;
            c = ngx_svc_scim_escape(&p, end);

        } else {
            c = ngx_svc_scim_decode(&p, end);
        }

        if (c == 0) {
            return NGX_ERROR;
        }

        len += ngx_svc_scim_encode(c, dst ? dst + len : NULL);
    }

    return NGX_ERROR;
}


/* Returns the character that an escape stands for; 0: it is not valid. */

static uint32_t
ngx_svc_scim_escape(const u_char **pos, const u_char *end)
{
    if (*pos == end) {
        return 0;
    }

    switch (*(*pos)++) {

    case '"':
        return '"';

    case '\\':
        return '\\';

    case '/':
        return '/';

    case 'b':
        return '\b';

    case 'f':
        return '\f';

    case 'n':
        return '\n';

    case 'r':
        return '\r';

    case 't':
        return '\t';

    case 'u':
        return ngx_svc_scim_unicode(pos, end);

    default:
        return 0;
    }
}


static uint32_t
ngx_svc_scim_unicode(const u_char **pos, const u_char *end)
{
    uint32_t       c, low;
    const u_char  *p;

    c = ngx_svc_scim_hex(pos, end);

    if (c < 0xd800 || c > 0xdfff) {
        return c;
    }

    p = *pos;

    if (c > 0xdbff || end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return 0;
    }

    p += 2;
    low = ngx_svc_scim_hex(&p, end);

    if (low < 0xdc00 || low > 0xdfff) {
        return 0;
    }

    *pos = p;

    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}


static uint32_t
ngx_svc_scim_hex(const u_char **pos, const u_char *end)
{
    ngx_int_t  n;

    if (end - *pos < 4) {
        return 0;
    }

    n = ngx_hextoi((u_char *) *pos, 4);

    if (n == NGX_ERROR) {
        return 0;
    }

    *pos += 4;

    return n;
}


static size_t
ngx_svc_scim_encode(uint32_t c, u_char *dst)
{
    size_t      n;
    ngx_uint_t  i;

    static const u_char  lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

    n = (c < 0x80) ? 1 : (c < 0x800) ? 2 : (c < 0x10000) ? 3 : 4;

    if (dst) {

        for (i = n - 1; i; i--) {
            dst[i] = 0x80 | (c & 0x3f);
            c >>= 6;
        }

        dst[0] = lead[n] | c;
    }

    return n;
}
