/*
 * X.509 certificates of identity providers, as PEM.
 */

#ifndef _NGX_SVC_CERTIFICATE_H_INCLUDED_
#define _NGX_SVC_CERTIFICATE_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_CERTIFICATE_RSA  2048   /* bits, at least */


/*
 * One certificate, and nothing but white space around it, with an RSA key of
 * NGX_SVC_CERTIFICATE_RSA bits or an EC key.  Whether it is valid now is not
 * looked at: who signs with it is trusted by name.
 *
 * pem: NULL, or it is set to the certificate as OpenSSL writes it, of the pool.
 * NGX_OK; NGX_DECLINED with *why, what it must be; NGX_ERROR: no memory.
 */
ngx_int_t ngx_svc_certificate_parse(const ngx_str_t *text, ngx_pool_t *pool,
    ngx_str_t *pem, const char **why);


#endif /* _NGX_SVC_CERTIFICATE_H_INCLUDED_ */
