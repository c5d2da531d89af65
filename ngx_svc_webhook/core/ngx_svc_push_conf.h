/*
 * Outbound SCIM: its configuration.
 */

#ifndef _NGX_SVC_PUSH_CONF_H_INCLUDED_
#define _NGX_SVC_PUSH_CONF_H_INCLUDED_


#include "ngx_svc_common.h"


typedef struct {
    ngx_flag_t        on;
    ngx_uint_t        rate;             /* requests a second, of a target; 0:
                                           as many as it takes */
} ngx_svc_push_conf_t;


/* The set function of svc_scim_rate; conf: the struct at cmd->offset. */
char *ngx_svc_push_conf_rate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Before the directives; behind them, the defaults. */
void ngx_svc_push_conf_create(ngx_svc_push_conf_t *push);
void ngx_svc_push_conf_init(ngx_svc_push_conf_t *push);


#endif /* _NGX_SVC_PUSH_CONF_H_INCLUDED_ */
