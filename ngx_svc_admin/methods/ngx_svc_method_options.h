/*
 * Which methods a tenant offers, for GET /v1/auth/options.
 */

#ifndef _NGX_SVC_METHOD_OPTIONS_H_INCLUDED_
#define _NGX_SVC_METHOD_OPTIONS_H_INCLUDED_


#include "ngx_svc_json_write.h"
#include "ngx_svc_request.h"


/* Adds what the methods read of the tenant to sr->op.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_method_options_read(ngx_svc_request_t *sr);

/* For the reply: writes a member for each method that is told of. */
void ngx_svc_method_options_write(ngx_svc_request_t *sr,
    ngx_svc_json_writer_t *w);


#endif /* _NGX_SVC_METHOD_OPTIONS_H_INCLUDED_ */
