/*
 * Checks texts for the header of a mail.
 */

#include "ngx_svc_mail_address.h"


static ngx_int_t ngx_svc_mail_next(u_char **p, u_char *end, uint32_t *c);


ngx_int_t
ngx_svc_mail_address(const ngx_str_t *address)
{
    u_char      *p, *end;
    uint32_t     c;
    ngx_uint_t   at;

    if (address->len < 3 || address->len > NGX_SVC_MAIL_ADDRESS_MAX) {
        return NGX_DECLINED;
    }

    at = 0;
    p = address->data;
    end = p + address->len;

    if (*p == '@' || end[-1] == '@') {
        return NGX_DECLINED;
    }

    while (p < end) {
        if (ngx_svc_mail_next(&p, end, &c) != NGX_OK || c == ' '
            || (c < 0x80 && ngx_strchr("<>\",;:()[]\\", (int) c)))
        {
            return NGX_DECLINED;
        }

        at += (c == '@');
    }

    return at == 1 ? NGX_OK : NGX_DECLINED;
}


ngx_uint_t
ngx_svc_mail_text(const ngx_str_t *text)
{
    u_char    *p, *end;
    uint32_t   c;

    p = text->data;
    end = p + text->len;

    while (p < end) {
        if (ngx_svc_mail_next(&p, end, &c) != NGX_OK) {
            return 0;
        }
    }

    return 1;
}


/* Reads the next character.  NGX_DECLINED: it must not be in a line. */

static ngx_int_t
ngx_svc_mail_next(u_char **p, u_char *end, uint32_t *c)
{
    *c = (**p < 0x80) ? *(*p)++ : ngx_utf8_decode(p, end - *p);

    return *c > 0x10ffff || *c < 0x20 || (*c >= 0x7f && *c <= 0x9f)
           || *c == 0x2028 || *c == 0x2029
           ? NGX_DECLINED : NGX_OK;
}
