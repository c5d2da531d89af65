/*
 * Mail: its configuration, and the set functions of its directives.
 */

#ifndef _NGX_SVC_MAIL_CONF_H_INCLUDED_
#define _NGX_SVC_MAIL_CONF_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_MAIL_RETRIES          8     /* at most */
#define NGX_SVC_MAIL_CONCURRENCY_MAX  64


typedef struct ngx_svc_mail_templates_s  ngx_svc_mail_templates_t;


typedef enum {
    NGX_SVC_MAIL_TLS_REQUIRED = 0,
    NGX_SVC_MAIL_TLS_OPPORTUNISTIC,
    NGX_SVC_MAIL_TLS_OFF
} ngx_svc_mail_tls_e;


/* Texts are NUL-terminated. */

typedef struct {
    ngx_str_t                  url;         /* empty: mail is off */
    ngx_uint_t                 loopback;    /* 1: the server is on this host */
    ngx_str_t                  from;        /* From's address */
    ngx_str_t                  from_name;   /* From's name; may be empty */
    ngx_str_t                  credentials; /* name of a file; empty: none */
    ngx_str_t                  user;
    ngx_str_t                  password;
    ngx_uint_t                 tls;         /* ngx_svc_mail_tls_e */
    ngx_str_t                  folder;      /* folder of the templates */
    ngx_svc_mail_templates_t  *templates;
    ngx_uint_t                 concurrency;
    ngx_msec_t                 timeout;     /* ms, of an attempt */
    ngx_uint_t                 nretries;
    ngx_msec_t                 retries[NGX_SVC_MAIL_RETRIES];   /* ms since the
                                                                   first attempt
                                                                   began */
} ngx_svc_mail_conf_t;


/* conf is the struct that has the ngx_svc_mail_conf_t at cmd->offset. */
char *ngx_svc_mail_conf_server(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_mail_conf_from(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_mail_conf_credentials(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_svc_mail_conf_tls(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_mail_conf_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_svc_mail_conf_retry(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* The post handler of svc_mail_templates, whose slot nginx has set. */
char *ngx_svc_mail_conf_folder(ngx_conf_t *cf, void *post, void *data);

/* Called before the directives are read. */
void ngx_svc_mail_conf_create(ngx_svc_mail_conf_t *mail);

/* Sets the defaults, after the directives were read. */
void ngx_svc_mail_conf_init(ngx_svc_mail_conf_t *mail);

/* Checks that the values fit together; logs why not.  NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_mail_conf_check(ngx_conf_t *cf,
    const ngx_svc_mail_conf_t *mail);


#endif /* _NGX_SVC_MAIL_CONF_H_INCLUDED_ */
