/*
 * The directive that names Redis: one server, or sentinels.
 */

#include "ngx_svc_redis_server.h"


#define NGX_SVC_REDIS_PORT           6379
#define NGX_SVC_REDIS_SENTINEL_PORT  26379
#define NGX_SVC_REDIS_MASTER_NAME    255    /* bytes, at most */


static char *ngx_svc_redis_sentinels(ngx_conf_t *cf,
    ngx_svc_redis_conf_t *conf);
static char *ngx_svc_redis_sentinel_add(ngx_conf_t *cf,
    ngx_svc_redis_conf_t *conf, ngx_addr_t *addr);
static ngx_uint_t ngx_svc_redis_master_name(ngx_str_t *name);
static char *ngx_svc_redis_parse(ngx_conf_t *cf, ngx_str_t *value,
    in_port_t port, ngx_url_t *url);
static ngx_int_t ngx_svc_redis_address(ngx_conf_t *cf, ngx_addr_t *addr,
    ngx_svc_redis_server_t *server);
static ngx_int_t ngx_svc_redis_name(ngx_conf_t *cf,
    ngx_svc_redis_conf_t *conf);


char *
ngx_svc_redis_servers(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf)
{
    char       *rv;
    ngx_str_t  *value;
    ngx_url_t   url;

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "is empty";
    }

    if (ngx_strncmp(value[1].data, "sentinel=", 9) == 0) {
        return ngx_svc_redis_sentinels(cf, conf);
    }

    if (cf->args->nelts > 2) {
        return "takes one address, or \"sentinel=name\" and the addresses of "
               "sentinels";
    }

    rv = ngx_svc_redis_parse(cf, &value[1], NGX_SVC_REDIS_PORT, &url);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    conf->name = value[1];

    if (ngx_svc_redis_address(cf, &url.addrs[0], &conf->server) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (conf->server.port && url.no_port
        && ngx_svc_redis_name(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    conf->server.name = conf->name;

    return NGX_CONF_OK;
}


static char *
ngx_svc_redis_sentinels(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf)
{
    char        *rv;
    ngx_str_t   *value;
    ngx_url_t    url;
    ngx_uint_t   i, n;

    value = cf->args->elts;

    conf->name.data = value[1].data + 9;
    conf->name.len = value[1].len - 9;

    if (!ngx_svc_redis_master_name(&conf->name)) {
        return "\"sentinel=\" wants the name of a master, as in \"sentinel "
               "monitor name ...\": of letters, digits, \".\", \"-\" and \"_\"";
    }

    if (cf->args->nelts == 2) {
        return "with \"sentinel=\" wants the addresses of sentinels";
    }

    for (i = 2; i < cf->args->nelts; i++) {
        rv = ngx_svc_redis_parse(cf, &value[i], NGX_SVC_REDIS_SENTINEL_PORT,
                                 &url);

        for (n = 0; rv == NGX_CONF_OK && n < url.naddrs; n++) {
            rv = ngx_svc_redis_sentinel_add(cf, conf, &url.addrs[n]);
        }

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return NGX_CONF_OK;
}


static char *
ngx_svc_redis_sentinel_add(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf,
    ngx_addr_t *addr)
{
    u_char                  *p;
    ngx_uint_t               i;
    ngx_svc_redis_server_t  *server;

    if (conf->nsentinels == NGX_SVC_REDIS_SENTINELS) {
        return "has too many sentinels";
    }

    server = &conf->sentinels[conf->nsentinels];

    p = ngx_pnalloc(cf->pool, NGX_SOCKADDR_STRLEN);
    if (p == NULL || ngx_svc_redis_address(cf, addr, server) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    server->name.data = p;
    server->name.len = ngx_sock_ntop(addr->sockaddr, addr->socklen, p,
                                     NGX_SOCKADDR_STRLEN, 1);

    for (i = 0; i < conf->nsentinels; i++) {
        if (conf->sentinels[i].name.len == server->name.len
            && ngx_memcmp(conf->sentinels[i].name.data, p, server->name.len)
               == 0)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"svc_redis\" has the sentinel %V twice",
                               &server->name);
            return NGX_CONF_ERROR;
        }
    }

    conf->nsentinels++;

    return NGX_CONF_OK;
}


static ngx_uint_t
ngx_svc_redis_master_name(ngx_str_t *name)
{
    u_char  ch, lower;
    size_t  i;

    for (i = 0; i < name->len; i++) {
        ch = name->data[i];
        lower = ngx_tolower(ch);

        if ((lower < 'a' || lower > 'z') && (ch < '0' || ch > '9')
            && ch != '.' && ch != '-' && ch != '_')
        {
            return 0;
        }
    }

    return i > 0 && i <= NGX_SVC_REDIS_MASTER_NAME;
}


static char *
ngx_svc_redis_parse(ngx_conf_t *cf, ngx_str_t *value, in_port_t port,
    ngx_url_t *url)
{
    ngx_memzero(url, sizeof(ngx_url_t));

    url->url = *value;
    url->default_port = port;

    if (ngx_parse_url(cf->pool, url) == NGX_OK) {
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"svc_redis\" takes \"unix:/path\" or "
                       "\"address[:port]\", not \"%V\": %s", value,
                       url->err ? url->err : "invalid");

    return NGX_CONF_ERROR;
}


static ngx_int_t
ngx_svc_redis_address(ngx_conf_t *cf, ngx_addr_t *addr,
    ngx_svc_redis_server_t *server)
{
    u_char           *p;
    struct sockaddr  *sa;

    sa = addr->sockaddr;

    p = ngx_pnalloc(cf->pool, NGX_SOCKADDR_STRLEN + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    server->address.data = p;

#if (NGX_HAVE_UNIX_DOMAIN)

    if (sa->sa_family == AF_UNIX) {
        server->port = 0;
        server->address.len = ngx_sprintf(p, "%s%Z",
                                  ((struct sockaddr_un *) sa)->sun_path)
                              - p - 1;
        return NGX_OK;
    }

#endif

    server->port = ngx_inet_get_port(sa);
    server->address.len = ngx_sock_ntop(sa, addr->socklen, p,
                                        NGX_SOCKADDR_STRLEN, 0);
    p[server->address.len] = '\0';

    return NGX_OK;
}


/* Adds the port to the name, for the log. */

static ngx_int_t
ngx_svc_redis_name(ngx_conf_t *cf, ngx_svc_redis_conf_t *conf)
{
    u_char  *p;
    size_t   len;

    len = conf->name.len + sizeof(":65535") - 1;

    p = ngx_pnalloc(cf->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    conf->name.len = ngx_snprintf(p, len, "%V:%d", &conf->name,
                                  NGX_SVC_REDIS_PORT)
                     - p;
    conf->name.data = p;

    return NGX_OK;
}
