/*
 * The conninfo of "svc_postgres": checked, and its host names resolved.
 */

#include "ngx_svc_pg_conn.h"


#define NGX_SVC_PG_KEYWORDS  64         /* libpq 15 knows about 40 */


typedef struct {
    ngx_array_t  hosts;                 /* of u_char: comma-separated lists */
    ngx_array_t  addrs;
    ngx_array_t  ports;
} ngx_svc_pg_hosts_t;


static const char *ngx_svc_pg_option(PQconninfoOption *options,
    const char *keyword);
static char *ngx_svc_pg_resolve(ngx_conf_t *cf, ngx_svc_pg_hosts_t *list,
    const char *hosts, const char *ports);
static char *ngx_svc_pg_resolve_host(ngx_conf_t *cf, ngx_svc_pg_hosts_t *list,
    ngx_str_t *host, ngx_str_t *port);
static ngx_int_t ngx_svc_pg_append(ngx_array_t *a, ngx_str_t *item);
static char *ngx_svc_pg_keywords(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf,
    PQconninfoOption *options, ngx_svc_pg_hosts_t *list);


char *
ngx_svc_pg_conninfo(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf)
{
    char                *rv, *error;
    ngx_str_t            text;
    const char          *host;
    PQconninfoOption    *options;
    ngx_svc_pg_hosts_t   list;

    error = NULL;

    options = PQconninfoParse((char *) conf->conninfo.data, &error);

    if (options == NULL) {

        /* other messages of libpq quote the text, and so perhaps a password */

        if (error && ngx_strncmp(error, "invalid connection option", 25) == 0) {
            text = ngx_svc_pg_message(error);

        } else {
            ngx_str_set(&text, "not a list of keyword=value");
        }

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_postgres\" takes a conninfo such as "
                           "\"host=/run/postgresql dbname=svc user=svc_app\""
                           ": %V", &text);

        PQfreemem(error);
        return NGX_CONF_ERROR;
    }

    if (ngx_array_init(&list.hosts, cf->pool, 64, 1) != NGX_OK
        || ngx_array_init(&list.addrs, cf->pool, 64, 1) != NGX_OK
        || ngx_array_init(&list.ports, cf->pool, 64, 1) != NGX_OK)
    {
        PQconninfoFree(options);
        return NGX_CONF_ERROR;
    }

    rv = NGX_CONF_OK;
    host = ngx_svc_pg_option(options, "host");

    if (host && ngx_svc_pg_option(options, "hostaddr") == NULL) {
        rv = ngx_svc_pg_resolve(cf, &list, host,
                                ngx_svc_pg_option(options, "port"));
    }

    if (rv == NGX_CONF_OK) {
        rv = ngx_svc_pg_keywords(cf, conf, options, &list);
    }

    PQconninfoFree(options);

    return rv;
}


static const char *
ngx_svc_pg_option(PQconninfoOption *options, const char *keyword)
{
    PQconninfoOption  *o;

    for (o = options; o->keyword; o++) {
        if (ngx_strcmp(o->keyword, keyword) == 0) {
            return (o->val && *o->val) ? o->val : NULL;
        }
    }

    return NULL;
}


/* ports: NULL, one for all hosts, or one for each. */

static char *
ngx_svc_pg_resolve(ngx_conf_t *cf, ngx_svc_pg_hosts_t *list,
    const char *hosts, const char *ports)
{
    char        *rv;
    ngx_str_t    host, port;
    ngx_uint_t   many;
    const char  *h, *p;

    h = hosts;
    p = ports ? ports : "";
    many = ngx_strchr(p, ',') != NULL;

    for ( ;; ) {
        host.data = (u_char *) h;
        host.len = strcspn(h, ",");
        port.data = (u_char *) p;
        port.len = strcspn(p, ",");

        rv = ngx_svc_pg_resolve_host(cf, list, &host, &port);
        if (rv != NGX_CONF_OK) {
            return rv;
        }

        h += host.len;

        if (*h == '\0') {
            return NGX_CONF_OK;
        }

        h++;

        if (many) {
            p += port.len;

            if (*p == '\0') {
                return "has more hosts than ports";
            }

            p++;
        }
    }
}


