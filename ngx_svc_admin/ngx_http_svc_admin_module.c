/*
 * The admin API: its directives, and what its workers share.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_admin_user_index.h"
#include "ngx_svc_breached_conf.h"
#include "ngx_svc_cache.h"
#include "ngx_svc_coordinates.h"
#include "ngx_svc_dns.h"
#include "ngx_svc_ldap.h"
#include "ngx_svc_ldap_conf.h"
#include "ngx_svc_password_conf.h"
#include "ngx_svc_limit_conf.h"
#include "ngx_svc_oauth_conf.h"
#include "ngx_svc_federation_conf.h"
#include "ngx_svc_directory_import.h"
#include "ngx_svc_federation_meta.h"
#include "ngx_svc_oauth_login_url.h"
#include "ngx_svc_oauth_sweep.h"
#include "ngx_svc_published.h"
#include "ngx_svc_work.h"
#include "ngx_svc_session.h"
#include "ngx_svc_signin_conf.h"


#define NGX_SVC_ADMIN_CACHE      (16 * 1024 * 1024)
#define NGX_SVC_ADMIN_CACHE_MIN  (1024 * 1024)


static char *ngx_http_svc_admin(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_svc_admin_cache_size(ngx_conf_t *cf, void *post,
    void *data);
static ngx_int_t ngx_http_svc_admin_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_svc_admin_postconfiguration(ngx_conf_t *cf);
static void *ngx_http_svc_admin_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_svc_admin_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_svc_admin_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static ngx_int_t ngx_http_svc_admin_init_process(ngx_cycle_t *cycle);
static void ngx_http_svc_admin_exit_process(ngx_cycle_t *cycle);
static void ngx_http_svc_admin_error(ngx_svc_json_writer_t *w,
    const ngx_svc_error_row_t *row, const ngx_str_t *detail,
    const ngx_str_t *member);


static ngx_svc_surface_t  ngx_http_svc_admin_surface = {
    ngx_string("/v1"),
    ngx_string("application/json"),
    ngx_string("api"),
    ngx_string("apiToken"),
    ngx_svc_admin_resources,
    ngx_svc_admin_constraints,
    ngx_http_svc_admin_error,
    &ngx_svc_session_credential,
    NULL
};


static ngx_conf_post_t  ngx_http_svc_admin_login_url_post = {
    ngx_svc_oauth_conf_login_url
};

static ngx_conf_post_t  ngx_http_svc_admin_cache_size_post = {
    ngx_http_svc_admin_cache_size
};

static ngx_conf_post_t  ngx_http_svc_admin_rate_size_post = {
    ngx_svc_conf_rate_size
};

static ngx_conf_post_t  ngx_http_svc_admin_sign_in_post = {
    ngx_svc_signin_conf_flag
};


static ngx_conf_post_t  ngx_http_svc_admin_ca_file_post = {
    ngx_svc_conf_ldap_ca_file
};


static ngx_command_t  ngx_http_svc_admin_commands[] = {

    { ngx_string("svc_admin"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_svc_admin,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      &ngx_http_svc_admin_surface },

    { ngx_string("svc_oauth"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_conf_oauth,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      &ngx_svc_oauth_surface },

    { ngx_string("svc_oauth_metadata"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_svc_conf_oauth_metadata,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_login_url"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_svc_admin_loc_conf_t, login_url),
      &ngx_http_svc_admin_login_url_post },

    { ngx_string("svc_cache_size"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_size_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, cache_size),
      &ngx_http_svc_admin_cache_size_post },

    { ngx_string("svc_password_hash"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_svc_password_conf_set,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, hash),
      NULL },

    { ngx_string("svc_breached_passwords"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_breached_directive,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, breached),
      NULL },

    { ngx_string("svc_sign_in"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, sign_in),
      &ngx_http_svc_admin_sign_in_post },

    { ngx_string("svc_organization_signup"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, organization_signup),
      NULL },

    { ngx_string("svc_tenant"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_set_complex_value_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_svc_admin_loc_conf_t, tenant),
      NULL },

    { ngx_string("svc_coordinates"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE2,
      ngx_svc_conf_coordinates,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_set"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE2,
      ngx_svc_conf_set,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, settings),
      NULL },

    { ngx_string("svc_rate_size"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_size_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, rate_size),
      &ngx_http_svc_admin_rate_size_post },

    { ngx_string("svc_resolver"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_svc_conf_resolver,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, resolver),
      NULL },

    { ngx_string("svc_ldap_ca_file"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, ldap_ca_file),
      &ngx_http_svc_admin_ca_file_post },

    { ngx_string("svc_federation_jobs"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_svc_conf_jobs,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_admin_main_conf_t, jobs),
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_svc_admin_module_ctx = {
    ngx_http_svc_admin_preconfiguration,   /* preconfiguration */
    ngx_http_svc_admin_postconfiguration,  /* postconfiguration */

    ngx_http_svc_admin_create_main_conf,   /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_svc_admin_create_loc_conf,    /* create location configuration */
    ngx_http_svc_admin_merge_loc_conf      /* merge location configuration */
};


