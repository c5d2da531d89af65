/*
 * nginx's own errors in a surface's envelope.
 */

#ifndef _NGX_SVC_ENVELOPE_H_INCLUDED_
#define _NGX_SVC_ENVELOPE_H_INCLUDED_


#include "ngx_svc_request.h"


/* Puts the filters in place, while the configuration is read. */
ngx_int_t ngx_svc_envelope_init(ngx_conf_t *cf);

/*
 * Makes the body of an error, of the request's pool, and sets its media type.
 * Returns NGX_OK, or NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_envelope_body(ngx_svc_request_t *sr,
    const ngx_svc_error_row_t *row, ngx_str_t *detail, ngx_str_t *body,
    const ngx_str_t **type);

/*
 * Adds the headers of an error; Allow only if sr->allow is not empty.  Returns
 * NGX_OK, or NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_envelope_headers(ngx_svc_request_t *sr,
    const ngx_svc_error_row_t *row);

/*
 * Calls the surface's "rejected" for a request that has not come to its route's
 * prepare, which would have added the same headers.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_envelope_rejected(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ENVELOPE_H_INCLUDED_ */
