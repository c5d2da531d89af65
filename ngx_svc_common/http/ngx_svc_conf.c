/*
 * The directives' values: each is checked here, while nginx reads its
 * configuration, and a message says what would be right.
 */

#include "ngx_svc_conf.h"
#include "ngx_svc_secret_file.h"
#include "ngx_svc_pg_conninfo.h"
#include "ngx_svc_redis_server.h"
#include "ngx_svc_health.h"
#include "ngx_svc_metrics_text.h"
#include "ngx_svc_metrics.h"

#include <openssl/crypto.h>


#define NGX_SVC_KEY_FILE_MAX  8192
#define NGX_SVC_TIMEOUT_MAX   3600000   /* ms */


static char *ngx_svc_conf_pool_number(ngx_conf_t *cf,
    ngx_svc_pg_pool_conf_t *pool, const ngx_str_t *value);
static ngx_int_t ngx_svc_conf_location(ngx_conf_t *cf,
    ngx_svc_loc_conf_t *slcf);
static char *ngx_svc_conf_handler(ngx_conf_t *cf, ngx_svc_loc_conf_t *slcf,
    ngx_http_handler_pt handler);
static ngx_uint_t ngx_svc_conf_reaches(ngx_http_core_loc_conf_t *clcf,
    const ngx_str_t *prefix);


char *
ngx_svc_conf_postgres(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_main_conf_t *smcf = conf;

    ngx_str_t  *value;

    if (smcf->pg.conninfo.len) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "is empty";
    }

    smcf->pg.conninfo = value[1];

    return ngx_svc_pg_conninfo(cf, &smcf->pg);
}


char *
ngx_svc_conf_postgres_pool(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_main_conf_t *smcf = conf;

    char                     *rv;
    ngx_str_t                *value;
    ngx_uint_t                i;
    ngx_svc_pg_pool_conf_t   *pool;

    static const char  *names[] = { "read", "write", "slow" };

    value = cf->args->elts;

    for (i = 0; i < NGX_SVC_PG_NPOOLS; i++) {
        if (ngx_strcmp(value[1].data, names[i]) == 0) {
            break;
        }
    }

    if (i == NGX_SVC_PG_NPOOLS) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "unknown pool \"%V\": it is \"read\", \"write\" or "
                           "\"slow\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    pool = &smcf->pg.pools[i];

    for (i = 2; i < cf->args->nelts; i++) {
        rv = ngx_svc_conf_pool_number(cf, pool, &value[i]);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return NGX_CONF_OK;
}


static char *
ngx_svc_conf_pool_number(ngx_conf_t *cf, ngx_svc_pg_pool_conf_t *pool,
    const ngx_str_t *value)
{
    ngx_int_t    n;
    ngx_str_t    s;
    ngx_uint_t   max, *slot;

    if (ngx_strncmp(value->data, "connections=", 12) == 0) {
        slot = &pool->connections;
        s.data = value->data + 12;
        max = NGX_SVC_PG_MAX_CONNS;

    } else if (ngx_strncmp(value->data, "depth=", 6) == 0) {
        slot = &pool->depth;
        s.data = value->data + 6;
        max = NGX_SVC_PG_MAX_DEPTH;

    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is neither \"connections=number\" nor "
                           "\"depth=number\"", value);
        return NGX_CONF_ERROR;
    }

    if (*slot != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    s.len = value->data + value->len - s.data;
    n = ngx_atoi(s.data, s.len);

    if (n < 1 || (ngx_uint_t) n > max) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must be a number from 1 to %ui", value,
                           max);
        return NGX_CONF_ERROR;
    }

    *slot = n;

    return NGX_CONF_OK;
}


char *
ngx_svc_conf_redis(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_main_conf_t *smcf = conf;

    if (smcf->redis.name.len) {
        return "is duplicate";
    }

    return ngx_svc_redis_servers(cf, &smcf->redis);
}


char *
ngx_svc_conf_key_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_main_conf_t *smcf = conf;

    char         why[NGX_MAX_ERROR_STR / 8];
    u_char       text[NGX_SVC_KEY_FILE_MAX];
    ssize_t      n;
    ngx_int_t    rc;
    ngx_str_t   *value, name;

    static const ngx_svc_secret_file_t  file = {
        "key file", "k1:$(openssl rand -hex 32)"
    };

    if (smcf->key_file.len) {
        return "is duplicate";
    }

    value = cf->args->elts;
    name = value[1];

    if (ngx_conf_full_name(cf->cycle, &name, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    n = ngx_svc_secret_file(cf, &file, &name, text, sizeof(text));

    if (n == NGX_ERROR) {
        return NGX_CONF_ERROR;
    }

    rc = ngx_svc_keys_parse(&smcf->keys, text, n, why);

    OPENSSL_cleanse(text, sizeof(text));

    if (rc != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "the key file \"%V\": %s",
                           &name, why);
        return NGX_CONF_ERROR;
    }

    smcf->key_file = name;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_svc_conf_location(ngx_conf_t *cf, ngx_svc_loc_conf_t *slcf)
{
    ngx_str_t            *value;
    ngx_svc_location_t   *location;
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_svc_main_conf(cf);

    location = ngx_array_push(&smcf->locations);
    if (location == NULL) {
        return NGX_ERROR;
    }

    value = cf->args->elts;

    location->conf = slcf;
    location->directive = value[0];
    location->file = cf->conf_file->file.name.data;
    location->line = cf->conf_file->line;

    return NGX_OK;
}


char *
ngx_svc_conf_health(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_loc_conf_t *slcf = conf;

    char       *rv;
    ngx_str_t  *value;

    value = cf->args->elts;

    if (cf->args->nelts > 1) {
        if (ngx_strcmp(value[1].data, "writes") != 0) {
            return "takes \"writes\", or nothing";
        }

        slcf->health_writes = 1;
    }

    rv = ngx_svc_conf_handler(cf, slcf, ngx_svc_health_handler);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    return ngx_svc_conf_location(cf, slcf) == NGX_OK ? NGX_CONF_OK
                                                         : NGX_CONF_ERROR;
}


char *
ngx_svc_conf_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_loc_conf_t *slcf = conf;

    char                 *rv;
    ngx_svc_main_conf_t  *smcf;

    rv = ngx_svc_conf_handler(cf, slcf, ngx_svc_metrics_handler);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    smcf = ngx_svc_main_conf(cf);
    smcf->metrics = ngx_svc_metrics_zone(cf, &ngx_http_svc_common_module);

    return smcf->metrics ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static char *
ngx_svc_conf_handler(ngx_conf_t *cf, ngx_svc_loc_conf_t *slcf,
    ngx_http_handler_pt handler)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->handler) {
        return "cannot be in a location with another handler";
    }

    clcf->handler = handler;
    slcf->handler = handler;

    return NGX_CONF_OK;
}


