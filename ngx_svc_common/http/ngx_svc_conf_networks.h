/*
 * Directives that name networks which requests of ours may reach.
 */

#ifndef _NGX_SVC_CONF_NETWORKS_H_INCLUDED_
#define _NGX_SVC_CONF_NETWORKS_H_INCLUDED_


#include "ngx_svc_addr.h"


/* What a warning about a wide network says. */

typedef struct {
    const char  *who;               /* "the webhooks" */
    const char  *where;             /* "receivers" */
} ngx_svc_conf_networks_t;


/*
 * The set function of such a directive.  cmd->offset: of an array of
 * ngx_svc_cidr_t; cmd->post: an ngx_svc_conf_networks_t.
 */
NGX_SVC_API char *ngx_svc_conf_networks(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


#endif /* _NGX_SVC_CONF_NETWORKS_H_INCLUDED_ */
