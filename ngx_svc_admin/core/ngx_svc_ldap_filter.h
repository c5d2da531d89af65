/*
 * Search filters of LDAP, RFC 4515.
 */

#ifndef _NGX_SVC_LDAP_FILTER_H_INCLUDED_
#define _NGX_SVC_LDAP_FILTER_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_LDAP_FILTER_DEPTH  32   /* filters in filters, at most */


/*
 * Checks a filter.  mark: a text that stands for a value in the filter, of
 * characters that a value may have; *marks: how often it is there.  Returns
 * NGX_OK; NGX_DECLINED when it is no filter, with *at the number of bytes that
 * could be the beginning of one.
 */
ngx_int_t ngx_svc_ldap_filter_parse(const ngx_str_t *text,
    const ngx_str_t *mark, ngx_uint_t *marks, size_t *at);


#endif /* _NGX_SVC_LDAP_FILTER_H_INCLUDED_ */
