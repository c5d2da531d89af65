/*
 * E-mail addresses, by which users sign in.
 */

#ifndef _NGX_SVC_EMAIL_H_INCLUDED_
#define _NGX_SVC_EMAIL_H_INCLUDED_


#include "ngx_svc_schema.h"


#define NGX_SVC_EMAIL_MAX  254      /* bytes */
#define NGX_SVC_EMAIL_KEY  1536     /* bytes of a key, also when Unicode's
                                       normal form is longer */


/*
 * The check of an address that a user will have: it must be one that a mailbox
 * can have.  The value is a string of valid UTF-8, here and below.
 */
NGX_SVC_API ngx_int_t ngx_svc_email_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/*
 * The check of an address by which a user is looked up: it checks the form
 * alone, since some accounts have addresses that are not taken any more.
 */
NGX_SVC_API ngx_int_t ngx_svc_email_form_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/*
 * Makes the key of an address, as svc.address_key() does: two addresses are the
 * same if their keys are.  The local part is in NFC (RFC 6532, 3.1), with its
 * ASCII letters in lower case; the domain is in lower case, as A-labels (RFC
 * 5890).  Labels that IDNA2008 does not allow, which no new address has, stay
 * as they are.  *len is the key's length.  Returns NGX_OK, or NGX_ERROR when
 * memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_email_key(u_char key[NGX_SVC_EMAIL_KEY],
    size_t *len, const ngx_str_t *email);


#endif /* _NGX_SVC_EMAIL_H_INCLUDED_ */
