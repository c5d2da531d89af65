/*
 * The directives' values, checked while nginx reads its configuration.
 */

#include "ngx_svc_webhook_conf.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>


#define NGX_SVC_WEBHOOK_TIMEOUT_MAX  600000     /* ms */
#define NGX_SVC_WEBHOOK_OUTBOX_MAX   3600000    /* ms */


char *
ngx_svc_webhook_conf_numbers(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    size_t                            len;
    ngx_int_t                         n;
    ngx_str_t                        *value;
    ngx_uint_t                        i, *slot;
    const ngx_svc_webhook_number_t   *number;
    const ngx_svc_webhook_numbers_t  *numbers;

    numbers = cmd->post;
    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        number = &numbers->list[0];
        len = 0;

        if (i > 1) {
            for (number = &numbers->list[1]; number->name; number++) {
                len = ngx_strlen(number->name);

                if (ngx_strncmp(value[i].data, number->name, len) == 0) {
                    break;
                }
            }

            if (number->name == NULL) {
                ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                                   "invalid parameter \"%V\" of \"%V\"",
                                   &value[i], &value[0]);
                return NGX_CONF_ERROR;
            }
        }

        slot = (ngx_uint_t *) ((u_char *) conf + number->offset);

        if (*slot != NGX_CONF_UNSET_UINT) {
            return "is duplicate";
        }

        if (numbers->off && ngx_strcmp(value[i].data, "off") == 0) {
            *slot = 0;
            continue;
        }

        n = ngx_atoi(value[i].data + len, value[i].len - len);

        if (n < 1 || n > numbers->max) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" of \"%V\" must be a number from 1 to "
                               "%i%s", &value[i], &value[0], numbers->max,
                               numbers->off ? ", or \"off\"" : "");
            return NGX_CONF_ERROR;
        }

        *slot = n;
    }

    return NGX_CONF_OK;
}


char *
ngx_svc_webhook_conf_removed(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                       "\"%V\" does nothing any more: what Redis does not take "
                       "is queued from the audit log, see "
                       "\"svc_webhook_outbox\"; remove it, the next version "
                       "does not know it", &cmd->name);

    return NGX_CONF_OK;
}


char *
ngx_svc_webhook_conf_timeout(ngx_conf_t *cf, void *post, void *data)
{
    ngx_msec_t *timeout = data;

    if (*timeout < 1 || *timeout > NGX_SVC_WEBHOOK_TIMEOUT_MAX) {
        return "must be a time from 1ms to 10m";
    }

    return NGX_CONF_OK;
}


char *
ngx_svc_webhook_conf_outbox(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_svc_webhook_conf_t *wcf = conf;

    ngx_int_t   n;
    ngx_str_t  *value;

    if (wcf->outbox != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        wcf->outbox = 0;
        return NGX_CONF_OK;
    }

    n = ngx_parse_time(&value[1], 0);

    if (n < 1 || n > NGX_SVC_WEBHOOK_OUTBOX_MAX) {
        return "must be a time from 1ms to 1h, or \"off\"";
    }

    wcf->outbox = n;

    return NGX_CONF_OK;
}


char *
ngx_svc_webhook_conf_proxy(ngx_conf_t *cf, void *post, void *data)
{
    ngx_str_t *proxy = data;

    ngx_url_t   url;
    ngx_str_t  *value;

    ngx_memzero(&url, sizeof(ngx_url_t));

    if (ngx_strncmp(proxy->data, "http://", 7) != 0) {
        goto invalid;
    }

    url.url.data = proxy->data + 7;
    url.url.len = proxy->len - 7;
    url.no_resolve = 1;

    if (ngx_parse_url(cf->pool, &url) != NGX_OK || url.no_port
        || url.uri.len || url.host.len == 0
        || ngx_strlchr(url.url.data, url.url.data + url.url.len, '@'))
    {
        goto invalid;
    }

    return NGX_CONF_OK;

invalid:

    value = cf->args->elts;

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" takes a URL such as "
                       "http://proxy.example.com:3128, without a user, not "
                       "\"%V\"", &value[0], proxy);

    return NGX_CONF_ERROR;
}


ngx_int_t
ngx_svc_webhook_conf_check_ca(ngx_conf_t *cf, ngx_str_t *file)
{
    ngx_int_t    rc;
    X509_STORE  *store;

    store = X509_STORE_new();
    if (store == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_OK;

    if (X509_STORE_load_locations(store, (char *) file->data, NULL) != 1) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_webhook_ca_file\": no certificates can be read "
                      "from \"%V\": it is to be a file in PEM format; "
                      "Debian's package ca-certificates brings "
                      "/etc/ssl/certs/ca-certificates.crt", file);
        rc = NGX_ERROR;
    }

    X509_STORE_free(store);
    ERR_clear_error();

    return rc;
}
