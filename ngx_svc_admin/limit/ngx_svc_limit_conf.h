/*
 * The directives of limits, and their shared memory.
 */

#ifndef _NGX_SVC_LIMIT_CONF_H_INCLUDED_
#define _NGX_SVC_LIMIT_CONF_H_INCLUDED_


#include "ngx_svc_setting.h"


/* Before the configuration is read. */
void ngx_svc_settings_create(ngx_svc_settings_t *settings);

/* "svc_set NAME value"; at cmd->offset is a ngx_svc_settings_t. */
char *ngx_svc_conf_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * When it is read: what no directive has set is that of nginx's environment, or
 * else the default.  NGX_OK, or NGX_ERROR, which is logged.
 */
ngx_int_t ngx_svc_settings_complete(ngx_conf_t *cf,
    ngx_svc_settings_t *settings);

/* The post handler of "svc_rate_size". */
char *ngx_svc_conf_rate_size(ngx_conf_t *cf, void *post, void *data);

/*
 * The memory for ngx_svc_limit_init_worker(), which outlives a reload, of the
 * module whose object the tag is; a size that is not set gets the default.
 * NULL: memory.
 */
ngx_shm_zone_t *ngx_svc_limit_zone(ngx_conf_t *cf, size_t size, void *tag);


#endif /* _NGX_SVC_LIMIT_CONF_H_INCLUDED_ */
