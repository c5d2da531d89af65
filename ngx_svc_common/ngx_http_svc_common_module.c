/*
 * The common module: directives, and the start and end of a worker.
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_http.h"
#include "ngx_svc_access_cache.h"
#include "ngx_svc_envelope.h"
#include "ngx_svc_conf_networks.h"
#include "ngx_svc_conf_base_url.h"
#include "ngx_svc_federation.h"
#include "ngx_svc_fetch.h"
#include "ngx_svc_health.h"
#include "ngx_svc_keys_check.h"
#include "ngx_svc_metrics_request.h"
#include "ngx_svc_pg_fence.h"
#include "ngx_svc_pg_watch.h"
#include "ngx_svc_redis_fence.h"
#include "ngx_svc_zone_load.h"
#include "ngx_svc_version.h"                /* generated from conf/version */


static ngx_int_t ngx_http_svc_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_svc_postconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_svc_check_location(ngx_conf_t *cf,
    ngx_svc_main_conf_t *smcf, ngx_svc_location_t *location);
static ngx_int_t ngx_http_svc_load_zones(ngx_conf_t *cf,
    ngx_svc_main_conf_t *smcf);
static void *ngx_http_svc_create_main_conf(ngx_conf_t *cf);
static char *ngx_http_svc_init_main_conf(ngx_conf_t *cf, void *conf);
static void *ngx_http_svc_create_srv_conf(ngx_conf_t *cf);
static void *ngx_http_svc_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_svc_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static ngx_int_t ngx_http_svc_init_module(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_svc_init_process(ngx_cycle_t *cycle);
static void ngx_http_svc_exit_process(ngx_cycle_t *cycle);


static ngx_conf_post_t  ngx_http_svc_timeout_post = { ngx_svc_conf_timeout };
static ngx_conf_post_t  ngx_http_svc_zoneinfo_post = { ngx_svc_conf_zoneinfo };


static ngx_svc_conf_networks_t  ngx_http_svc_federation_networks = {
    "sign-in through other servers", "servers"
};


static ngx_command_t  ngx_http_svc_commands[] = {

    { ngx_string("svc_postgres"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_conf_postgres,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_postgres_pool"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE23,
      ngx_svc_conf_postgres_pool,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_postgres_connect_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, pg.connect_timeout),
      &ngx_http_svc_timeout_post },

    { ngx_string("svc_postgres_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, pg.timeout),
      &ngx_http_svc_timeout_post },

    { ngx_string("svc_postgres_queue"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_num_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, pg.queue),
      NULL },

    { ngx_string("svc_postgres_queue_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, pg.queue_timeout),
      &ngx_http_svc_timeout_post },

    { ngx_string("svc_postgres_fence"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, pg.fence),
      NULL },

    { ngx_string("svc_redis"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_svc_conf_redis,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_redis_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, redis.timeout),
      &ngx_http_svc_timeout_post },

    { ngx_string("svc_key_file"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_conf_key_file,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_federation"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, federation),
      NULL },

    { ngx_string("svc_federation_allow"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_svc_conf_networks,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, allow),
      &ngx_http_svc_federation_networks },

    { ngx_string("svc_base_url"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_conf_base_url,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_body_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_svc_loc_conf_t, body_timeout),
      &ngx_http_svc_timeout_post },

    { ngx_string("svc_zoneinfo"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_main_conf_t, zoneinfo),
      &ngx_http_svc_zoneinfo_post },

    { ngx_string("svc_country"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_conf_country,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_svc_loc_conf_t, country),
      NULL },

    { ngx_string("svc_health"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS|NGX_CONF_TAKE1,
      ngx_svc_conf_health,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_metrics"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_svc_conf_metrics,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_svc_common_module_ctx = {
    ngx_http_svc_preconfiguration,         /* preconfiguration */
    ngx_http_svc_postconfiguration,        /* postconfiguration */

    ngx_http_svc_create_main_conf,         /* create main configuration */
    ngx_http_svc_init_main_conf,           /* init main configuration */

    ngx_http_svc_create_srv_conf,          /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_svc_create_loc_conf,          /* create location configuration */
    ngx_http_svc_merge_loc_conf            /* merge location configuration */
};


ngx_module_t  ngx_http_svc_common_module = {
    NGX_MODULE_V1,
    &ngx_http_svc_common_module_ctx,       /* module context */
    ngx_http_svc_commands,                 /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    ngx_http_svc_init_module,              /* init module */
    ngx_http_svc_init_process,             /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    ngx_http_svc_exit_process,             /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_svc_preconfiguration(ngx_conf_t *cf)
{
    ngx_str_t             name = ngx_string("request_id");
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_svc_main_conf(cf);

    smcf->request_id = ngx_http_get_variable_index(cf, &name);

    return smcf->request_id == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_http_svc_postconfiguration(ngx_conf_t *cf)
{
    ngx_uint_t            i;
    ngx_svc_location_t   *location;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_svc_main_conf(cf);

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        if (ngx_http_svc_check_location(cf, smcf, &location[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (ngx_svc_federation_conf(cf, smcf) != NGX_OK
        || ngx_http_svc_load_zones(cf, smcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (smcf->metrics && ngx_svc_metrics_init(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    if (smcf->pg.fence && smcf->pg.conninfo.len) {
        smcf->timelines = ngx_svc_pg_fence_zone(cf,
                                                &ngx_http_svc_common_module);
        if (smcf->timelines == NULL) {
            return NGX_ERROR;
        }
    }

    return ngx_svc_envelope_init(cf);
}


/* Zones are needed where a surface is on; svc_health alone does without. */

static ngx_int_t
ngx_http_svc_load_zones(ngx_conf_t *cf, ngx_svc_main_conf_t *smcf)
{
    ngx_uint_t           i;
    ngx_svc_location_t  *location;

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        if (location[i].conf->surface) {
            smcf->zones = ngx_svc_zones_load(cf->pool, &smcf->zoneinfo,
                                             cf->log);

            return smcf->zones ? NGX_OK : NGX_ERROR;
        }
    }

    return NGX_OK;
}


const ngx_svc_zones_t *
ngx_svc_zones(void)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    return smcf->zones;
}


static ngx_int_t
ngx_http_svc_check_location(ngx_conf_t *cf, ngx_svc_main_conf_t *smcf,
    ngx_svc_location_t *location)
{
    if (smcf->pg.conninfo.len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%V\" needs a database: add svc_postgres \"host=... "
                      "dbname=svc user=svc_app\"; to the http block, in %s:%ui",
                      &location->directive, location->file, location->line);
        return NGX_ERROR;
    }

    if (location->conf->surface == NULL) {
        return NGX_OK;
    }

    if (location->conf->base_url.len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%V\" needs the URL that clients use: add "
                      "svc_base_url https://...; in %s:%ui",
                      &location->directive, location->file, location->line);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void *
ngx_http_svc_create_main_conf(ngx_conf_t *cf)
{
    ngx_uint_t            i;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_pcalloc(cf->pool, sizeof(ngx_svc_main_conf_t));
    if (smcf == NULL) {
        return NULL;
    }

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        smcf->pg.pools[i].connections = NGX_CONF_UNSET_UINT;
        smcf->pg.pools[i].depth = NGX_CONF_UNSET_UINT;
    }

    smcf->pg.fence = NGX_CONF_UNSET;
    smcf->pg.connect_timeout = NGX_CONF_UNSET_MSEC;
    smcf->pg.timeout = NGX_CONF_UNSET_MSEC;
    smcf->pg.queue = NGX_CONF_UNSET_UINT;
    smcf->pg.queue_timeout = NGX_CONF_UNSET_MSEC;
    smcf->redis.timeout = NGX_CONF_UNSET_MSEC;
    smcf->federation = NGX_CONF_UNSET;

    if (ngx_array_init(&smcf->locations, cf->pool, 4,
                       sizeof(ngx_svc_location_t))
        != NGX_OK
        || ngx_array_init(&smcf->resources, cf->pool, 2,
                          sizeof(ngx_svc_resource_list_t))
           != NGX_OK
        || ngx_array_init(&smcf->allow, cf->pool, 4, sizeof(ngx_svc_cidr_t))
           != NGX_OK)
    {
        return NULL;
    }

    smcf->known = ngx_pcalloc(cf->pool, NGX_SVC_KNOWN_ROUTES
                                        * sizeof(ngx_svc_known_route_t));

    return smcf->known ? smcf : NULL;
}


static char *
ngx_http_svc_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_svc_main_conf_t *smcf = conf;

    static const ngx_svc_pg_pool_conf_t  pools[NGX_SVC_PG_NPOOLS] = {
        { 2, 16 }, { 4, 8 }, { 2, 1 }
    };

    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        ngx_conf_init_uint_value(smcf->pg.pools[i].connections,
                                 pools[i].connections);
        ngx_conf_init_uint_value(smcf->pg.pools[i].depth, pools[i].depth);
    }

    ngx_conf_init_value(smcf->pg.fence, 1);
    ngx_conf_init_msec_value(smcf->pg.connect_timeout, 2000);
    ngx_conf_init_msec_value(smcf->pg.timeout, 5000);
    ngx_conf_init_uint_value(smcf->pg.queue, 1024);
    ngx_conf_init_msec_value(smcf->pg.queue_timeout, 1000);
    ngx_conf_init_msec_value(smcf->redis.timeout, 1000);
    ngx_conf_init_value(smcf->federation, 0);

    if (smcf->zoneinfo.len == 0) {
        ngx_str_set(&smcf->zoneinfo, "/usr/share/zoneinfo");
    }

    return NGX_CONF_OK;
}


static void *
ngx_http_svc_create_srv_conf(ngx_conf_t *cf)
{
    ngx_svc_srv_conf_t  *sscf;

    sscf = ngx_pcalloc(cf->pool, sizeof(ngx_svc_srv_conf_t));
    if (sscf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&sscf->surfaces, cf->pool, 4,
                       sizeof(ngx_svc_surface_t *))
        != NGX_OK)
    {
        return NULL;
    }

    return sscf;
}


static void *
ngx_http_svc_create_loc_conf(ngx_conf_t *cf)
{
    ngx_svc_loc_conf_t  *slcf;

    slcf = ngx_pcalloc(cf->pool, sizeof(ngx_svc_loc_conf_t));
    if (slcf == NULL) {
        return NULL;
    }

    slcf->body_timeout = NGX_CONF_UNSET_MSEC;

    return slcf;
}


static char *
ngx_http_svc_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_svc_loc_conf_t *prev = parent;
    ngx_svc_loc_conf_t *conf = child;

    ngx_http_core_loc_conf_t  *clcf;

    ngx_conf_merge_str_value(conf->base_url, prev->base_url, "");
    ngx_conf_merge_str_value(conf->base_host, prev->base_host, "");
    ngx_conf_merge_str_value(conf->base_key, prev->base_key, "");
    ngx_conf_merge_str_value(conf->base_origin, prev->base_origin, "");
    ngx_conf_merge_msec_value(conf->body_timeout, prev->body_timeout, 10000);

    if (conf->country == NULL) {
        conf->country = prev->country;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    /* nginx makes locations for "if" and "limit_except" inside of ours */

    if (clcf->noname && conf->handler == NULL) {
        conf->handler = prev->handler;
        conf->surface = prev->surface;
        conf->health_writes = prev->health_writes;

        if (clcf->lmt_excpt && clcf->handler == NULL) {
            clcf->handler = conf->handler;
        }
    }

    /*
     * nginx would refuse a large body before the credential is checked;
     * ngx_svc_body_read() enforces the limit of the API.  A lower limit of the
     * configuration stays.
     */

    if (conf->surface && clcf->client_max_body_size >= NGX_SVC_BODY_MAX) {
        clcf->client_max_body_size = 0;
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_svc_init_module(ngx_cycle_t *cycle)
{
    ngx_svc_main_conf_t  *smcf;

    if (!ngx_test_config) {
        ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                      "ngx_svc " NGX_SVC_VERSION);
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);

    ngx_svc_pg_fence_open(smcf ? smcf->timelines : NULL);

    return ngx_svc_metrics_init_module(cycle, smcf);
}


/* Cache managers and loaders call this, too; they have no requests. */

static ngx_int_t
ngx_http_svc_init_process(ngx_cycle_t *cycle)
{
    ngx_svc_main_conf_t  *smcf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);

    if (smcf == NULL || smcf->pg.conninfo.len == 0) {
        return NGX_OK;
    }

    /* nginx's time is older than the configuration: timers need it now */

    ngx_time_update();

    ngx_svc_json_init();
    ngx_svc_health_init();
    ngx_svc_metrics_join(NGX_SVC_PROCESS_WORKER, cycle->log);

    if (ngx_svc_pg_init_worker(cycle, &smcf->pg) != NGX_OK
        || ngx_svc_pg_watch_init(cycle, &smcf->pg) != NGX_OK
        || ngx_svc_redis_init_worker(cycle, &smcf->redis) != NGX_OK
        || (smcf->fetch && ngx_svc_fetch_init() != NGX_OK))
    {
        return NGX_ERROR;
    }

    ngx_svc_keys_check_init(cycle, &smcf->keys);

    if (smcf->pg.fence) {
        ngx_svc_redis_fence_init(cycle);
    }

    return NGX_OK;
}


static void
ngx_http_svc_exit_process(ngx_cycle_t *cycle)
{
    ngx_svc_redis_fence_exit();
    ngx_svc_keys_check_exit();
    ngx_svc_pg_watch_exit();
    ngx_svc_pg_exit_worker();
    ngx_svc_redis_exit_worker();
    ngx_svc_access_cache_exit();
    ngx_svc_crypto_exit();
    ngx_svc_metrics_leave();
}
