/*
 * Texts that go to a directory, and that come from one: nothing here asks it.
 */

#ifndef _NGX_SVC_LDAP_TEXT_H_INCLUDED_
#define _NGX_SVC_LDAP_TEXT_H_INCLUDED_


#include "ngx_svc_common.h"


/* A SID has its revision, a count, an authority, and that many sub-authorities
 * (MS-DTYP, 2.4.2.2). */
#define NGX_SVC_LDAP_SID_MIN  12
#define NGX_SVC_LDAP_SID_MAX  68


/*
 * Writes a value so that it is one in a filter, whatever it has (RFC 4515, 3);
 * p has room for three times its bytes.  Returns the end.
 */
u_char *ngx_svc_ldap_escape(u_char *p, const ngx_str_t *value);

/* Writes each byte as "\" and two digits, in the same way. */
u_char *ngx_svc_ldap_escape_all(u_char *p, const ngx_str_t *value);

/*
 * Returns the filter with the address in the place of "{email}", and what is
 * before its last "@" in the place of "{local}", as a C string of the pool.
 * Without an address, which is NULL, it finds whatever value there is.  Returns
 * NULL when there is no memory.
 */
char *ngx_svc_ldap_filter_fill(ngx_pool_t *pool, const ngx_str_t *filter,
    const ngx_str_t *email);

/*
 * Returns why Active Directory has refused a bind, from the message of its
 * answer: the number after "data ", such as 0x52e; 0 when there is none.
 */
ngx_uint_t ngx_svc_ldap_ad_code(const char *message);

/* Says what such a number means; NULL: it is not known. */
const char *ngx_svc_ldap_ad_reason(ngx_uint_t code);

/*
 * Returns whether an account has ended, by its accountExpires: 100 ns since
 * 1601; 0 and the largest number are never.
 */
ngx_uint_t ngx_svc_ldap_ad_expired(const ngx_str_t *value, time_t now);

/*
 * Returns where a list goes on that was cut, from the numbers of its part:
 * 1500 for "0-1499"; 0 when nothing follows ("1500-*"), or they are none.
 */
ngx_uint_t ngx_svc_ldap_range(const char *part);

/*
 * Replaces the last sub-authority of a user's SID, so that it is that of a
 * group of the same domain.  Returns NGX_OK, or NGX_DECLINED when it is no SID
 * or no number.
 */
ngx_int_t ngx_svc_ldap_sid_group(ngx_str_t *sid, const ngx_str_t *group);

/*
 * Makes text that somebody else wrote fit to be shown: control characters, and
 * bytes that are no UTF-8, become "?"; a character that was cut at the end
 * goes.  Returns the end.
 */
u_char *ngx_svc_ldap_show(u_char *text, u_char *end);

/* Returns whether a value is UTF-8 without control characters of ASCII. */
ngx_uint_t ngx_svc_ldap_is_text(const ngx_str_t *value);


#endif /* _NGX_SVC_LDAP_TEXT_H_INCLUDED_ */
