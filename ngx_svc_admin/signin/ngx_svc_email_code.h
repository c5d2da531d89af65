/*
 * What codes by mail are made of, for both their makers and those who look at
 * them.
 */

#ifndef _NGX_SVC_EMAIL_CODE_H_INCLUDED_
#define _NGX_SVC_EMAIL_CODE_H_INCLUDED_


#include "ngx_svc_mac.h"
#include "ngx_svc_request.h"


#define NGX_SVC_EMAIL_CODE_LEN  6       /* digits */


/* The cookie of the browser that has asked; without "__Host-". */
extern const ngx_str_t  ngx_svc_email_code_cookie_name;


/* Six digits, each number as likely.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_email_code_new(u_char code[NGX_SVC_EMAIL_CODE_LEN]);

/* What is kept of a challenge's code.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_email_code_mac(const u_char id[NGX_SVC_UUID_LEN],
    const u_char *code, u_char mac[NGX_SVC_MAC_LEN]);

/*
 * The request's cookie, and its digest, of the request's pool.  NGX_OK;
 * NGX_DECLINED: there is none that could be ours; NGX_ERROR.
 */
ngx_int_t ngx_svc_email_code_cookie(ngx_svc_request_t *sr, ngx_str_t *value,
    ngx_str_t *hash);


#endif /* _NGX_SVC_EMAIL_CODE_H_INCLUDED_ */
