/*
 * svc_password_hash.
 */

#include "ngx_svc_password_conf.h"


typedef struct {
    ngx_str_t     name;
    size_t        offset;
    ngx_int_t   (*read)(ngx_str_t *value);  /* NGX_ERROR: none, or too large */
    ngx_int_t     min;
    ngx_int_t     max;
    ngx_uint_t    normal;
    const char   *range;
} ngx_svc_password_parameter_t;


static ngx_int_t ngx_svc_password_read_memory(ngx_str_t *value);
static ngx_int_t ngx_svc_password_read_number(ngx_str_t *value);
static ngx_int_t ngx_svc_password_read_time(ngx_str_t *value);
static char *ngx_svc_password_parameter(ngx_conf_t *cf,
    ngx_svc_admin_hash_conf_t *hash, ngx_str_t *value);
static void ngx_svc_password_conf_total(ngx_conf_t *cf,
    const ngx_svc_admin_hash_conf_t *hash);
static ngx_uint_t ngx_svc_password_weak(const ngx_svc_admin_hash_conf_t *hash);


static const ngx_svc_password_parameter_t  ngx_svc_password_parameters[] = {

    { ngx_string("memory="),
      offsetof(ngx_svc_admin_hash_conf_t, memory),
      ngx_svc_password_read_memory, 7 * 1024, 1024 * 1024, 19 * 1024,
      "a size from 7m to 1g" },

    { ngx_string("iterations="),
      offsetof(ngx_svc_admin_hash_conf_t, iterations),
      ngx_svc_password_read_number, 1, 16, 2,
      "a number from 1 to 16" },

    { ngx_string("concurrency="),
      offsetof(ngx_svc_admin_hash_conf_t, concurrency),
      ngx_svc_password_read_number, 1, 64, 1,
      "a number from 1 to 64" },

    { ngx_string("queue="),
      offsetof(ngx_svc_admin_hash_conf_t, queue),
      ngx_svc_password_read_number, 0, 65536, 64,
      "a number from 0 to 65536" },

    { ngx_string("timeout="),
      offsetof(ngx_svc_admin_hash_conf_t, timeout),
      ngx_svc_password_read_time, 1, 3600000, 1000,
      "a time from 1ms to 1h" },

    { ngx_string("floor="),
      offsetof(ngx_svc_admin_hash_conf_t, floor),
      ngx_svc_password_read_time, 0, 10000, 0,
      "a time from 0 to 10s" },

    { ngx_null_string, 0, NULL, 0, 0, 0, NULL }
};


/* The OWASP password storage cheat sheet's equivalents for argon2id. */

static const struct {
    ngx_uint_t  memory;     /* KiB */
    ngx_uint_t  iterations;
} ngx_svc_password_owasp[] = {
    { 46 * 1024, 1 },
    { 19 * 1024, 2 },
    { 12 * 1024, 3 },
    { 9 * 1024, 4 },
    { 7 * 1024, 5 },
};


#define ngx_svc_password_slot(hash, parameter)                                \
    ((ngx_uint_t *) ((u_char *) (hash) + (parameter)->offset))


void
ngx_svc_password_conf_init(ngx_svc_admin_hash_conf_t *hash)
{
    const ngx_svc_password_parameter_t  *p;

    for (p = ngx_svc_password_parameters; p->name.len; p++) {
        *ngx_svc_password_slot(hash, p) = NGX_CONF_UNSET_UINT;
    }
}


char *
ngx_svc_password_conf_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char                       *p = conf;

    char                       *rv;
    ngx_str_t                  *value;
    ngx_uint_t                  i;
    ngx_svc_admin_hash_conf_t  *hash;

    hash = (ngx_svc_admin_hash_conf_t *) (p + cmd->offset);

    if (hash->set) {
        return "is duplicate";
    }

    hash->set = 1;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        rv = ngx_svc_password_parameter(cf, hash, &value[i]);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return NGX_CONF_OK;
}