ngx_module_t  ngx_http_svc_admin_module = {
    NGX_MODULE_V1,
    &ngx_http_svc_admin_module_ctx,        /* module context */
    ngx_http_svc_admin_commands,           /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    ngx_http_svc_admin_init_process,       /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    ngx_http_svc_admin_exit_process,       /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_svc_admin_preconfiguration(ngx_conf_t *cf)
{
    if (ngx_svc_check_common(cf, "ngx_http_svc_admin_module") != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_check_resources(cf, ngx_svc_admin_resources);
}


static ngx_int_t
ngx_http_svc_admin_postconfiguration(ngx_conf_t *cf)
{
    ngx_svc_main_conf_t        *smcf;
    ngx_svc_admin_main_conf_t  *amcf;

    amcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_svc_admin_module);

    ngx_svc_password_conf_done(cf, &amcf->hash);
    ngx_svc_ldap_conf_done(amcf);

    if (ngx_svc_settings_complete(cf, &amcf->settings) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_svc_oauth_init(cf, amcf) != NGX_OK) {
        return NGX_ERROR;
    }

    if (!amcf->on) {
        return NGX_OK;
    }

    ngx_conf_init_size_value(amcf->cache_size, NGX_SVC_ADMIN_CACHE);

    amcf->cache = ngx_svc_cache_zone(cf, amcf->cache_size,
                                     &ngx_http_svc_admin_module);
    amcf->threads = ngx_thread_pool_add(cf, NULL);
    amcf->limits = ngx_svc_limit_zone(cf, amcf->rate_size,
                                      &ngx_http_svc_admin_module);

    if (amcf->cache == NULL || amcf->threads == NULL || amcf->limits == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_signin_init(cf, amcf, &ngx_http_svc_admin_surface) != NGX_OK
        || ngx_svc_federation_init(cf, amcf, &ngx_http_svc_admin_surface)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    smcf = ngx_svc_main_conf(cf);

    return smcf->federation
           ? ngx_svc_add_resources(cf, &ngx_http_svc_admin_surface.prefix,
                                   ngx_svc_admin_federation_resources)
           : NGX_OK;
}


static void *
ngx_http_svc_admin_create_main_conf(ngx_conf_t *cf)
{
    ngx_svc_admin_main_conf_t  *amcf;

    amcf = ngx_pcalloc(cf->pool, sizeof(ngx_svc_admin_main_conf_t));
    if (amcf == NULL
        || ngx_array_init(&amcf->login_locations, cf->pool, 1,
                          sizeof(ngx_svc_login_location_t))
           != NGX_OK)
    {
        return NULL;
    }

    amcf->cache_size = NGX_CONF_UNSET_SIZE;
    amcf->sign_in = NGX_CONF_UNSET;
    amcf->organization_signup = NGX_CONF_UNSET;
    ngx_svc_password_conf_init(&amcf->hash);
    amcf->rate_size = NGX_CONF_UNSET_SIZE;
    amcf->jobs.ldap = NGX_CONF_UNSET_UINT;
    amcf->jobs.queue = NGX_CONF_UNSET_UINT;
    ngx_svc_settings_create(&amcf->settings);

    return amcf;
}


static void *
ngx_http_svc_admin_create_loc_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_svc_admin_loc_conf_t));
}


