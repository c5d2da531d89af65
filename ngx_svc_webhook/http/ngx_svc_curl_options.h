/*
 * What all handles of libcurl have in common.
 */

#ifndef _NGX_SVC_CURL_OPTIONS_H_INCLUDED_
#define _NGX_SVC_CURL_OPTIONS_H_INCLUDED_


#include "ngx_svc_curl_wire.h"


#define NGX_SVC_CURL_IDLE      30L          /* s that a connection may be
                                               idle */


/* Sets the options that all requests have.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_curl_options(CURL *curl);

/*
 * Called before the start: what the transfer reads is counted in the reader,
 * which must outlive it.  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_curl_reader(CURL *curl, ngx_svc_curl_reader_t *reader);


#endif /* _NGX_SVC_CURL_OPTIONS_H_INCLUDED_ */