char *
ngx_svc_conf_zoneinfo(ngx_conf_t *cf, void *post, void *data)
{
    ngx_str_t *name = data;

    if (name->len == 0) {
        return "is empty";
    }

    return ngx_conf_full_name(cf->cycle, name, 0) == NGX_OK ? NGX_CONF_OK
                                                            : NGX_CONF_ERROR;
}


/* A text without a variable would be the same country for all clients. */

char *
ngx_svc_conf_country(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t  *value;

    value = cf->args->elts;

    if (ngx_http_script_variables_count(&value[1]) == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_country\" takes a variable such as "
                           "$geoip2_data_country_code, not \"%V\"",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    return ngx_http_set_complex_value_slot(cf, cmd, conf);
}


/* PostgreSQL takes a statement_timeout as a 32-bit number, and 0 as none. */

char *
ngx_svc_conf_timeout(ngx_conf_t *cf, void *post, void *data)
{
    ngx_msec_t *timeout = data;

    if (*timeout < 1 || *timeout > NGX_SVC_TIMEOUT_MAX) {
        return "must be a time from 1ms to 1h";
    }

    return NGX_CONF_OK;
}


char *
ngx_svc_surface_directive(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t                  *value;
    ngx_svc_loc_conf_t         *slcf;
    ngx_svc_srv_conf_t         *sscf;
    ngx_http_core_loc_conf_t   *clcf;
    const ngx_svc_surface_t   **surface;

    value = cf->args->elts;

    if (ngx_strcasecmp(value[1].data, (u_char *) "off") == 0) {
        return NGX_CONF_OK;
    }

    if (ngx_strcasecmp(value[1].data, (u_char *) "on") != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" takes \"on\" or \"off\", not \"%V\"",
                           &value[0], &value[1]);
        return NGX_CONF_ERROR;
    }

    slcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_svc_common_module);
    sscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_svc_common_module);
    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (slcf->surface) {
        return "is duplicate";
    }

    if (clcf->handler) {
        return "cannot be in a location with another handler";
    }

    if (!ngx_svc_conf_reaches(clcf, &((ngx_svc_surface_t *) cmd->post)->prefix))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" does not get the requests for %V in "
                           "location \"%V\": put it into location %V",
                           &value[0],
                           &((ngx_svc_surface_t *) cmd->post)->prefix,
                           &clcf->name,
                           &((ngx_svc_surface_t *) cmd->post)->prefix);
        return NGX_CONF_ERROR;
    }

    surface = ngx_array_push(&sscf->surfaces);
    if (surface == NULL) {
        return NGX_CONF_ERROR;
    }

    *surface = cmd->post;
    slcf->surface = cmd->post;
    slcf->handler = ngx_svc_request_handler;
    clcf->handler = ngx_svc_request_handler;

    return ngx_svc_conf_location(cf, slcf) == NGX_OK ? NGX_CONF_OK
                                                         : NGX_CONF_ERROR;
}


const ngx_svc_loc_conf_t *
ngx_svc_conf_surface(const ngx_svc_main_conf_t *smcf, const char *prefix)
{
    ngx_uint_t                i;
    ngx_svc_location_t       *location;
    const ngx_svc_surface_t  *surface;

    location = smcf->locations.elts;

    for (i = 0; i < smcf->locations.nelts; i++) {
        surface = location[i].conf->surface;

        if (surface && surface->prefix.len == ngx_strlen(prefix)
            && ngx_memcmp(surface->prefix.data, prefix, surface->prefix.len)
               == 0)
        {
            return location[i].conf;
        }
    }

    return NULL;
}


/*
 * Returns 1 if a request to the surface's prefix can come to the location.  Of
 * a regular expression that is not known, so it counts as 1.
 */

static ngx_uint_t
ngx_svc_conf_reaches(ngx_http_core_loc_conf_t *clcf, const ngx_str_t *prefix)
{
    size_t  len;

#if (NGX_PCRE)
    if (clcf->regex) {
        return 1;
    }
#endif

    if (clcf->named) {
        return 1;
    }

    len = ngx_min(clcf->name.len, prefix->len);

    return ngx_strncmp(clcf->name.data, prefix->data, len) == 0
           && !(clcf->exact_match && clcf->name.len <= prefix->len + 1);
}
