/*
 * What a password must not be made of: what everybody knows of its owner.
 */

#ifndef _NGX_SVC_PASSWORD_CONTEXT_H_INCLUDED_
#define _NGX_SVC_PASSWORD_CONTEXT_H_INCLUDED_


#include "ngx_svc_password_chars.h"


typedef enum {
    NGX_SVC_PASSWORD_EMAIL = 0, /* an address */
    NGX_SVC_PASSWORD_NAME,      /* the first, last or display name */
    NGX_SVC_PASSWORD_TENANT,    /* the tenant's name, or its slug */
    NGX_SVC_PASSWORD_DOMAIN     /* of the tenant: its first label counts */
} ngx_svc_password_word_e;

/* Text in UTF-8, and NFC as the password is; it may be empty. */

typedef struct {
    ngx_svc_password_word_e  kind;
    ngx_str_t                text;
} ngx_svc_password_word_t;


/*
 * The first one of n words that the password is made of, or NULL.  The words'
 * tokens are what is between their symbols, all of these joined, and the whole
 * of it; of an address that of its local part, and the whole address.  With
 * letters in any case, and digits and symbols that look like letters taken for
 * them, a password is made of
 *
 * - a token of 4 or more characters that is anywhere in it,
 * - a shorter one, of 2 or more, when what is left without it, and without
 *   digits and symbols at both ends, has less than 4.
 *
 * Of a word only its first NGX_SVC_PASSWORD_CHARS characters count.  Pure; for
 * a thread.
 */
const ngx_svc_password_word_t *ngx_svc_password_context(
    const ngx_svc_password_chars_t *password,
    const ngx_svc_password_word_t *words, ngx_uint_t n);


#endif /* _NGX_SVC_PASSWORD_CONTEXT_H_INCLUDED_ */
