/*
 * The characters of passwords: Unicode's classes, without setlocale(), which
 * would affect the whole process.
 */

#ifndef _NGX_SVC_PASSWORD_CHARS_H_INCLUDED_
#define _NGX_SVC_PASSWORD_CHARS_H_INCLUDED_


#include "ngx_svc_common.h"

#include <wctype.h>


#define NGX_SVC_PASSWORD_CHARS  256     /* of a password, at most */


/* Characters; glibc's wchar_t, which is used here, is a code point. */

typedef struct {
    wint_t      c[NGX_SVC_PASSWORD_CHARS];
    ngx_uint_t  n;
} ngx_svc_password_chars_t;


/*
 * Returns NGX_OK when the locale C.UTF-8 exists; NGX_ERROR when it does not,
 * and ngx_errno says why.
 */
ngx_int_t ngx_svc_password_chars_check(void);

/*
 * Makes the locale of this process that all functions below read, before there
 * are threads.  Returns NGX_OK, or NGX_ERROR as above.
 */
ngx_int_t ngx_svc_password_chars_init(void);

/* Frees the locale, if there is one, when there are no more threads. */
void ngx_svc_password_chars_exit(void);

/*
 * Decodes a text.  Returns NGX_OK: all of it is in *chars; NGX_DECLINED: it has
 * more characters, and the first ones are in *chars; NGX_ERROR: it is not
 * UTF-8.
 */
ngx_int_t ngx_svc_password_chars(const ngx_str_t *text,
    ngx_svc_password_chars_t *chars);

/*
 * A letter is one of any script, a digit is 0 to 9.  A symbol is neither, nor a
 * mark that belongs to the letter before it; a space is a symbol.
 */
ngx_uint_t ngx_svc_password_is_lower(wint_t c);
ngx_uint_t ngx_svc_password_is_upper(wint_t c);
ngx_uint_t ngx_svc_password_is_digit(wint_t c);
ngx_uint_t ngx_svc_password_is_letter(wint_t c);
ngx_uint_t ngx_svc_password_is_symbol(wint_t c);

wint_t ngx_svc_password_lower(wint_t c);


#endif /* _NGX_SVC_PASSWORD_CHARS_H_INCLUDED_ */
