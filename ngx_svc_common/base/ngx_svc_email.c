/*
 * E-mail addresses.
 */

#include "ngx_svc_email.h"


static ngx_uint_t ngx_svc_email_blank(uint32_t c);


ngx_int_t
ngx_svc_email_check(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    u_char      *p, *end;
    uint32_t     c;
    ngx_uint_t   at;

    at = 0;
    p = value->str.data;
    end = p + value->str.len;

    if (p == end || value->str.len > NGX_SVC_EMAIL_MAX
        || *p == '@' || end[-1] == '@')
    {
        goto failed;
    }

    while (p < end) {

        c = (*p < 0x80) ? *p++ : ngx_utf8_decode(&p, end - p);

        if (c > 0x10ffff || ngx_svc_email_blank(c)) {
            goto failed;
        }

        at += (c == '@');
    }

    if (at == 1) {
        return NGX_OK;
    }

failed:

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be an e-mail address: one \"@\" with"
                        " something on both sides, no white space or control"
                        " characters, at most %d bytes.",
                        path, NGX_SVC_EMAIL_MAX);
}


/* Unicode's control characters and White_Space. */

static ngx_uint_t
ngx_svc_email_blank(uint32_t c)
{
    return c <= 0x20
           || (c >= 0x7f && c <= 0xa0)
           || c == 0x1680
           || (c >= 0x2000 && c <= 0x200a)
           || c == 0x2028
           || c == 0x2029
           || c == 0x202f
           || c == 0x205f
           || c == 0x3000;
}
