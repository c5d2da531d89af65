/*
 * What may be in the header of a mail.
 */

#ifndef _NGX_SVC_MAIL_ADDRESS_H_INCLUDED_
#define _NGX_SVC_MAIL_ADDRESS_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_MAIL_ADDRESS_MAX  254   /* bytes */


/*
 * Whether it is one address, and nothing that could be taken for more: UTF-8,
 * one "@", no white space, control characters, quotes, commas, "<" or ">".
 * NGX_OK or NGX_DECLINED.
 */
ngx_int_t ngx_svc_mail_address(const ngx_str_t *address);

/* 1: UTF-8 without control characters; may be empty. */
ngx_uint_t ngx_svc_mail_text(const ngx_str_t *text);


#endif /* _NGX_SVC_MAIL_ADDRESS_H_INCLUDED_ */