static char *
ngx_svc_pg_resolve_host(ngx_conf_t *cf, ngx_svc_pg_hosts_t *list,
    ngx_str_t *host, ngx_str_t *port)
{
    ngx_url_t   url;
    ngx_str_t   addr;
    ngx_uint_t  i;

    ngx_str_set(&addr, "");

    /* a socket's directory, or an abstract socket's */

    if (host->len == 0 || host->data[0] == '/' || host->data[0] == '@') {

        if (ngx_svc_pg_append(&list->hosts, host) != NGX_OK
            || ngx_svc_pg_append(&list->addrs, &addr) != NGX_OK
            || ngx_svc_pg_append(&list->ports, port) != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }

        return NGX_CONF_OK;
    }

    ngx_memzero(&url, sizeof(ngx_url_t));

    url.host.len = host->len;
    url.host.data = ngx_pnalloc(cf->pool, host->len + 1);
    if (url.host.data == NULL) {
        return NGX_CONF_ERROR;
    }

    *ngx_cpymem(url.host.data, host->data, host->len) = '\0';

    if (ngx_inet_resolve_host(cf->pool, &url) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "host \"%V\" of \"svc_postgres\" cannot be "
                           "resolved: %s", host,
                           url.err ? url.err : "unknown error");
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < url.naddrs; i++) {
        addr.data = ngx_pnalloc(cf->pool, NGX_SOCKADDR_STRLEN);
        if (addr.data == NULL) {
            return NGX_CONF_ERROR;
        }

        addr.len = ngx_sock_ntop(url.addrs[i].sockaddr, url.addrs[i].socklen,
                                 addr.data, NGX_SOCKADDR_STRLEN, 0);

        if (ngx_svc_pg_append(&list->hosts, host) != NGX_OK
            || ngx_svc_pg_append(&list->addrs, &addr) != NGX_OK
            || ngx_svc_pg_append(&list->ports, port) != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


/* Each item ends in a comma; the last one becomes the list's NUL. */

static ngx_int_t
ngx_svc_pg_append(ngx_array_t *a, ngx_str_t *item)
{
    u_char  *p;

    p = ngx_array_push_n(a, item->len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    *ngx_cpymem(p, item->data, item->len) = ',';

    return NGX_OK;
}


static char *
ngx_svc_pg_keywords(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf,
    PQconninfoOption *options, ngx_svc_pg_hosts_t *list)
{
    u_char             *value;
    ngx_uint_t          n;
    PQconninfoOption   *o;

    conf->keywords = ngx_pcalloc(cf->pool,
                                 NGX_SVC_PG_KEYWORDS * sizeof(char *));
    conf->values = ngx_pcalloc(cf->pool,
                               NGX_SVC_PG_KEYWORDS * sizeof(char *));
    if (conf->keywords == NULL || conf->values == NULL) {
        return NGX_CONF_ERROR;
    }

    n = 0;

    /* defaults, which what was configured may change */

    conf->keywords[n] = "fallback_application_name";
    conf->values[n++] = "ngx_svc";

    /* a Kerberos library would block in a worker */

    if (ngx_svc_pg_option(options, "gssencmode") == NULL) {
        conf->keywords[n] = "gssencmode";
        conf->values[n++] = "disable";
    }

    for (o = options; o->keyword; o++) {

        if (o->val == NULL || *o->val == '\0'
            || ngx_strcmp(o->keyword, "client_encoding") == 0)
        {
            continue;
        }

        if (n > NGX_SVC_PG_KEYWORDS - 4) {
            return "has too many parameters";
        }

        conf->keywords[n] = (char *) ngx_pnalloc(cf->pool,
                                              ngx_strlen(o->keyword) + 1);
        value = ngx_pnalloc(cf->pool, ngx_strlen(o->val) + 1);
        if (conf->keywords[n] == NULL || value == NULL) {
            return NGX_CONF_ERROR;
        }

        ngx_memcpy((u_char *) conf->keywords[n], o->keyword,
                   ngx_strlen(o->keyword) + 1);
        ngx_memcpy(value, o->val, ngx_strlen(o->val) + 1);
        conf->values[n] = (char *) value;

        if (list->hosts.nelts && ngx_strcmp(o->keyword, "host") == 0) {
            value = list->hosts.elts;
            value[list->hosts.nelts - 1] = '\0';
            conf->values[n] = (char *) value;
        }

        if (list->ports.nelts && ngx_strcmp(o->keyword, "port") == 0) {
            value = list->ports.elts;
            value[list->ports.nelts - 1] = '\0';
            conf->values[n] = (char *) value;
        }

        n++;
    }

    if (list->addrs.nelts) {
        value = list->addrs.elts;
        value[list->addrs.nelts - 1] = '\0';
        conf->keywords[n] = "hostaddr";
        conf->values[n++] = (char *) value;
    }

    conf->keywords[n] = "client_encoding";
    conf->values[n] = "UTF8";

    return NGX_CONF_OK;
}
