/*
 * Checks texts for the header of a mail.
 */

#ifndef _NGX_SVC_MAIL_ADDRESS_H_INCLUDED_
#define _NGX_SVC_MAIL_ADDRESS_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_MAIL_ADDRESS_MAX  254   /* bytes, at most */


/*
 * Returns NGX_OK if this is one address, and nothing that could be taken for
 * more: UTF-8, one "@", no white space, control characters, quotes, commas,
 * "<" or ">"; else NGX_DECLINED.
 */
ngx_int_t ngx_svc_mail_address(const ngx_str_t *address);

/* Returns 1 for UTF-8 without control characters, which may be empty. */
ngx_uint_t ngx_svc_mail_text(const ngx_str_t *text);


#endif /* _NGX_SVC_MAIL_ADDRESS_H_INCLUDED_ */
