/*
 * Request bodies.
 */

#ifndef _NGX_SVC_BODY_H_INCLUDED_
#define _NGX_SVC_BODY_H_INCLUDED_


#include "ngx_svc_request.h"


#define NGX_SVC_BODY_MAX       1048576  /* bytes */
#define NGX_SVC_RAW_MAX        524288   /* bytes for NGX_SVC_ROUTE_RAW */
#define NGX_SVC_SMALL_MAX      16384    /* bytes for NGX_SVC_ROUTE_SMALL */
#define NGX_SVC_FORM_BODY_MAX  65536    /* bytes for NGX_SVC_ROUTE_FORM */


/*
 * Reads the body.  Calls run, with a reference of the request, when all of the
 * body is there, or sr->error says what is wrong with it.
 */
ngx_int_t ngx_svc_body_read(ngx_svc_request_t *sr,
    void (*run)(ngx_svc_request_t *sr));


#endif /* _NGX_SVC_BODY_H_INCLUDED_ */
