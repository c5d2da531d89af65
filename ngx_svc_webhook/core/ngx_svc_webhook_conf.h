/*
 * The set functions of the webhook module's directives.
 */

#ifndef _NGX_SVC_WEBHOOK_CONF_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_CONF_H_INCLUDED_


#include "ngx_svc_webhook.h"


char *ngx_svc_webhook_conf_queue(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_svc_webhook_conf_concurrency(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_svc_webhook_conf_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_svc_webhook_conf_outbox(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_svc_webhook_conf_proxy(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_svc_webhook_conf_allow(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Set function of removed directives: warns, for one version, that they do
 * nothing.
 */
char *ngx_svc_webhook_conf_removed(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Checks that the certificates in a file can be read; logs why not. */
ngx_int_t ngx_svc_webhook_conf_check_ca(ngx_conf_t *cf, ngx_str_t *file);


#endif /* _NGX_SVC_WEBHOOK_CONF_H_INCLUDED_ */
