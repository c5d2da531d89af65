/*
 * X.509 certificates of identity providers, as PEM.
 */

#ifndef _NGX_SVC_CERTIFICATE_H_INCLUDED_
#define _NGX_SVC_CERTIFICATE_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_CERTIFICATE_RSA     2048    /* bits, at least */
#define NGX_SVC_CERTIFICATE_BUNDLE  20      /* certificates, at most */


/*
 * Parses one certificate, with nothing but white space around it, that has an
 * RSA key of at least NGX_SVC_CERTIFICATE_RSA bits or an EC key.  Its dates are
 * not checked: the administrator trusts this very certificate.
 *
 * pem: NULL, or set to the certificate as OpenSSL writes it, allocated from the
 * pool.  Returns NGX_OK; NGX_DECLINED with *why, which says what it must be;
 * NGX_ERROR when there is no memory.
 */
ngx_int_t ngx_svc_certificate_parse(const ngx_str_t *text, ngx_pool_t *pool,
    ngx_str_t *pem, const char **why);

/*
 * Does the same for 1 to NGX_SVC_CERTIFICATE_BUNDLE certificates, one behind
 * the other.
 */
ngx_int_t ngx_svc_certificate_bundle(const ngx_str_t *text, ngx_pool_t *pool,
    ngx_str_t *pem, const char **why);


#endif /* _NGX_SVC_CERTIFICATE_H_INCLUDED_ */
