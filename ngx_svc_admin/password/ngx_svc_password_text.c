/*
 * Passwords as they are compared and hashed.
 */

#include "ngx_svc_password_text.h"

#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>


static const char *ngx_svc_password_spaces(const u_char *in, size_t len,
    u_char *out, size_t *out_len);
static const char *ngx_svc_password_form_c(const u_char *in, size_t len,
    u_char *text, size_t *text_len);


const char  ngx_svc_password_text_no_memory[] = "could not be normalized";


const char *
ngx_svc_password_text(const u_char *in, size_t len,
    u_char text[NGX_SVC_PASSWORD_TEXT], size_t *text_len, size_t *points)
{
    u_char       mapped[NGX_SVC_PASSWORD_LEN];
    size_t       n;
    const char  *why;

    if (len == 0 || len > NGX_SVC_PASSWORD_LEN) {
        return "must be 1 to 1024 bytes";
    }

    why = ngx_svc_password_spaces(in, len, mapped, &n);

    if (why == NULL) {
        why = ngx_svc_password_form_c(mapped, n, text, text_len);
    }

    ngx_explicit_memzero(mapped, sizeof(mapped));

    if (why == NULL) {
        *points = u8_mbsnlen(text, *text_len);
    }

    return why;
}


/* U+0020 is shorter than any other space: out has room for len bytes. */

static const char *
ngx_svc_password_spaces(const u_char *in, size_t len, u_char *out,
    size_t *out_len)
{
    int            n;
    ucs4_t         c;
    u_char        *p;
    const u_char  *end;

    end = in + len;
    p = out;

    while (in < end) {
        n = u8_mbtoucr(&c, in, end - in);

        if (n < 0) {
            return "must be valid UTF-8";
        }

        if (uc_is_general_category(c, UC_CONTROL)) {
            return "must not have control characters";
        }

        if (uc_is_general_category(c, UC_SPACE_SEPARATOR)) {
            *p++ = ' ';

        } else {
            p = ngx_cpymem(p, in, n);
        }

        in += n;
    }

    *out_len = p - out;

    return NULL;
}


static const char *
ngx_svc_password_form_c(const u_char *in, size_t len, u_char *text,
    size_t *text_len)
{
    size_t    n;
    uint8_t  *result;

    n = NGX_SVC_PASSWORD_TEXT;

    result = u8_normalize(UNINORM_NFC, in, len, text, &n);

    if (result == NULL) {
        return ngx_svc_password_text_no_memory;
    }

    /* libunistring allocates memory when it is given too little */

    if (result != text) {
        ngx_explicit_memzero(result, n);
        free(result);
        return ngx_svc_password_text_no_memory;
    }

    *text_len = n;

    return NULL;
}
