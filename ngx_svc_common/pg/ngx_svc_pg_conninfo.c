/*
 * The conninfo of "svc_postgres": checked, and its host names resolved.
 */

#include "ngx_svc_pg_conninfo.h"


#define NGX_SVC_PG_KEYWORDS  64         /* libpq 15 knows about 40 */


/* An address to connect to; addr is empty for a socket's directory. */

typedef struct {
    ngx_str_t    host;
    ngx_str_t    addr;
    ngx_str_t    port;
} ngx_svc_pg_addr_t;


static const char *ngx_svc_pg_option(PQconninfoOption *options,
    const char *keyword);
static char *ngx_svc_pg_passfile(ngx_conf_t *cf, const char *name);
static ngx_int_t ngx_svc_pg_workers_read(ngx_conf_t *cf, const char *name,
    ngx_file_info_t *fi);
static char *ngx_svc_pg_resolve(ngx_conf_t *cf, ngx_array_t *addrs,
    const char *hosts, const char *ports);
static char *ngx_svc_pg_resolve_host(ngx_conf_t *cf, ngx_array_t *addrs,
    ngx_str_t *host, ngx_str_t *port);
static ngx_int_t ngx_svc_pg_add(ngx_array_t *addrs, ngx_pool_t *pool,
    ngx_str_t *host, ngx_str_t *addr, ngx_str_t *port);
static char *ngx_svc_pg_values(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf,
    PQconninfoOption *options, ngx_array_t *addrs, ngx_uint_t i);
static char *ngx_svc_pg_keywords(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf,
    PQconninfoOption *options, ngx_array_t *addrs);
static const char *ngx_svc_pg_value_from(ngx_conf_t *cf, ngx_array_t *addrs,
    ngx_uint_t first, PQconninfoOption *option);
static const char *ngx_svc_pg_join(ngx_conf_t *cf, ngx_array_t *addrs,
    ngx_uint_t first, size_t offset);
static const char *ngx_svc_pg_copy(ngx_conf_t *cf, const char *text);
static const char *ngx_svc_pg_nowhere(ngx_conf_t *cf, const char *hosts);
static char *ngx_svc_pg_probe(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf);


char *
ngx_svc_pg_conninfo(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf)
{
    char                *rv, *error;
    ngx_str_t            text;
    const char          *host;
    ngx_array_t          addrs;
    PQconninfoOption    *options;

    error = NULL;

    options = PQconninfoParse((char *) conf->conninfo.data, &error);

    if (options == NULL) {

        /* other messages of libpq quote the text, which may have a password */

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

    if (ngx_array_init(&addrs, cf->pool, 2, sizeof(ngx_svc_pg_addr_t))
        != NGX_OK)
    {
        PQconninfoFree(options);
        return NGX_CONF_ERROR;
    }

    rv = NGX_CONF_OK;
    host = ngx_svc_pg_option(options, "host");

    if (host && ngx_svc_pg_option(options, "hostaddr") == NULL) {
        rv = ngx_svc_pg_resolve(cf, &addrs, host,
                                ngx_svc_pg_option(options, "port"));
    }

    if (rv == NGX_CONF_OK) {
        rv = ngx_svc_pg_keywords(cf, conf, options, &addrs);
    }

    if (rv == NGX_CONF_OK && ngx_svc_pg_option(options, "password") == NULL) {
        rv = ngx_svc_pg_passfile(cf, ngx_svc_pg_option(options, "passfile"));
    }

    PQconninfoFree(options);

    return rv == NGX_CONF_OK ? ngx_svc_pg_probe(cf, conf) : rv;
}


/*
 * Checks the passfile: libpq would ignore one that it cannot or will not read,
 * and connect without a password.
 */

static char *
ngx_svc_pg_passfile(ngx_conf_t *cf, const char *name)
{
    ngx_file_info_t  fi;

    if (name == NULL) {
        return NGX_CONF_OK;
    }

    if (ngx_file_info(name, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "the passfile \"%s\" of \"svc_postgres\" cannot be "
                           "found", name);
        return NGX_CONF_ERROR;
    }

    if (!ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the passfile \"%s\" of \"svc_postgres\" is not a "
                           "regular file: libpq ignores it", name);
        return NGX_CONF_ERROR;
    }

    if (ngx_file_access(&fi) & 077) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the passfile \"%s\" of \"svc_postgres\" is open to "
                           "others, so libpq ignores it: chmod 600 %s",
                           name, name);
        return NGX_CONF_ERROR;
    }

    return ngx_svc_pg_workers_read(cf, name, &fi) == NGX_OK ? NGX_CONF_OK
                                                            : NGX_CONF_ERROR;
}


/* Only the owner can read a passfile, so the workers must run as its owner. */

