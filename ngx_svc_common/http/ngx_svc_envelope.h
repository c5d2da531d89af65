/*
 * nginx's own errors in a surface's envelope.
 */

#ifndef _NGX_SVC_ENVELOPE_H_INCLUDED_
#define _NGX_SVC_ENVELOPE_H_INCLUDED_


#include "ngx_svc_request.h"


/* While the configuration is read. */
ngx_int_t ngx_svc_envelope_init(ngx_conf_t *cf);

/*
 * The body of an error, from the pool; and the headers that go with it, Allow
 * only if sr->allow is not empty.  NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_envelope_body(ngx_svc_request_t *sr,
    const ngx_svc_error_row_t *row, ngx_str_t *detail, ngx_str_t *body,
    const ngx_str_t **type);
ngx_int_t ngx_svc_envelope_headers(ngx_svc_request_t *sr,
    const ngx_svc_error_row_t *row);

/*
 * The surface's "rejected", of a request that has not come to its route's
 * prepare, which would have added the same headers.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_envelope_rejected(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_ENVELOPE_H_INCLUDED_ */
