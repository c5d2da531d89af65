/*
 * The directive svc_login_url: the page that signs users in.
 */

#ifndef _NGX_SVC_OAUTH_LOGIN_URL_H_INCLUDED_
#define _NGX_SVC_OAUTH_LOGIN_URL_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_admin_conf.h"


/* The post handler of the directive. */
char *ngx_svc_oauth_conf_login_url(ngx_conf_t *cf, void *post, void *data);

/*
 * _keep(), called when a location's configuration is merged, remembers the URL
 * if that surface is on there, and if it is not just a path.  _check(), called
 * when all of the configuration has been read, whatever the order of modules,
 * makes sure that these URLs are below svc_base_url.  Both return NGX_OK or
 * NGX_ERROR; the log says what is wrong with a URL.
 */
ngx_int_t ngx_svc_oauth_login_url_keep(ngx_conf_t *cf,
    const ngx_svc_surface_t *surface, const ngx_str_t *url);
ngx_int_t ngx_svc_oauth_login_url_check(ngx_conf_t *cf,
    ngx_svc_admin_main_conf_t *amcf);


#endif /* _NGX_SVC_OAUTH_LOGIN_URL_H_INCLUDED_ */
