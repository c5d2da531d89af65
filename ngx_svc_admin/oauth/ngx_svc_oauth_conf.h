/*
 * The surface /oauth: its directives, and what its workers share.
 */

#ifndef _NGX_SVC_OAUTH_CONF_H_INCLUDED_
#define _NGX_SVC_OAUTH_CONF_H_INCLUDED_


#include "ngx_svc_admin.h"
#include "ngx_svc_admin_conf.h"


/* The surface that "svc_oauth" turns on. */
extern ngx_svc_surface_t  ngx_svc_oauth_surface;

/* The set functions of "svc_oauth" and "svc_oauth_metadata". */
char *ngx_svc_conf_oauth(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_conf_oauth_metadata(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * For the end of the configuration: checks it, and adds the routes, if a
 * location has "svc_oauth on".  Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_svc_oauth_init(ngx_conf_t *cf, ngx_svc_admin_main_conf_t *amcf);

/* For a worker's start.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_oauth_init_worker(ngx_cycle_t *cycle,
    ngx_svc_admin_main_conf_t *amcf);

/* For a worker's end. */
void ngx_svc_oauth_exit_worker(void);


#endif /* _NGX_SVC_OAUTH_CONF_H_INCLUDED_ */
