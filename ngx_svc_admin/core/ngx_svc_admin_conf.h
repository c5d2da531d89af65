/*
 * The configuration of the admin module.
 */

#ifndef _NGX_SVC_ADMIN_CONF_H_INCLUDED_
#define _NGX_SVC_ADMIN_CONF_H_INCLUDED_


#include "ngx_svc_conf.h"

#include <ngx_thread_pool.h>


typedef struct {
    size_t              cache_size;
    ngx_shm_zone_t     *cache;          /* NULL: no location is ours */
    ngx_thread_pool_t  *threads;        /* to decode images */
    ngx_flag_t          on;
} ngx_svc_admin_main_conf_t;


extern ngx_module_t  ngx_http_svc_admin_module;


#endif /* _NGX_SVC_ADMIN_CONF_H_INCLUDED_ */
