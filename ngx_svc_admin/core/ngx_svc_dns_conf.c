/*
 * The directive that names DNS servers.
 */

#include "ngx_svc_dns.h"


#define NGX_SVC_DNS_PORT  53


static u_char *ngx_svc_conf_resolver_text(ngx_conf_t *cf, u_char *p,
    ngx_str_t *text);


/* Stores the servers as ares_set_servers_ports_csv() takes them. */

char *
ngx_svc_conf_resolver(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    u_char      *p;
    ngx_str_t   *servers, *value;
    ngx_uint_t   i, n;

    servers = (ngx_str_t *) ((u_char *) conf + cmd->offset);

    if (servers->data) {
        return "is duplicate";
    }

    value = cf->args->elts;
    n = cf->args->nelts - 1;

    if (n > NGX_SVC_DNS_SERVERS) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_resolver\" takes %d addresses at most",
                           NGX_SVC_DNS_SERVERS);
        return NGX_CONF_ERROR;
    }

    p = ngx_pnalloc(cf->pool, n * (NGX_SOCKADDR_STRLEN + 1) + 1);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    servers->data = p;

    for (i = 1; i <= n; i++) {

        if (i > 1) {
            *p++ = ',';
        }

        p = ngx_svc_conf_resolver_text(cf, p, &value[i]);
        if (p == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    *p = '\0';
    servers->len = p - servers->data;

    return NGX_CONF_OK;
}


/* Returns the end of the text; NULL when the error has been logged. */

static u_char *
ngx_svc_conf_resolver_text(ngx_conf_t *cf, u_char *p, ngx_str_t *text)
{
    ngx_int_t   rc;
    ngx_addr_t  addr;

    rc = ngx_parse_addr_port(cf->pool, &addr, text->data, text->len);

    if (rc == NGX_ERROR) {
        return NULL;
    }

    if (rc != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_resolver\" takes addresses such as "
                           "192.0.2.53 or [2001:db8::53]:5353, not \"%V\"",
                           text);
        return NULL;
    }

    if (ngx_inet_get_port(addr.sockaddr) == 0) {
        ngx_inet_set_port(addr.sockaddr, NGX_SVC_DNS_PORT);
    }

    return p + ngx_sock_ntop(addr.sockaddr, addr.socklen, p,
                             NGX_SOCKADDR_STRLEN, 1);
}
