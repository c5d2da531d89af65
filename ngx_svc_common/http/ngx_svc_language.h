/*
 * The languages that who sends a request would like to read.
 */

#ifndef _NGX_SVC_LANGUAGE_H_INCLUDED_
#define _NGX_SVC_LANGUAGE_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Adds to the locale of a mail, which may be empty, those of Accept-Language
 * (RFC 9110, 12.5.4), the best first, with "," between: of the request's pool.
 * What is no language, and what is one too many, is left out.  NGX_OK or
 * NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_language(ngx_svc_request_t *sr,
    ngx_str_t *locale);


#endif /* _NGX_SVC_LANGUAGE_H_INCLUDED_ */
