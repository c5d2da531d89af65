/*
 * Where on Earth a client is, as svc_coordinates says.
 */

#ifndef _NGX_SVC_COORDINATES_H_INCLUDED_
#define _NGX_SVC_COORDINATES_H_INCLUDED_


#include "ngx_svc_admin_conf.h"


/* Sets svc_coordinates, which takes a latitude and a longitude. */
char *ngx_svc_conf_coordinates(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Reads the place of a request's client: degrees as text, rounded to a tenth,
 * in the request's pool; no data in either unless both are known.  Returns
 * NGX_OK, or NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_coordinates(ngx_http_request_t *r, ngx_str_t *latitude,
    ngx_str_t *longitude);


#endif /* _NGX_SVC_COORDINATES_H_INCLUDED_ */