static char *
ngx_http_svc_admin_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_svc_admin_loc_conf_t *prev = parent;
    ngx_svc_admin_loc_conf_t *conf = child;

    if (conf->tenant == NULL) {
        conf->tenant = prev->tenant;
    }

    if (conf->latitude == NULL) {
        conf->latitude = prev->latitude;
        conf->longitude = prev->longitude;
    }

    ngx_conf_merge_str_value(conf->login_url, prev->login_url, "");

    return ngx_svc_oauth_login_url_keep(cf, &ngx_svc_oauth_surface,
                                        &conf->login_url)
           == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static char *
ngx_http_svc_admin(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char                       *rv;
    ngx_svc_loc_conf_t         *slcf;
    ngx_svc_admin_main_conf_t  *amcf;

    rv = ngx_svc_surface_directive(cf, cmd, conf);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    slcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_svc_common_module);

    if (slcf->surface == &ngx_http_svc_admin_surface) {
        amcf = ngx_http_conf_get_module_main_conf(cf,
                                                  ngx_http_svc_admin_module);
        amcf->on = 1;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_svc_admin_cache_size(ngx_conf_t *cf, void *post, void *data)
{
    size_t  *size = data;

    return *size < NGX_SVC_ADMIN_CACHE_MIN ? "must be at least 1m"
                                           : NGX_CONF_OK;
}


static ngx_int_t
ngx_http_svc_admin_init_process(ngx_cycle_t *cycle)
{
    ngx_svc_main_conf_t        *smcf;
    ngx_svc_admin_main_conf_t  *amcf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    amcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_admin_module);

    if (amcf == NULL) {
        return NGX_OK;
    }

    ngx_svc_settings_init_worker(&amcf->settings);

    if (ngx_svc_oauth_init_worker(cycle, amcf) != NGX_OK) {
        return NGX_ERROR;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);

    if (amcf->oauth || amcf->cache) {
        ngx_svc_oauth_sweep_init_worker(cycle, smcf->pg.timeout);
    }

    if (amcf->cache == NULL) {
        return NGX_OK;
    }

    if (ngx_worker == 0) {
        ngx_svc_pg_task_init(&ngx_svc_admin_user_index, cycle);
    }

    if (ngx_worker == 0 && smcf->federation == 1) {
        ngx_svc_federation_meta_init_worker(cycle);
        ngx_svc_directory_import_init_worker(cycle);
    }

    if (ngx_svc_signin_init_worker(cycle, amcf) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_dns_init_worker(cycle, &amcf->resolver);

    return ngx_svc_cache_init_worker(amcf->cache);
}


static void
ngx_http_svc_admin_exit_process(ngx_cycle_t *cycle)
{
    ngx_svc_work_exit_worker();
    ngx_svc_oauth_exit_worker();
    ngx_svc_directory_import_exit_worker();
    ngx_svc_ldap_exit_worker();
    ngx_svc_dns_exit_worker();
    ngx_svc_oauth_sweep_exit_worker();
    ngx_svc_federation_meta_exit_worker();
    ngx_svc_published_exit_worker();
    ngx_svc_signin_exit_worker();
    ngx_svc_pg_task_exit(&ngx_svc_admin_user_index);
    ngx_svc_cache_exit_worker();
}


static void
ngx_http_svc_admin_error(ngx_svc_json_writer_t *w,
    const ngx_svc_error_row_t *row, const ngx_str_t *detail,
    const ngx_str_t *member)
{
    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_open(w, "error", '{');

    ngx_svc_json_plain(w, "code", row->code.data, row->code.len);
    ngx_svc_json_string(w, "message", detail->data, detail->len);

    if (member->len) {
        ngx_svc_json_string(w, "member", member->data, member->len);
    }

    ngx_svc_json_close(w, '}');
    ngx_svc_json_close(w, '}');
}
