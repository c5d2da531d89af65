/*
 * What sets and checks the webhook module's directives.
 */

#ifndef _NGX_SVC_WEBHOOK_CONF_H_INCLUDED_
#define _NGX_SVC_WEBHOOK_CONF_H_INCLUDED_


#include "ngx_svc_webhook.h"


#define NGX_SVC_WEBHOOK_NUMBERS  3      /* of a directive, at most */


/* A number in a directive, as "name=number" or as the first argument. */

typedef struct {
    const char                *name;    /* NULL: the first argument */
    size_t                     offset;  /* of an ngx_uint_t */
} ngx_svc_webhook_number_t;


/* The numbers that a directive takes. */

typedef struct {
    ngx_int_t                  max;     /* of each; the least is 1 */
    ngx_uint_t                 off;     /* 1: "off" is 0 */
    ngx_svc_webhook_number_t   list[NGX_SVC_WEBHOOK_NUMBERS + 1];
} ngx_svc_webhook_numbers_t;


/*
 * The set function of directives of numbers.  cmd->post is the
 * ngx_svc_webhook_numbers_t, which ends with a second name that is NULL.
 */
char *ngx_svc_webhook_conf_numbers(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

char *ngx_svc_webhook_conf_outbox(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Post handlers, which nginx calls when it has set a slot. */
char *ngx_svc_webhook_conf_timeout(ngx_conf_t *cf, void *post, void *data);
char *ngx_svc_webhook_conf_proxy(ngx_conf_t *cf, void *post, void *data);

/*
 * Set function of removed directives: warns, for one version, that they do
 * nothing.
 */
char *ngx_svc_webhook_conf_removed(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Checks that the certificates in a file can be read; logs why not. */
ngx_int_t ngx_svc_webhook_conf_check_ca(ngx_conf_t *cf, ngx_str_t *file);


#endif /* _NGX_SVC_WEBHOOK_CONF_H_INCLUDED_ */
