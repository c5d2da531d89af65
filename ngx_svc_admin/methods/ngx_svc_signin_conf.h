/*
 * The switch of sign-in, and what its workers share.
 */

#ifndef _NGX_SVC_SIGNIN_CONF_H_INCLUDED_
#define _NGX_SVC_SIGNIN_CONF_H_INCLUDED_


#include "ngx_svc_admin_conf.h"


/*
 * When all is read: with "svc_sign_in on" adds the routes to the surface, and
 * sessions.  NGX_OK; or NGX_ERROR, and the log says what is missing.
 */
ngx_int_t ngx_svc_signin_init(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf,
    const ngx_svc_surface_t *surface);

/* A post handler: tells the common module of the flag. */
char *ngx_svc_signin_conf_flag(ngx_conf_t *cf, void *post, void *data);

/* A worker's start and end. */
ngx_int_t ngx_svc_signin_init_worker(ngx_cycle_t *cycle,
    ngx_svc_admin_main_conf_t *amcf);
void ngx_svc_signin_exit_worker(void);


#endif /* _NGX_SVC_SIGNIN_CONF_H_INCLUDED_ */
