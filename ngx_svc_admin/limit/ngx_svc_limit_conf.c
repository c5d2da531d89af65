/*
 * The directives of limits, and their shared memory.
 */

#include "ngx_svc_limit_conf.h"
#include "ngx_svc_limit_memory.h"


#define NGX_SVC_LIMIT_SIZE        (4 * 1024 * 1024)
#define NGX_SVC_LIMIT_SIZE_MIN    (64 * 1024)
#define NGX_SVC_LIMIT_PAGES_MIN   8
#define NGX_SVC_SETTING_RANGE     128       /* bytes, at most */


static char *ngx_svc_conf_unknown_setting(ngx_conf_t *cf, ngx_str_t *name);
static ngx_int_t ngx_svc_setting_environment(ngx_conf_t *cf,
    ngx_svc_setting_e setting, ngx_uint_t *value);
static ngx_int_t ngx_svc_setting_keep_environment(ngx_conf_t *cf,
    const ngx_str_t *name);
static ngx_int_t ngx_svc_limit_init_zone(ngx_shm_zone_t *zone, void *data);


void
ngx_svc_settings_create(ngx_svc_settings_t *settings)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        settings->values[i] = NGX_CONF_UNSET_UINT;
    }
}


char *
ngx_svc_conf_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    u_char               range[NGX_SVC_SETTING_RANGE], *p;
    ngx_str_t           *value;
    ngx_svc_setting_e    setting;
    ngx_svc_settings_t  *settings;

    settings = (ngx_svc_settings_t *) ((u_char *) conf + cmd->offset);
    value = cf->args->elts;

    setting = ngx_svc_setting_find(&value[1]);

    if (setting == NGX_SVC_SETTINGS) {
        return ngx_svc_conf_unknown_setting(cf, &value[1]);
    }

    if (settings->values[setting] != NGX_CONF_UNSET_UINT) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_set %V\" is duplicate", &value[1]);
        return NGX_CONF_ERROR;
    }

    if (ngx_svc_setting_parse(setting, &value[2], &settings->values[setting])
        != NGX_OK)
    {
        p = ngx_svc_setting_range(range, range + sizeof(range), setting);
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_set %V\" must be %*s, not \"%V\"",
                           &value[1], (size_t) (p - range), range, &value[2]);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static char *
ngx_svc_conf_unknown_setting(ngx_conf_t *cf, ngx_str_t *name)
{
    u_char      names[NGX_MAX_CONF_ERRSTR / 2], *p, *last;
    ngx_uint_t  i;

    p = names;
    last = names + sizeof(names);

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        p = ngx_slprintf(p, last, "%s%V", i ? ", " : "",
                         &ngx_svc_setting_rows[i].name);
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"svc_set\" knows no \"%V\": it is one of %*s", name,
                       (size_t) (p - names), names);

    return NGX_CONF_ERROR;
}


ngx_int_t
ngx_svc_settings_complete(ngx_conf_t *cf, ngx_svc_settings_t *settings)
{
    ngx_uint_t         i, *value;
    ngx_svc_setting_e  setting, other;

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        value = &settings->values[i];

        if (*value == NGX_CONF_UNSET_UINT
            && ngx_svc_setting_environment(cf, i, value) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    setting = ngx_svc_settings_conflict(settings, &other);

    if (setting != NGX_SVC_SETTINGS) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "%V, of %ui seconds, must not be longer than %V, of %ui "
                      "seconds: change one of them with \"svc_set\"",
                      &ngx_svc_setting_rows[setting].name,
                      settings->values[setting],
                      &ngx_svc_setting_rows[other].name,
                      settings->values[other]);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_setting_environment(ngx_conf_t *cf, ngx_svc_setting_e setting,
    ngx_uint_t *value)
{
    u_char                        range[NGX_SVC_SETTING_RANGE], *p;
    ngx_str_t                     text;
    const ngx_svc_setting_row_t  *row;

    row = &ngx_svc_setting_rows[setting];
    text.data = (u_char *) getenv((char *) row->name.data);

    if (text.data == NULL) {
        *value = row->value;
        return NGX_OK;
    }

    text.len = ngx_strlen(text.data);

    if (ngx_svc_setting_parse(setting, &text, value) != NGX_OK) {
        p = ngx_svc_setting_range(range, range + sizeof(range), setting);
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "the environment variable %V must be %*s, not \"%V\"",
                      &row->name, (size_t) (p - range), range, &text);
        return NGX_ERROR;
    }

    return ngx_svc_setting_keep_environment(cf, &row->name);
}


/*
 * Does what the directive "env" does: else a new binary would not get the
 * variable, and a process that is master and worker at once would lose it at a
 * reload.
 */

static ngx_int_t
ngx_svc_setting_keep_environment(ngx_conf_t *cf, const ngx_str_t *name)
{
    ngx_str_t        *env;
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cf->cycle->conf_ctx,
                                           ngx_core_module);

    env = ngx_array_push(&ccf->env);
    if (env == NULL) {
        return NGX_ERROR;
    }

    *env = *name;

    return NGX_OK;
}


char *
ngx_svc_conf_rate_size(ngx_conf_t *cf, void *post, void *data)
{
    size_t *size = data;

    size_t  min;

    min = ngx_max(NGX_SVC_LIMIT_SIZE_MIN,
                  NGX_SVC_LIMIT_PAGES_MIN * ngx_pagesize);

    if (*size < min) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_rate_size\" must be at least %uzk",
                           min / 1024);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


ngx_shm_zone_t *
ngx_svc_limit_zone(ngx_conf_t *cf, size_t size, void *tag)
{
    ngx_str_t        name = ngx_string("ngx_svc_rate");
    ngx_shm_zone_t  *zone;

    if (size == NGX_CONF_UNSET_SIZE) {
        size = NGX_SVC_LIMIT_SIZE;
    }

    zone = ngx_shared_memory_add(cf, &name, size, tag);

    if (zone) {
        zone->init = ngx_svc_limit_init_zone;
        zone->data = tag;
    }

    return zone;
}


/* A reload keeps the zone, unless its size has changed. */

static ngx_int_t
ngx_svc_limit_init_zone(ngx_shm_zone_t *zone, void *data)
{
    if (data || zone->shm.exists) {
        return NGX_OK;
    }

    return ngx_svc_limit_memory_init((ngx_slab_pool_t *) zone->shm.addr);
}