static ngx_int_t
ngx_svc_pg_workers_read(ngx_conf_t *cf, const char *name, ngx_file_info_t *fi)
{
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cf->cycle->conf_ctx,
                                           ngx_core_module);

    /* "user" may come after the http block; without root it has no effect */

    if (geteuid() != 0 || ccf->user == (ngx_uid_t) NGX_CONF_UNSET_UINT
        || ccf->user == 0 || fi->st_uid == ccf->user)
    {
        return NGX_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "the passfile \"%s\" of \"svc_postgres\" cannot be read "
                       "by the workers: chown %s: %s", name, ccf->username,
                       name);

    return NGX_ERROR;
}


/*
 * libpq checks most values only when it connects: a misspelt "sslmode" would
 * pass, and no worker would ever get a connection.  So libpq is asked to
 * connect to a place where no server can be, and its errors of connecting are
 * ignored.
 */

static char *
ngx_svc_pg_probe(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf)
{
    char         *rv;
    PGconn       *pg;
    ngx_str_t     text;
    ngx_uint_t    i, named;
    const char   *message, *values[NGX_SVC_PG_KEYWORDS];

    named = 0;

    for (i = 0; conf->keywords[i]; i++) {
        values[i] = conf->values[0][i];

        if (ngx_strcmp(conf->keywords[i], "host") == 0) {
            values[i] = ngx_svc_pg_nowhere(cf, values[i]);
            named = 1;

        } else if (named && ngx_strcmp(conf->keywords[i], "hostaddr") == 0) {
            values[i] = "";
        }
    }

    values[i] = NULL;

    pg = PQconnectStartParams(conf->keywords, values, 1);
    message = pg ? PQerrorMessage(pg) : "out of memory";
    rv = NGX_CONF_OK;

    if (*message && ngx_strncmp(message, "connection to server",
                                sizeof("connection to server") - 1) != 0)
    {
        text = ngx_svc_pg_message(message);
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"svc_postgres\": libpq says: %V", &text);
        rv = NGX_CONF_ERROR;
    }

    PQfinish(pg);

    return rv;
}


/* Makes as many hosts as "hosts" has, since there may be as many ports. */

