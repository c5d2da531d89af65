/*
 * Passwords that attackers try first: known words and rows of keys.
 */

#ifndef _NGX_SVC_PASSWORD_COMMON_H_INCLUDED_
#define _NGX_SVC_PASSWORD_COMMON_H_INCLUDED_


#include "ngx_svc_password_chars.h"


/*
 * Returns 1 when the whole password is made of at most NGX_SVC_PASSWORD_PIECES
 * pieces, of which at least one is more than a digit or a symbol.  A piece is
 *
 * - a word of the table, in any case, with digits and symbols that look like
 *   letters taken for them,
 * - a row of 3 or more keys or letters, in either direction,
 * - one character 3 times or more, two that are repeated, three that are,
 * - a digit, or an ASCII symbol.
 *
 * Returns 1, too, when it is nothing but at most NGX_SVC_PASSWORD_DIGITS
 * digits.  Pure; for a thread.
 */
ngx_uint_t ngx_svc_password_common(const ngx_svc_password_chars_t *password);

#define NGX_SVC_PASSWORD_PIECES  8
#define NGX_SVC_PASSWORD_DIGITS  10


#endif /* _NGX_SVC_PASSWORD_COMMON_H_INCLUDED_ */
