/*
 * Bidirectional control characters.
 */

#include "ngx_svc_bidi.h"


static size_t ngx_svc_bidi_at(const u_char *p, const u_char *end);


ngx_uint_t
ngx_svc_bidi(const ngx_str_t *text)
{
    const u_char  *p, *end;

    end = text->data + text->len;

    for (p = text->data; p < end; p++) {
        if (ngx_svc_bidi_at(p, end)) {
            return 1;
        }
    }

    return 0;
}


void
ngx_svc_bidi_strip(ngx_str_t *text)
{
    size_t   n;
    u_char  *p, *dst, *end;

    p = text->data;
    dst = p;
    end = p + text->len;

    while (p < end) {
        n = ngx_svc_bidi_at(p, end);

        if (n) {
            p += n;

        } else {
            *dst++ = *p++;
        }
    }

    text->len = dst - text->data;
}


/* Returns the length of such a character at p, or 0 if there is none. */

static size_t
ngx_svc_bidi_at(const u_char *p, const u_char *end)
{
    if (p[0] == 0xd8) {
        return (end - p >= 2 && p[1] == 0x9c) ? 2 : 0;
    }

    if (p[0] != 0xe2 || end - p < 3) {
        return 0;
    }

    if (p[1] == 0x80) {
        return (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae))
               ? 3 : 0;
    }

    return (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9) ? 3 : 0;
}


ngx_int_t
ngx_svc_check_name(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    if (!ngx_svc_bidi(&value->str)) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must not have characters that change the "
                        "direction of text: U+061C, U+200E, U+200F, U+202A to "
                        "U+202E, U+2066 to U+2069.", path);
}
