/*
 * Webhooks: the directives, and the start and end of a worker.
 */

#include "ngx_svc_helper.h"
#include "ngx_svc_helper_process.h"
#include "ngx_svc_mail_enqueue.h"
#include "ngx_svc_mail_templates.h"
#include "ngx_svc_outbound_target.h"
#include "ngx_svc_push_api.h"
#include "ngx_svc_webhook_api.h"
#include "ngx_svc_webhook_conf.h"
#include "ngx_svc_webhook_due.h"
#include "ngx_svc_webhook_emit.h"
#include "ngx_svc_webhook_entry.h"

#include "ngx_svc_conf_networks.h"

#include <ngx_event.h>


static ngx_int_t ngx_http_svc_webhook_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_svc_webhook_postconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_svc_webhook_deliverable(const ngx_str_t *url,
    const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_http_svc_webhook_needs(ngx_conf_t *cf,
    const ngx_svc_main_conf_t *smcf, const char *what);
static ngx_int_t ngx_http_svc_webhook_mail(ngx_conf_t *cf,
    ngx_svc_mail_conf_t *mail);
static ngx_int_t ngx_http_svc_webhook_add_routes(ngx_conf_t *cf,
    const ngx_svc_webhook_conf_t *wcf);
static void *ngx_http_svc_webhook_create_main_conf(ngx_conf_t *cf);
static char *ngx_http_svc_webhook_init_main_conf(ngx_conf_t *cf, void *conf);
static ngx_int_t ngx_http_svc_webhook_init_module(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_svc_webhook_init_process(ngx_cycle_t *cycle);
static void ngx_http_svc_webhook_exit_process(ngx_cycle_t *cycle);


static ngx_conf_post_t  ngx_http_svc_webhook_timeout_post = {
    ngx_svc_webhook_conf_timeout
};

static ngx_conf_post_t  ngx_http_svc_webhook_proxy_post = {
    ngx_svc_webhook_conf_proxy
};

static ngx_conf_post_t  ngx_http_svc_webhook_folder_post = {
    ngx_svc_mail_conf_folder
};


static ngx_svc_webhook_numbers_t  ngx_http_svc_webhook_queue = {
    .max = 10000000,
    .list = {
        { NULL, offsetof(ngx_svc_webhook_conf_t, capacity) },
        { "tenant=", offsetof(ngx_svc_webhook_conf_t, tenant_capacity) },
        { "endpoint=", offsetof(ngx_svc_webhook_conf_t, endpoint_capacity) },
        { NULL, 0 }
    }
};

static ngx_svc_webhook_numbers_t  ngx_http_svc_webhook_concurrency = {
    .max = 65536,
    .list = {
        { NULL, offsetof(ngx_svc_webhook_conf_t, concurrency) },
        { "tenant=", offsetof(ngx_svc_webhook_conf_t, tenant_concurrency) },
        { "endpoint=", offsetof(ngx_svc_webhook_conf_t,
                                endpoint_concurrency) },
        { NULL, 0 }
    }
};

static ngx_svc_webhook_numbers_t  ngx_http_svc_webhook_mail_concurrency = {
    .max = NGX_SVC_MAIL_CONCURRENCY_MAX,
    .list = {
        { NULL, offsetof(ngx_svc_webhook_conf_t, mail.concurrency) },
        { NULL, 0 }
    }
};

static ngx_svc_webhook_numbers_t  ngx_http_svc_webhook_scim_rate = {
    .max = NGX_SVC_PUSH_RATE_MAX,
    .off = 1,
    .list = {
        { NULL, offsetof(ngx_svc_webhook_conf_t, push.rate) },
        { NULL, 0 }
    }
};


static ngx_svc_conf_networks_t  ngx_http_svc_webhook_networks = {
    "the webhooks", "receivers"
};


static ngx_command_t  ngx_http_svc_webhook_commands[] = {

    { ngx_string("svc_webhooks"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, on),
      NULL },

    { ngx_string("svc_webhook_queue"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE123,
      ngx_svc_webhook_conf_numbers,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      &ngx_http_svc_webhook_queue },

    { ngx_string("svc_webhook_concurrency"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE123,
      ngx_svc_webhook_conf_numbers,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      &ngx_http_svc_webhook_concurrency },

    { ngx_string("svc_webhook_outbox"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_webhook_conf_outbox,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_webhook_connect_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, connect_timeout),
      &ngx_http_svc_webhook_timeout_post },

    { ngx_string("svc_webhook_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, timeout),
      &ngx_http_svc_webhook_timeout_post },

    { ngx_string("svc_webhook_shutdown_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, shutdown_timeout),
      &ngx_http_svc_webhook_timeout_post },

    { ngx_string("svc_webhook_ca_file"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, ca_file),
      NULL },

    { ngx_string("svc_webhook_proxy"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, proxy),
      &ngx_http_svc_webhook_proxy_post },

    { ngx_string("svc_webhook_allow"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_svc_conf_networks,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, allow),
      &ngx_http_svc_webhook_networks },

    { ngx_string("svc_mail"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_mail_conf_server,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, mail),
      NULL },

    { ngx_string("svc_mail_from"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_mail_conf_from,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, mail),
      NULL },

    { ngx_string("svc_mail_credentials"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_mail_conf_credentials,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, mail),
      NULL },

    { ngx_string("svc_mail_tls"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_mail_conf_tls,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, mail),
      NULL },

    { ngx_string("svc_mail_templates"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, mail.folder),
      &ngx_http_svc_webhook_folder_post },

    { ngx_string("svc_mail_concurrency"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_webhook_conf_numbers,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      &ngx_http_svc_webhook_mail_concurrency },

    { ngx_string("svc_mail_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_mail_conf_timeout,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, mail),
      NULL },

    { ngx_string("svc_mail_retry"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_svc_mail_conf_retry,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, mail),
      NULL },

    { ngx_string("svc_scim_targets"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, push.on),
      NULL },

    { ngx_string("svc_scim_rate"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_webhook_conf_numbers,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      &ngx_http_svc_webhook_scim_rate },

    { ngx_string("svc_backchannel_logout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_svc_webhook_conf_t, logout),
      NULL },

    /* removed: the next version does not know them */

    { ngx_string("svc_webhook_keep"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_webhook_conf_removed,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_webhook_keep_size"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_webhook_conf_removed,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("svc_webhook_keep_time"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_svc_webhook_conf_removed,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_svc_webhook_module_ctx = {
    ngx_http_svc_webhook_preconfiguration,   /* preconfiguration */
    ngx_http_svc_webhook_postconfiguration,  /* postconfiguration */

    ngx_http_svc_webhook_create_main_conf,   /* create main configuration */
    ngx_http_svc_webhook_init_main_conf,     /* init main configuration */

    NULL,                                    /* create server configuration */
    NULL,                                    /* merge server configuration */

    NULL,                                    /* create location configuration */
    NULL                                     /* merge location configuration */
};


ngx_module_t  ngx_http_svc_webhook_module = {
    NGX_MODULE_V1,
    &ngx_http_svc_webhook_module_ctx,        /* module context */
    ngx_http_svc_webhook_commands,           /* module directives */
    NGX_HTTP_MODULE,                         /* module type */
    NULL,                                    /* init master */
    ngx_http_svc_webhook_init_module,        /* init module */
    ngx_http_svc_webhook_init_process,       /* init process */
    NULL,                                    /* init thread */
    NULL,                                    /* exit thread */
    ngx_http_svc_webhook_exit_process,       /* exit process */
    NULL,                                    /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_svc_webhook_preconfiguration(ngx_conf_t *cf)
{
    ngx_svc_main_conf_t  *smcf;

    if (ngx_svc_check_common(cf, "ngx_http_svc_webhook_module") != NGX_OK) {
        return NGX_ERROR;
    }

    smcf = ngx_svc_main_conf(cf);
    smcf->helper = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_http_svc_webhook_postconfiguration(ngx_conf_t *cf)
{
    const char              *what;
    ngx_svc_main_conf_t     *smcf;
    ngx_svc_webhook_conf_t  *wcf;

    smcf = ngx_svc_main_conf(cf);
    wcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_svc_webhook_module);

    wcf->fetch = smcf->federation;

    if (!ngx_svc_helper_on(wcf)) {
        return NGX_OK;
    }

    what = wcf->on ? "svc_webhooks on"
           : wcf->push.on ? "svc_scim_targets on"
           : wcf->logout ? "svc_backchannel_logout on"
           : wcf->mail.url.len ? "svc_mail" : "svc_federation on";

    /* a helper that is there anyway fetches for applications, too */

    wcf->fetch |= ngx_svc_conf_surface(smcf, "/oauth") != NULL;
    smcf->fetch = wcf->fetch;

    if (ngx_http_svc_webhook_needs(cf, smcf, what) != NGX_OK
        || ngx_svc_webhook_conf_check_ca(cf, &wcf->ca_file) != NGX_OK)
    {
        return NGX_ERROR;
    }

    smcf->webhooks = wcf->on;
    smcf->targets = wcf->push.on;
    smcf->logout = wcf->logout;
    smcf->deliverable = ngx_http_svc_webhook_deliverable;

    if (wcf->mail.url.len
        && ngx_http_svc_webhook_mail(cf, &wcf->mail) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_svc_webhook_add_routes(cf, wcf);
}


static ngx_int_t
ngx_http_svc_webhook_deliverable(const ngx_str_t *url, const char *path,
    ngx_svc_error_t *err)
{
    return ngx_svc_outbound_url(url, &ngx_svc_webhook_conf()->allow, 0, path,
                                err);
}


static ngx_int_t
ngx_http_svc_webhook_needs(ngx_conf_t *cf, const ngx_svc_main_conf_t *smcf,
    const char *what)
{
    const char  *missing;

    if (smcf->pg.conninfo.len == 0) {
        missing = "svc_postgres \"host=... dbname=svc user=svc_app\"";

    } else if (smcf->redis.name.len == 0) {
        missing = "svc_redis 127.0.0.1:6379";

    } else if (smcf->key_file.len == 0) {
        missing = "svc_key_file /etc/nginx/svc.keys";

    } else {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"%s\" needs \"%s;\" in the http block", what, missing);

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_svc_webhook_mail(ngx_conf_t *cf, ngx_svc_mail_conf_t *mail)
{
    if (ngx_svc_mail_conf_check(cf, mail) != NGX_OK) {
        return NGX_ERROR;
    }

    mail->templates = ngx_svc_mail_templates(cf, &mail->folder);

    return mail->templates ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_svc_webhook_add_routes(ngx_conf_t *cf,
    const ngx_svc_webhook_conf_t *wcf)
{
    static const ngx_str_t  prefix = ngx_string("/v1");

    if (wcf->on
        && ngx_svc_add_resources(cf, &prefix, ngx_svc_webhook_resources)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return wcf->push.on
           ? ngx_svc_add_resources(cf, &prefix, ngx_svc_push_resources)
           : NGX_OK;
}


static void *
ngx_http_svc_webhook_create_main_conf(ngx_conf_t *cf)
{
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_pcalloc(cf->pool, sizeof(ngx_svc_webhook_conf_t));
    if (wcf == NULL) {
        return NULL;
    }

    wcf->log = cf->log;
    ngx_svc_mail_conf_create(&wcf->mail);
    ngx_svc_push_conf_create(&wcf->push);
    wcf->on = NGX_CONF_UNSET;
    wcf->logout = NGX_CONF_UNSET;
    wcf->capacity = NGX_CONF_UNSET_UINT;
    wcf->tenant_capacity = NGX_CONF_UNSET_UINT;
    wcf->endpoint_capacity = NGX_CONF_UNSET_UINT;
    wcf->concurrency = NGX_CONF_UNSET_UINT;
    wcf->tenant_concurrency = NGX_CONF_UNSET_UINT;
    wcf->endpoint_concurrency = NGX_CONF_UNSET_UINT;
    wcf->outbox = NGX_CONF_UNSET_MSEC;
    wcf->connect_timeout = NGX_CONF_UNSET_MSEC;
    wcf->timeout = NGX_CONF_UNSET_MSEC;
    wcf->shutdown_timeout = NGX_CONF_UNSET_MSEC;

    if (ngx_array_init(&wcf->allow, cf->pool, 4, sizeof(ngx_svc_cidr_t))
        != NGX_OK)
    {
        return NULL;
    }

    return wcf;
}


static char *
ngx_http_svc_webhook_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_svc_webhook_conf_t *wcf = conf;

    ngx_conf_init_value(wcf->on, 0);
    ngx_conf_init_value(wcf->logout, 0);
    ngx_conf_init_uint_value(wcf->capacity, 50000);
    ngx_conf_init_uint_value(wcf->tenant_capacity,
                             ngx_max(wcf->capacity / 4, 1));
    ngx_conf_init_uint_value(wcf->endpoint_capacity,
                             ngx_max(wcf->tenant_capacity / 2, 1));
    ngx_conf_init_uint_value(wcf->concurrency, 512);
    ngx_conf_init_uint_value(wcf->tenant_concurrency, 64);
    ngx_conf_init_uint_value(wcf->endpoint_concurrency, 16);
    ngx_conf_init_msec_value(wcf->outbox, 5000);
    ngx_conf_init_msec_value(wcf->connect_timeout, 3000);
    ngx_conf_init_msec_value(wcf->timeout, 10000);
    ngx_conf_init_msec_value(wcf->shutdown_timeout, 10000);
    ngx_svc_mail_conf_init(&wcf->mail);
    ngx_svc_push_conf_init(&wcf->push);

    if (wcf->ca_file.len == 0) {
        ngx_str_set(&wcf->ca_file, "/etc/ssl/certs/ca-certificates.crt");

    } else if (ngx_conf_full_name(cf->cycle, &wcf->ca_file, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/*
 * Warns here, since the events block may come after the http block.  An error
 * would end a master that rereads its configuration.  The warning goes where
 * those of the parser went: cycle->log has the level of "error_log" by now,
 * which hides it by default, and from "nginx -t", too.
 */

static ngx_int_t
ngx_http_svc_webhook_init_module(ngx_cycle_t *cycle)
{
    ngx_uint_t               needed;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_http_cycle_get_module_main_conf(cycle,
                                              ngx_http_svc_webhook_module);

    if (wcf == NULL || !ngx_svc_helper_on(wcf)) {
        return NGX_OK;
    }

    needed = wcf->concurrency + NGX_SVC_HELPER_RESERVE;

    if (wcf->fetch) {
        needed += ngx_min(wcf->concurrency / 3 + 1, NGX_SVC_HELPER_FETCHES);
    }

    if (wcf->on && needed > cycle->connection_n) {
        ngx_log_error(NGX_LOG_WARN, wcf->log, 0,
                      "\"svc_webhook_concurrency %ui\" needs "
                      "\"worker_connections\" of %ui at least; with %ui fewer "
                      "webhooks are delivered at a time", wcf->concurrency,
                      needed, cycle->connection_n);
    }

    wcf->log = NULL;

    return NGX_OK;
}


/* Cache managers and loaders call this, too, and have no helper. */

static ngx_int_t
ngx_http_svc_webhook_init_process(ngx_cycle_t *cycle)
{
    ngx_svc_main_conf_t     *smcf;
    ngx_svc_webhook_conf_t  *wcf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    wcf = ngx_http_cycle_get_module_main_conf(cycle,
                                              ngx_http_svc_webhook_module);

    if (wcf == NULL || !ngx_svc_helper_on(wcf)) {
        return NGX_OK;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);

    if (wcf->on) {
        if (ngx_svc_webhook_entry_init(&smcf->keys) != NGX_OK) {
            return NGX_ERROR;
        }

        ngx_svc_webhook_due_init(cycle);
        ngx_svc_webhook_emit_init();
    }

    if (wcf->mail.url.len) {
        ngx_svc_mail_enqueue_init();
    }

    if (ngx_worker == 0) {
        ngx_svc_helper_init(cycle);
    }

    return NGX_OK;
}


static void
ngx_http_svc_webhook_exit_process(ngx_cycle_t *cycle)
{
    ngx_svc_helper_exit();
    ngx_svc_mail_enqueue_exit();
    ngx_svc_webhook_emit_exit();
    ngx_svc_webhook_due_exit();
    ngx_svc_webhook_entry_exit();
}
