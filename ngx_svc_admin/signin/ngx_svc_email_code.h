/*
 * Codes that are mailed: how one is made, the MAC that is stored of it, and the
 * cookie of the browser that has asked for it.
 */

#ifndef _NGX_SVC_EMAIL_CODE_H_INCLUDED_
#define _NGX_SVC_EMAIL_CODE_H_INCLUDED_


#include "ngx_svc_mac.h"
#include "ngx_svc_request.h"


#define NGX_SVC_EMAIL_CODE_LEN  6       /* digits */


/* Name of the cookie of the browser that has asked, without "__Host-". */
extern const ngx_str_t  ngx_svc_email_code_cookie_name;


/*
 * Makes six random digits, each number of them with the same probability.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_code_new(u_char code[NGX_SVC_EMAIL_CODE_LEN]);

/*
 * Computes the MAC of a challenge's code, which is stored in place of the code.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_email_code_mac(const u_char id[NGX_SVC_UUID_LEN],
    const u_char *code, u_char mac[NGX_SVC_MAC_LEN]);

/*
 * Reads the request's cookie, and computes its digest in the request's pool.
 * Returns NGX_OK; NGX_DECLINED when there is no cookie that can be ours;
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_email_code_cookie(ngx_svc_request_t *sr, ngx_str_t *value,
    ngx_str_t *hash);


#endif /* _NGX_SVC_EMAIL_CODE_H_INCLUDED_ */
