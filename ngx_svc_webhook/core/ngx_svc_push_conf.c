/*
 * Outbound SCIM: the defaults of its directives.
 */

#include "ngx_svc_push_conf.h"


#define NGX_SVC_PUSH_RATE  10


void
ngx_svc_push_conf_create(ngx_svc_push_conf_t *push)
{
    push->on = NGX_CONF_UNSET;
    push->rate = NGX_CONF_UNSET_UINT;
}


void
ngx_svc_push_conf_init(ngx_svc_push_conf_t *push)
{
    ngx_conf_init_value(push->on, 0);
    ngx_conf_init_uint_value(push->rate, NGX_SVC_PUSH_RATE);
}
