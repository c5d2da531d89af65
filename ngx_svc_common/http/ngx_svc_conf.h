/*
 * The configuration of the common module.
 */

#ifndef _NGX_SVC_CONF_H_INCLUDED_
#define _NGX_SVC_CONF_H_INCLUDED_


#include "ngx_svc_addr.h"
#include "ngx_svc_crypto.h"
#include "ngx_svc_error.h"
#include "ngx_svc_pg.h"
#include "ngx_svc_redis.h"
#include "ngx_svc_zone.h"

#include <ngx_http.h>


typedef struct ngx_svc_surface_s  ngx_svc_surface_t;


/* The resources that another module adds to a surface. */

typedef struct {
    ngx_str_t                            prefix;    /* the surface's */
    const struct ngx_svc_route_s *const  *list;
} ngx_svc_resource_list_t;


/* A route without parameters that a request was for. */

typedef struct {
    const ngx_svc_surface_t      *surface;  /* NULL: the place is free */
    const struct ngx_svc_route_s *route;
} ngx_svc_known_route_t;


#define NGX_SVC_KNOWN_ROUTES  512       /* a power of two, several times as
                                           many as there are */


typedef struct {
    ngx_svc_pg_conf_t          pg;
    ngx_svc_redis_conf_t       redis;
    ngx_svc_keys_t             keys;
    ngx_str_t                  key_file;
    ngx_str_t                  zoneinfo;    /* a directory */
    ngx_svc_zones_t           *zones;       /* NULL: no surface is on */
    ngx_int_t                  request_id;  /* index of $request_id */
    ngx_array_t                locations;   /* ngx_svc_location_t */
    ngx_array_t                resources;   /* ngx_svc_resource_list_t */
    ngx_svc_known_route_t     *known;       /* of each worker its own, by
                                               method and path */
    const ngx_svc_surface_t   *sessions;    /* the surface that takes sessions,
                                               too; NULL: none */
    ngx_uint_t                 webhooks;    /* 1: svc_webhooks is on */
    ngx_uint_t                 targets;     /* 1: svc_scim_targets is on */
    ngx_uint_t                 mail;        /* 1: svc_mail is on */
    ngx_uint_t                 logout;      /* 1: svc_backchannel_logout is
                                               on */
    ngx_flag_t                 federation;  /* svc_federation */
    ngx_flag_t                 sign_in;     /* svc_sign_in, as the admin module
                                               has it */
    ngx_uint_t                 helper;      /* 1: there is a module with a
                                               helper */
    ngx_uint_t                 fetch;       /* 1: the helper fetches */
    ngx_uint_t                 plain;       /* 1: svc_base_url is a loopback
                                               address, everywhere */
    ngx_array_t                allow;       /* ngx_svc_cidr_t; private addresses
                                               that fetches may reach */

    /* returns NGX_OK if a delivery may go to a URL, or NGX_DECLINED with err
       set; NULL: nothing is delivered here */

    ngx_int_t                (*deliverable)(const ngx_str_t *url,
                                            const char *path,
                                            ngx_svc_error_t *err);
    ngx_shm_zone_t            *metrics;     /* NULL: nothing is counted */
    ngx_shm_zone_t            *timelines;   /* NULL: there is no fence */
} ngx_svc_main_conf_t;


typedef struct {
    ngx_array_t                surfaces;    /* ngx_svc_surface_t *, on here */
} ngx_svc_srv_conf_t;


typedef struct {
    ngx_http_handler_pt        handler;     /* our content handler here; NULL:
                                               the location is not ours */
    const ngx_svc_surface_t   *surface;     /* NULL: none */
    ngx_str_t                  base_url;    /* without a slash at its end */
    ngx_str_t                  base_host;   /* its host, without a port */
    ngx_str_t                  base_key;    /* its normal form, the same for
                                               all its spellings */
    ngx_str_t                  base_origin; /* its origin, as browsers write
                                               it */
    ngx_msec_t                 body_timeout;
    ngx_http_complex_value_t  *country;     /* NULL: always unknown */
    ngx_uint_t                 health_writes;   /* 1: svc_health fails when
                                                   writes do */
} ngx_svc_loc_conf_t;


/* A location of ours, which is checked when the configuration is read. */

typedef struct {
    ngx_svc_loc_conf_t        *conf;
    ngx_str_t                  directive;
    u_char                    *file;
    ngx_uint_t                 line;
} ngx_svc_location_t;


extern NGX_SVC_API ngx_module_t  ngx_http_svc_common_module;


/*
 * Checks that the common module is loaded, and before the module of a surface,
 * whose preconfiguration calls this.  Says in the log what to do otherwise.
 */
static ngx_inline ngx_int_t
ngx_svc_check_common(ngx_conf_t *cf, const char *module)
{
    if (&ngx_http_svc_common_module == NULL
        || ngx_http_svc_common_module.ctx_index == NGX_MODULE_UNSET_INDEX)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "%s needs ngx_http_svc_common_module: put \"load_module "
                      "modules/ngx_http_svc_common_module.so;\" before the "
                      "load_module line of %s", module, module);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* Set functions of the common module's directives. */
char *ngx_svc_conf_postgres(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_conf_postgres_pool(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_svc_conf_redis(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_conf_key_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_conf_health(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_conf_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_conf_country(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Post handlers, which nginx calls when it has set a slot. */
char *ngx_svc_conf_zoneinfo(ngx_conf_t *cf, void *post, void *data);
char *ngx_svc_conf_timeout(ngx_conf_t *cf, void *post, void *data);

/* The set function of a surface's directive; cmd->post: the surface. */
NGX_SVC_API char *ngx_svc_surface_directive(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Returns the first location of a surface, such as "/oauth"; NULL: there is
 * none.
 */
NGX_SVC_API const ngx_svc_loc_conf_t *ngx_svc_conf_surface(
    const ngx_svc_main_conf_t *smcf, const char *prefix);

/*
 * Returns the time zones of svc_zoneinfo, which are there wherever a surface is
 * on.
 */
NGX_SVC_API const ngx_svc_zones_t *ngx_svc_zones(void);

#define ngx_svc_main_conf(cf)                                                 \
    ngx_http_conf_get_module_main_conf(cf, ngx_http_svc_common_module)


#endif /* _NGX_SVC_CONF_H_INCLUDED_ */
