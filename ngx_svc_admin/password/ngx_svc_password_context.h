/*
 * The words that a password must not be made of, since everybody knows them of
 * its owner.
 */

#ifndef _NGX_SVC_PASSWORD_CONTEXT_H_INCLUDED_
#define _NGX_SVC_PASSWORD_CONTEXT_H_INCLUDED_


#include "ngx_svc_password_chars.h"


typedef enum {
    NGX_SVC_PASSWORD_EMAIL = 0, /* an address */
    NGX_SVC_PASSWORD_NAME,      /* the first, last or display name */
    NGX_SVC_PASSWORD_TENANT,    /* the tenant's name, or its slug */
    NGX_SVC_PASSWORD_DOMAIN     /* the tenant's; its first label counts */
} ngx_svc_password_word_e;

/* A word, in UTF-8 and form C, as the password is; it may be empty. */

typedef struct {
    ngx_svc_password_word_e  kind;
    ngx_str_t                text;
} ngx_svc_password_word_t;


/*
 * Returns the first of n words that the password is made of, or NULL.  A word's
 * tokens are the texts between its symbols, all of these joined, and the whole
 * word; an address has the tokens of its local part, and the whole address.
 * Letters count in any case, and digits and symbols that look like letters are
 * taken for them.  A password is made of
 *
 * - a token of 4 or more characters that is anywhere in it,
 * - a shorter one, of 2 or more, when less than 4 characters are left without
 *   it, and without digits and symbols at both ends.
 *
 * Only the first NGX_SVC_PASSWORD_CHARS characters of a word count.  Pure; for
 * a thread.
 */
const ngx_svc_password_word_t *ngx_svc_password_context(
    const ngx_svc_password_chars_t *password,
    const ngx_svc_password_word_t *words, ngx_uint_t n);


#endif /* _NGX_SVC_PASSWORD_CONTEXT_H_INCLUDED_ */
