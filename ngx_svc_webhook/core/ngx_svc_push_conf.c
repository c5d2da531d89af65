/*
 * Outbound SCIM: its directives.
 */

#include "ngx_svc_push_conf.h"


#define NGX_SVC_PUSH_RATE      10
#define NGX_SVC_PUSH_RATE_MAX  1000


char *
ngx_svc_push_conf_rate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_int_t             n;
    ngx_str_t            *value;
    ngx_svc_push_conf_t  *push;

    push = (ngx_svc_push_conf_t *) ((u_char *) conf + cmd->offset);
    value = cf->args->elts;

    if (push->rate != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    if (ngx_strcmp(value[1].data, "off") == 0) {
        push->rate = 0;
        return NGX_CONF_OK;
    }

    n = ngx_atoi(value[1].data, value[1].len);

    if (n < 1 || n > NGX_SVC_PUSH_RATE_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" of \"%V\" must be a number from 1 to %d, "
                           "or \"off\"", &value[1], &value[0],
                           NGX_SVC_PUSH_RATE_MAX);
        return NGX_CONF_ERROR;
    }

    push->rate = n;

    return NGX_CONF_OK;
}


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
