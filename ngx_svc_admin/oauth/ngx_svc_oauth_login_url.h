/*
 * The directive svc_login_url: the page that signs people in.
 */

#ifndef _NGX_SVC_OAUTH_LOGIN_URL_H_INCLUDED_
#define _NGX_SVC_OAUTH_LOGIN_URL_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_admin_conf.h"


/* The post handler of the directive. */
char *ngx_svc_oauth_conf_login_url(ngx_conf_t *cf, void *post, void *data);

/*
 * When a location's configuration is merged: keeps it, when that surface is on
 * there; and when all is read, whatever the order of modules: an URL must be of
 * the origin of svc_base_url.  NGX_OK; or NGX_ERROR, and the log says what is
 * wrong.
 */
ngx_int_t ngx_svc_oauth_login_url_keep(ngx_conf_t *cf,
    const ngx_svc_surface_t *surface, const ngx_str_t *url);
ngx_int_t ngx_svc_oauth_login_url_check(ngx_conf_t *cf,
    ngx_svc_admin_main_conf_t *amcf);

/* What the location has, or the default. */
ngx_str_t ngx_svc_oauth_login_url(ngx_http_request_t *r);


#endif /* _NGX_SVC_OAUTH_LOGIN_URL_H_INCLUDED_ */
