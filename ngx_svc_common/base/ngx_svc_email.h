/*
 * E-mail addresses, the sign-in identifiers.
 */

#ifndef _NGX_SVC_EMAIL_H_INCLUDED_
#define _NGX_SVC_EMAIL_H_INCLUDED_


#include "ngx_svc_schema.h"


#define NGX_SVC_EMAIL_MAX  254      /* bytes */
#define NGX_SVC_EMAIL_KEY  1536     /* bytes of a key, whatever Unicode makes */


/*
 * The checks of a row (ngx_svc_check_pt), of a string of valid UTF-8.  The
 * first one takes an address that a mailbox can have: of one that is to be
 * somebody's.  The second one looks at its form alone: of one by which somebody
 * is looked up, as accounts may have addresses that were taken once.
 */
NGX_SVC_API ngx_int_t ngx_svc_email_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
NGX_SVC_API ngx_int_t ngx_svc_email_form_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);

/*
 * The key of an address, as svc.address_key() makes it: two addresses are the
 * same one if their keys are.  The local part in NFC (RFC 6532, 3.1), its ASCII
 * letters in lower case; the domain in lower case, as A-labels (RFC 5890).  Of
 * a domain that IDNA2008 does not have, which no new address has, the labels
 * stay as they are.  *len is its length.  NGX_ERROR: memory.
 */
NGX_SVC_API ngx_int_t ngx_svc_email_key(u_char key[NGX_SVC_EMAIL_KEY],
    size_t *len, const ngx_str_t *email);


#endif /* _NGX_SVC_EMAIL_H_INCLUDED_ */
