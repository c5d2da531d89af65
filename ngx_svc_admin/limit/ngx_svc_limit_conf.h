/*
 * The directives of limits, and their shared memory.
 */

#ifndef _NGX_SVC_LIMIT_CONF_H_INCLUDED_
#define _NGX_SVC_LIMIT_CONF_H_INCLUDED_


#include "ngx_svc_setting.h"


/* Called before the configuration is read. */
void ngx_svc_settings_create(ngx_svc_settings_t *settings);

/* The directive "svc_set NAME value"; sets an ngx_svc_settings_t. */
char *ngx_svc_conf_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Called when the configuration has been read: a setting without a directive is
 * taken from nginx's environment, or else is the default.  Returns NGX_OK, or
 * NGX_ERROR, which is logged.
 */
ngx_int_t ngx_svc_settings_complete(ngx_conf_t *cf,
    ngx_svc_settings_t *settings);

/* The post handler of "svc_rate_size". */
char *ngx_svc_conf_rate_size(ngx_conf_t *cf, void *post, void *data);

/*
 * Adds the memory for ngx_svc_limit_init_worker(), which outlives a reload;
 * tag: an object of the module; a size that is not set becomes the default.
 * Returns NULL when there is no memory.
 */
ngx_shm_zone_t *ngx_svc_limit_zone(ngx_conf_t *cf, size_t size, void *tag);


#endif /* _NGX_SVC_LIMIT_CONF_H_INCLUDED_ */
