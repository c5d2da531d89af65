/*
 * Directives that name networks which requests of ours may reach.
 */

#include "ngx_svc_conf_networks.h"


static void ngx_svc_conf_networks_wide(ngx_conf_t *cf,
    const ngx_svc_conf_networks_t *says, const ngx_str_t *value,
    const ngx_svc_cidr_t *cidr);


/* Private networks: each has many machines of an operator. */

static const ngx_str_t  ngx_svc_conf_private[] = {
    ngx_string("10.0.0.0/8"),
    ngx_string("100.64.0.0/10"),
    ngx_string("169.254.0.0/16"),
    ngx_string("172.16.0.0/12"),
    ngx_string("192.168.0.0/16"),
    ngx_string("fc00::/7"),
    ngx_string("fe80::/10"),
    ngx_null_string
};


char *
ngx_svc_conf_networks(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t       *value;
    ngx_uint_t       i;
    ngx_array_t     *allow;
    ngx_svc_cidr_t  *cidr;

    value = cf->args->elts;
    allow = (ngx_array_t *) ((u_char *) conf + cmd->offset);

    for (i = 1; i < cf->args->nelts; i++) {

        cidr = ngx_array_push(allow);
        if (cidr == NULL) {
            return NGX_CONF_ERROR;
        }

        if (ngx_svc_cidr_parse(value[i].data, value[i].len, cidr) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" takes networks such as 10.1.0.0/16, "
                               "not \"%V\"", &value[0], &value[i]);
            return NGX_CONF_ERROR;
        }

        ngx_svc_conf_networks_wide(cf, cmd->post, &value[i], cidr);
    }

    return NGX_CONF_OK;
}


/*
 * Warns about an allowed network that has a private one in it.  While the
 * configuration is read, cf->log is not yet that of error_log, and a warning
 * is seen whatever its level.
 */

static void
ngx_svc_conf_networks_wide(ngx_conf_t *cf, const ngx_svc_conf_networks_t *says,
    const ngx_str_t *value, const ngx_svc_cidr_t *cidr)
{
    ngx_str_t        *directive;
    ngx_svc_cidr_t    inner;
    const ngx_str_t  *name;

    directive = cf->args->elts;

    for (name = ngx_svc_conf_private; name->len; name++) {

        if (ngx_svc_cidr_parse(name->data, name->len, &inner) == NGX_OK
            && cidr->bits <= inner.bits
            && ngx_svc_cidr_contains(cidr, &inner.addr))
        {
            ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                               "\"%V %V\" lets %s of every tenant reach all of "
                               "%V: name only the networks that their %s are "
                               "in", directive, value, says->who, name,
                               says->where);
            return;
        }
    }
}