static const char *
ngx_svc_pg_nowhere(ngx_conf_t *cf, const char *hosts)
{
    u_char      *p, *text;
    ngx_uint_t   i, n;

    static const char  nowhere[] = "/dev/null,";

    for (n = 1; *hosts; hosts++) {
        n += (*hosts == ',');
    }

    text = ngx_pnalloc(cf->pool, n * (sizeof(nowhere) - 1));
    if (text == NULL) {
        return NULL;
    }

    for (p = text, i = 0; i < n; i++) {
        p = ngx_cpymem(p, nowhere, sizeof(nowhere) - 1);
    }

    p[-1] = '\0';

    return (char *) text;
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


/* ports: NULL, one port for all hosts, or one for each. */

static char *
ngx_svc_pg_resolve(ngx_conf_t *cf, ngx_array_t *addrs,
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

        rv = ngx_svc_pg_resolve_host(cf, addrs, &host, &port);
        if (rv != NGX_CONF_OK) {
            return rv;
        }

        h += host.len;

        if (*h == '\0') {
            return (many && p[port.len] == ',') ? "has more ports than hosts"
                                                : NGX_CONF_OK;
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
ngx_svc_pg_resolve_host(ngx_conf_t *cf, ngx_array_t *addrs, ngx_str_t *host,
    ngx_str_t *port)
{
    u_char      text[NGX_SOCKADDR_STRLEN];
    ngx_url_t   url;
    ngx_str_t   addr;
    ngx_uint_t  i;

    /* the directory of a unix socket, or an abstract one */

    if (host->len == 0 || host->data[0] == '/' || host->data[0] == '@') {
        ngx_str_null(&addr);

        return ngx_svc_pg_add(addrs, cf->pool, host, &addr, port) == NGX_OK
               ? NGX_CONF_OK : NGX_CONF_ERROR;
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
        addr.data = text;
        addr.len = ngx_sock_ntop(url.addrs[i].sockaddr, url.addrs[i].socklen,
                                 text, NGX_SOCKADDR_STRLEN, 0);

        if (ngx_svc_pg_add(addrs, cf->pool, host, &addr, port) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


/* All texts are copied, since libpq's own options will be freed. */

static ngx_int_t
ngx_svc_pg_add(ngx_array_t *addrs, ngx_pool_t *pool, ngx_str_t *host,
    ngx_str_t *addr, ngx_str_t *port)
{
    ngx_svc_pg_addr_t  *a;

    a = ngx_array_push(addrs);
    if (a == NULL) {
        return NGX_ERROR;
    }

    a->host.len = host->len;
    a->host.data = ngx_pstrdup(pool, host);
    a->addr.len = addr->len;
    a->addr.data = ngx_pstrdup(pool, addr);
    a->port.len = port->len;
    a->port.data = ngx_pstrdup(pool, port);

    return (a->host.data && a->addr.data && a->port.data) ? NGX_OK : NGX_ERROR;
}


/* Makes a list of values for each address, in which that address is first. */

static char *
ngx_svc_pg_keywords(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf,
    PQconninfoOption *options, ngx_array_t *addrs)
{
    char        *rv;
    ngx_uint_t   i;

    conf->naddrs = ngx_max(addrs->nelts, 1);
    conf->keywords = ngx_pcalloc(cf->pool,
                                 NGX_SVC_PG_KEYWORDS * sizeof(char *));
    conf->values = ngx_palloc(cf->pool, conf->naddrs * sizeof(char **));
    if (conf->keywords == NULL || conf->values == NULL) {
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < conf->naddrs; i++) {
        conf->values[i] = ngx_pcalloc(cf->pool,
                                      NGX_SVC_PG_KEYWORDS * sizeof(char *));
        if (conf->values[i] == NULL) {
            return NGX_CONF_ERROR;
        }

        rv = ngx_svc_pg_values(cf, conf, options, addrs, i);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return NGX_CONF_OK;
}


/* Makes the list in which address i is first; all have the same keywords. */

static char *
ngx_svc_pg_values(ngx_conf_t *cf, ngx_svc_pg_conf_t *conf,
    PQconninfoOption *options, ngx_array_t *addrs, ngx_uint_t i)
{
    ngx_uint_t          n;
    const char        **values;
    PQconninfoOption   *o;

    values = conf->values[i];
    n = 0;

    /* defaults, which the configuration may change */

    conf->keywords[n] = "fallback_application_name";
    values[n++] = "ngx_svc";

    /* a Kerberos library would block in a worker */

    if (ngx_svc_pg_option(options, "gssencmode") == NULL) {
        conf->keywords[n] = "gssencmode";
        values[n++] = "disable";
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

        conf->keywords[n] = ngx_svc_pg_copy(cf, o->keyword);
        values[n] = ngx_svc_pg_value_from(cf, addrs, i, o);

        if (conf->keywords[n] == NULL || values[n] == NULL) {
            return NGX_CONF_ERROR;
        }

        n++;
    }

    if (addrs->nelts) {
        conf->keywords[n] = "hostaddr";
        values[n] = ngx_svc_pg_join(cf, addrs, i,
                                    offsetof(ngx_svc_pg_addr_t, addr));
        if (values[n++] == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    conf->keywords[n] = "client_encoding";
    values[n] = "UTF8";

    return NGX_CONF_OK;
}


static const char *
ngx_svc_pg_value_from(ngx_conf_t *cf, ngx_array_t *addrs, ngx_uint_t first,
    PQconninfoOption *option)
{
    if (addrs->nelts && ngx_strcmp(option->keyword, "host") == 0) {
        return ngx_svc_pg_join(cf, addrs, first,
                               offsetof(ngx_svc_pg_addr_t, host));
    }

    if (addrs->nelts && ngx_strcmp(option->keyword, "port") == 0) {
        return ngx_svc_pg_join(cf, addrs, first,
                               offsetof(ngx_svc_pg_addr_t, port));
    }

    return ngx_svc_pg_copy(cf, option->val);
}


/* Joins one field of all addresses, from "first" on and round to it. */

static const char *
ngx_svc_pg_join(ngx_conf_t *cf, ngx_array_t *addrs, ngx_uint_t first,
    size_t offset)
{
    u_char      *p, *text;
    size_t       len;
    ngx_str_t   *field;
    ngx_uint_t   i, n;

    n = addrs->nelts;
    len = 0;

    for (i = 0; i < n; i++) {
        field = (ngx_str_t *) ((u_char *) addrs->elts + i * addrs->size
                               + offset);
        len += field->len + 1;
    }

    text = ngx_pnalloc(cf->pool, len);
    if (text == NULL) {
        return NULL;
    }

    for (p = text, i = 0; i < n; i++) {
        field = (ngx_str_t *) ((u_char *) addrs->elts
                               + (first + i) % n * addrs->size + offset);

        p = ngx_cpymem(p, field->data, field->len);
        *p++ = ',';
    }

    p[-1] = '\0';

    return (char *) text;
}


static const char *
ngx_svc_pg_copy(ngx_conf_t *cf, const char *text)
{
    u_char  *p;
    size_t   len;

    len = ngx_strlen(text) + 1;

    p = ngx_pnalloc(cf->pool, len);
    if (p == NULL) {
        return NULL;
    }

    ngx_memcpy(p, text, len);

    return (char *) p;
}
