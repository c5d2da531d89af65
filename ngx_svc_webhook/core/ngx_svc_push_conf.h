/*
 * Outbound SCIM: its configuration.
 */

#ifndef _NGX_SVC_PUSH_CONF_H_INCLUDED_
#define _NGX_SVC_PUSH_CONF_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_PUSH_RATE_MAX  1000


typedef struct {
    ngx_flag_t        on;
    ngx_uint_t        rate;             /* requests per second to a target; 0:
                                           not limited */
} ngx_svc_push_conf_t;


/* Called before the directives are read. */
void ngx_svc_push_conf_create(ngx_svc_push_conf_t *push);

/* Sets the defaults, after the directives were read. */
void ngx_svc_push_conf_init(ngx_svc_push_conf_t *push);


#endif /* _NGX_SVC_PUSH_CONF_H_INCLUDED_ */
