/*
 * The characters of passwords: Unicode's classes, without a setlocale(), which
 * would be of the whole process.
 */

#ifndef _NGX_SVC_PASSWORD_CHARS_H_INCLUDED_
#define _NGX_SVC_PASSWORD_CHARS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <wctype.h>


#define NGX_SVC_PASSWORD_CHARS  256     /* of a password, at most */


/* A glibc wchar_t, as here, is a code point. */

typedef struct {
    wint_t      c[NGX_SVC_PASSWORD_CHARS];
    ngx_uint_t  n;
} ngx_svc_password_chars_t;


/*
 * Whether there is the locale, C.UTF-8.  NGX_ERROR: there is none, and
 * ngx_errno says why.
 */
ngx_int_t ngx_svc_password_chars_check(void);

/*
 * Makes the locale of this process that all functions below read, before there
 * are threads.  NGX_ERROR, as above.
 */
ngx_int_t ngx_svc_password_chars_init(void);

/* Frees it, if it was made; when there are no more threads. */
void ngx_svc_password_chars_exit(void);

/*
 * NGX_OK: all of text is in *chars; NGX_DECLINED: there are more, and the first
 * ones are; NGX_ERROR: it is not UTF-8.
 */
ngx_int_t ngx_svc_password_chars(const ngx_str_t *text,
    ngx_svc_password_chars_t *chars);

/*
 * A letter is one of any script, a digit is 0 to 9.  A symbol is neither, nor a
 * mark that belongs to the letter before it; a space is one.
 */
ngx_uint_t ngx_svc_password_is_lower(wint_t c);
ngx_uint_t ngx_svc_password_is_upper(wint_t c);
ngx_uint_t ngx_svc_password_is_digit(wint_t c);
ngx_uint_t ngx_svc_password_is_letter(wint_t c);
ngx_uint_t ngx_svc_password_is_symbol(wint_t c);

wint_t ngx_svc_password_lower(wint_t c);


#endif /* _NGX_SVC_PASSWORD_CHARS_H_INCLUDED_ */
