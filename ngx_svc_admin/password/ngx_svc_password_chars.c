/*
 * The characters of passwords.
 */

#include "ngx_svc_password_chars.h"

#include <locale.h>


#define NGX_SVC_PASSWORD_LOCALE  "C.UTF-8"


/* Written before there are threads. */

static locale_t  ngx_svc_password_locale;
static wctype_t  ngx_svc_password_mark;


ngx_int_t
ngx_svc_password_chars_check(void)
{
    locale_t  locale;

    locale = newlocale(LC_CTYPE_MASK, NGX_SVC_PASSWORD_LOCALE, (locale_t) 0);
    if (!locale) {
        return NGX_ERROR;
    }

    freelocale(locale);

    return NGX_OK;
}


ngx_int_t
ngx_svc_password_chars_init(void)
{
    ngx_svc_password_locale = newlocale(LC_CTYPE_MASK, NGX_SVC_PASSWORD_LOCALE,
                                        (locale_t) 0);
    if (!ngx_svc_password_locale) {
        return NGX_ERROR;
    }

    ngx_svc_password_mark = wctype_l("combining", ngx_svc_password_locale);

    return NGX_OK;
}


void
ngx_svc_password_chars_exit(void)
{
    if (ngx_svc_password_locale) {
        freelocale(ngx_svc_password_locale);
        ngx_svc_password_locale = (locale_t) 0;
    }
}


ngx_int_t
ngx_svc_password_chars(const ngx_str_t *text, ngx_svc_password_chars_t *chars)
{
    u_char    *p, *end;
    uint32_t   c;

    p = text->data;
    end = p + text->len;

    for (chars->n = 0; p < end; chars->c[chars->n++] = c) {

        if (chars->n == NGX_SVC_PASSWORD_CHARS) {
            return NGX_DECLINED;
        }

        c = (*p < 0x80) ? *p++ : ngx_utf8_decode(&p, end - p);

        if (c > 0x10ffff) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_uint_t
ngx_svc_password_is_lower(wint_t c)
{
    return iswlower_l(c, ngx_svc_password_locale) != 0;
}


ngx_uint_t
ngx_svc_password_is_upper(wint_t c)
{
    return iswupper_l(c, ngx_svc_password_locale) != 0;
}


ngx_uint_t
ngx_svc_password_is_digit(wint_t c)
{
    return c >= '0' && c <= '9';
}


ngx_uint_t
ngx_svc_password_is_letter(wint_t c)
{
    return iswalpha_l(c, ngx_svc_password_locale) != 0;
}


ngx_uint_t
ngx_svc_password_is_symbol(wint_t c)
{
    return !iswalnum_l(c, ngx_svc_password_locale)
           && !iswctype_l(c, ngx_svc_password_mark, ngx_svc_password_locale);
}


wint_t
ngx_svc_password_lower(wint_t c)
{
    return towlower_l(c, ngx_svc_password_locale);
}
