/*
 * "svc_base_url": where browsers find a server.
 */

#ifndef _NGX_SVC_CONF_BASE_URL_H_INCLUDED_
#define _NGX_SVC_CONF_BASE_URL_H_INCLUDED_


#include "ngx_svc_conf.h"


/* The directive's set function; conf: an ngx_svc_loc_conf_t. */
char *ngx_svc_conf_base_url(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Returns 1 if the host of a location's svc_base_url is a loopback address. */
ngx_uint_t ngx_svc_conf_base_loopback(const ngx_svc_loc_conf_t *slcf);


#endif /* _NGX_SVC_CONF_BASE_URL_H_INCLUDED_ */
