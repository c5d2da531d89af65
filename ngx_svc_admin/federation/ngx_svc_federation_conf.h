/*
 * The routes of sign-in through others.
 */

#ifndef _NGX_SVC_FEDERATION_CONF_H_INCLUDED_
#define _NGX_SVC_FEDERATION_CONF_H_INCLUDED_


#include "ngx_svc_admin_conf.h"


/*
 * Called when all of the configuration has been read: adds the routes, and has
 * passwords go to directories, where svc_federation is on.  Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_svc_federation_init(ngx_conf_t *cf,
    ngx_svc_admin_main_conf_t *amcf, const ngx_svc_surface_t *surface);


#endif /* _NGX_SVC_FEDERATION_CONF_H_INCLUDED_ */