static char *
ngx_svc_password_parameter(ngx_conf_t *cf, ngx_svc_admin_hash_conf_t *hash,
    ngx_str_t *value)
{
    ngx_int_t                            n;
    ngx_str_t                            s;
    ngx_uint_t                          *slot;
    const ngx_svc_password_parameter_t  *p;

    for (p = ngx_svc_password_parameters; p->name.len; p++) {

        if (value->len >= p->name.len
            && ngx_strncmp(value->data, p->name.data, p->name.len) == 0)
        {
            break;
        }
    }

    if (p->name.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "unknown parameter \"%V\" of "
                           "\"svc_password_hash\": it takes memory=, "
                           "iterations=, concurrency=, queue=, timeout= and "
                           "floor=", value);
        return NGX_CONF_ERROR;
    }

    slot = ngx_svc_password_slot(hash, p);

    if (*slot != NGX_CONF_UNSET_UINT) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_password_hash\" has \"%V\" twice", &p->name);
        return NGX_CONF_ERROR;
    }

    s.data = value->data + p->name.len;
    s.len = value->len - p->name.len;

    n = p->read(&s);

    if (n < p->min || n > p->max) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" of \"svc_password_hash\" must be %s",
                           value, p->range);
        return NGX_CONF_ERROR;
    }

    *slot = n;

    return NGX_CONF_OK;
}


void
ngx_svc_password_conf_done(ngx_conf_t *cf, ngx_svc_admin_hash_conf_t *hash)
{
    const ngx_svc_password_parameter_t  *p;

    for (p = ngx_svc_password_parameters; p->name.len; p++) {
        ngx_conf_init_uint_value(*ngx_svc_password_slot(hash, p), p->normal);
    }

    if (!hash->set) {
        return;
    }

    if (ngx_svc_password_weak(hash)) {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "\"svc_password_hash\" with memory=%uik iterations=%ui "
                      "is weaker than OWASP advises: with 1 iteration at "
                      "least memory=46m, with 2 19m, with 3 12m, with 4 9m, "
                      "with 5 7m", hash->memory, hash->iterations);
    }

    if (ngx_test_config && !ngx_quiet_mode) {
        ngx_svc_password_conf_total(cf, hash);
    }
}


/* Tells the person who tests the configuration, beside nginx's own message. */

static void
ngx_svc_password_conf_total(ngx_conf_t *cf,
    const ngx_svc_admin_hash_conf_t *hash)
{
    ngx_int_t         workers;
    ngx_uint_t        total;
    ngx_core_conf_t  *ccf;

    /* a worker_processes after the block "http" is not known yet */

    ccf = (ngx_core_conf_t *) ngx_get_conf(cf->cycle->conf_ctx,
                                           ngx_core_module);

    workers = ccf->worker_processes == NGX_CONF_UNSET ? 1
                                                      : ccf->worker_processes;
    total = (workers * hash->concurrency * hash->memory + 1023) / 1024;

    ngx_log_stderr(0, "\"svc_password_hash\" lets password hashes take up to "
                   "%ui MiB: worker_processes %i x concurrency=%ui x "
                   "memory=%uik", total, workers, hash->concurrency,
                   hash->memory);
}


static ngx_uint_t
ngx_svc_password_weak(const ngx_svc_admin_hash_conf_t *hash)
{
    ngx_uint_t  i, n;

    n = sizeof(ngx_svc_password_owasp) / sizeof(ngx_svc_password_owasp[0]);

    for (i = 0; i < n; i++) {
        if (hash->memory >= ngx_svc_password_owasp[i].memory
            && hash->iterations >= ngx_svc_password_owasp[i].iterations)
        {
            return 0;
        }
    }

    return 1;
}


static ngx_int_t
ngx_svc_password_read_memory(ngx_str_t *value)
{
    off_t  size;

    size = ngx_parse_offset(value);

    return size < 0 ? NGX_ERROR : (ngx_int_t) (size / 1024);
}


static ngx_int_t
ngx_svc_password_read_number(ngx_str_t *value)
{
    return ngx_atoi(value->data, value->len);
}


static ngx_int_t
ngx_svc_password_read_time(ngx_str_t *value)
{
    return ngx_parse_time(value, 0);
}
