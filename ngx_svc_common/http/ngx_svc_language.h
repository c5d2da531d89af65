/*
 * The languages that a request's Accept-Language asks for.
 */

#ifndef _NGX_SVC_LANGUAGE_H_INCLUDED_
#define _NGX_SVC_LANGUAGE_H_INCLUDED_


#include "ngx_svc_request.h"


/*
 * Adds the languages of Accept-Language (RFC 9110, 12.5.4) to the locale of a
 * mail, which may be empty: the best first, with "," between.  What is no
 * language is left out, and so are languages beyond the sixth.  The text is of
 * the request's pool.  Returns NGX_OK or NGX_ERROR.
 */
NGX_SVC_API ngx_int_t ngx_svc_language(ngx_svc_request_t *sr,
    ngx_str_t *locale);


#endif /* _NGX_SVC_LANGUAGE_H_INCLUDED_ */
