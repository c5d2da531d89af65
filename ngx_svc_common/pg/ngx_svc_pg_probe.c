/*
 * Looks at the timelines of servers that we have no connections to.  One of
 * them may have been promoted while our server was unreachable, and we would
 * not notice.  Where "svc_postgres" names several addresses, one process of an
 * nginx asks each of them for its timeline, once a second.
 */

#include "ngx_svc_pg_probe.h"
#include "ngx_svc_socket.h"


/* A probe of one address. */

typedef struct {
    const char               **values;      /* with this address alone */
    PGconn                    *pg;          /* NULL: no probe is under way */
    ngx_connection_t          *connection;
    ngx_event_t                timer;       /* ends a probe that takes too
                                               long */
    ngx_uint_t                 asked;       /* 1: the statement has been sent */
} ngx_svc_pg_probe_t;


static const char **ngx_svc_pg_probe_values(ngx_cycle_t *cycle,
    ngx_svc_pg_conf_t *conf, ngx_uint_t address);
static const char *ngx_svc_pg_probe_value(ngx_cycle_t *cycle,
    const char *keyword, const char *value);
static ngx_uint_t ngx_svc_pg_probe_here(ngx_svc_pg_probe_t *probe);
static const char *ngx_svc_pg_probe_own(ngx_svc_pg_probe_t *probe,
    const char *keyword);
static void ngx_svc_pg_probe_start(ngx_svc_pg_probe_t *probe);
static ngx_int_t ngx_svc_pg_probe_wait(ngx_svc_pg_probe_t *probe,
    ngx_uint_t write);
static void ngx_svc_pg_probe_event(ngx_event_t *ev);
static ngx_int_t ngx_svc_pg_probe_connect(ngx_svc_pg_probe_t *probe);
static ngx_int_t ngx_svc_pg_probe_read(ngx_svc_pg_probe_t *probe);
static void ngx_svc_pg_probe_timeout(ngx_event_t *ev);
static void ngx_svc_pg_probe_detach(ngx_svc_pg_probe_t *probe);
static void ngx_svc_pg_probe_finish(ngx_svc_pg_probe_t *probe);


static ngx_svc_pg_conf_t   *ngx_svc_pg_probe_conf;
static ngx_svc_pg_probe_t  *ngx_svc_pg_probes;
static ngx_uint_t           ngx_svc_pg_nprobes;


ngx_int_t
ngx_svc_pg_probe_init(ngx_cycle_t *cycle, ngx_svc_pg_conf_t *conf)
{
    ngx_uint_t           i;
    ngx_svc_pg_probe_t  *probe;

    ngx_svc_pg_probe_conf = conf;
    ngx_svc_pg_nprobes = 0;

    if (conf->naddrs < 2) {
        return NGX_OK;
    }

    ngx_svc_pg_probes = ngx_pcalloc(cycle->pool, conf->naddrs
                                                 * sizeof(ngx_svc_pg_probe_t));
    if (ngx_svc_pg_probes == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < conf->naddrs; i++) {
        probe = &ngx_svc_pg_probes[i];

        probe->timer.handler = ngx_svc_pg_probe_timeout;
        probe->timer.data = probe;
        probe->timer.log = cycle->log;
        probe->timer.cancelable = 1;

        probe->values = ngx_svc_pg_probe_values(cycle, conf, i);
        if (probe->values == NULL) {
            return NGX_ERROR;
        }
    }

    ngx_svc_pg_nprobes = conf->naddrs;

    return NGX_OK;
}


void
ngx_svc_pg_probe_exit(void)
{
    ngx_uint_t  i;

    for (i = 0; i < ngx_svc_pg_nprobes; i++) {
        if (ngx_svc_pg_probes[i].pg) {
            ngx_svc_pg_probe_finish(&ngx_svc_pg_probes[i]);
        }
    }

    ngx_svc_pg_nprobes = 0;
}


static const char **
ngx_svc_pg_probe_values(ngx_cycle_t *cycle, ngx_svc_pg_conf_t *conf,
    ngx_uint_t address)
{
    ngx_uint_t    i, n;
    const char  **values;

    for (n = 0; conf->keywords[n]; n++) { /* void */ }

    values = ngx_pcalloc(cycle->pool, (n + 1) * sizeof(char *));
    if (values == NULL) {
        return NULL;
    }

    for (i = 0; i < n; i++) {
        values[i] = ngx_svc_pg_probe_value(cycle, conf->keywords[i],
                                           conf->values[address][i]);
        if (values[i] == NULL) {
            return NULL;
        }
    }

    return values;
}


/*
 * Takes the first element of a list of hosts, addresses or ports; the server
 * may be a standby.
 */

static const char *
ngx_svc_pg_probe_value(ngx_cycle_t *cycle, const char *keyword,
    const char *value)
{
    u_char  *p;
    size_t   len;

    if (ngx_strcmp(keyword, "target_session_attrs") == 0) {
        return "any";
    }

    if (ngx_strcmp(keyword, "host") != 0 && ngx_strcmp(keyword, "port") != 0
        && ngx_strcmp(keyword, "hostaddr") != 0)
    {
        return value;
    }

    len = strcspn(value, ",");

    p = ngx_pnalloc(cycle->pool, len + 1);
    if (p == NULL) {
        return NULL;
    }

    *ngx_cpymem(p, value, len) = '\0';

    return (char *) p;
}


void
ngx_svc_pg_probe(void)
{
    ngx_uint_t  i;

    if (ngx_svc_pg_nprobes == 0
        || !ngx_svc_pg_fence_due(NGX_SVC_PG_DUE_PROBE,
                                 NGX_SVC_PG_FENCE_PERIOD))
    {
        return;
    }

    for (i = 0; i < ngx_svc_pg_nprobes; i++) {
        if (ngx_svc_pg_probes[i].pg == NULL
            && !ngx_svc_pg_probe_here(&ngx_svc_pg_probes[i]))
        {
            ngx_svc_pg_probe_start(&ngx_svc_pg_probes[i]);
        }
    }
}


/*
 * Returns 1 if this process has a connection to the address, which
 * ngx_svc_pg_watch.c looks at.
 */

static ngx_uint_t
ngx_svc_pg_probe_here(ngx_svc_pg_probe_t *probe)
{
    PGconn             *pg;
    ngx_uint_t          i;
    const char         *host, *port;
    ngx_svc_pg_pool_t  *pool;

    pool = ngx_svc_pg_pool(NGX_SVC_PG_READ);
    host = ngx_svc_pg_probe_own(probe, "host");
    port = ngx_svc_pg_probe_own(probe, "port");

    for (i = 0; i < pool->nconns; i++) {
        pg = pool->conns[i].pg;

        if (pool->conns[i].state == NGX_SVC_PG_READY
            && ngx_strcmp(PQhost(pg), host) == 0
            && (port[0] == '\0' || ngx_strcmp(PQport(pg), port) == 0)
            && ngx_strcmp(PQhostaddr(pg),
                          ngx_svc_pg_probe_own(probe, "hostaddr")) == 0)
        {
            return 1;
        }
    }

    return 0;
}


static const char *
ngx_svc_pg_probe_own(ngx_svc_pg_probe_t *probe, const char *keyword)
{
    ngx_uint_t   i;
    const char  *value;

    value = "";

    for (i = 0; probe->values[i]; i++) {
        if (ngx_strcmp(ngx_svc_pg_probe_conf->keywords[i], keyword) == 0) {
            value = probe->values[i];
        }
    }

    return value;
}


/*
 * A probe that fails logs nothing: the pools' connections log what is wrong
 * with a server.
 */

static void
ngx_svc_pg_probe_start(ngx_svc_pg_probe_t *probe)
{
    probe->asked = 0;
    probe->pg = PQconnectStartParams(ngx_svc_pg_probe_conf->keywords,
                                     probe->values, 1);
    if (probe->pg == NULL) {
        return;
    }

    if (PQstatus(probe->pg) == CONNECTION_BAD
        || ngx_svc_pg_probe_wait(probe, 1) != NGX_OK)
    {
        ngx_svc_pg_probe_finish(probe);
        return;
    }

    ngx_add_timer(&probe->timer, ngx_svc_pg_probe_conf->connect_timeout);
}


static ngx_int_t
ngx_svc_pg_probe_wait(ngx_svc_pg_probe_t *probe, ngx_uint_t write)
{
    ngx_connection_t  *c;

    c = ngx_svc_socket_borrow(PQsocket(probe->pg), probe,
                              ngx_svc_pg_probe_event, probe->timer.log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    probe->connection = c;

    return write ? ngx_add_event(c->write, NGX_WRITE_EVENT, 0)
                 : ngx_add_event(c->read, NGX_READ_EVENT, 0);
}


static void
ngx_svc_pg_probe_event(ngx_event_t *ev)
{
    ngx_int_t            rc;
    ngx_connection_t    *c;
    ngx_svc_pg_probe_t  *probe;

    c = ev->data;
    probe = c->data;

    rc = probe->asked ? ngx_svc_pg_probe_read(probe)
                      : ngx_svc_pg_probe_connect(probe);

    if (rc != NGX_AGAIN) {
        ngx_svc_pg_probe_finish(probe);
    }
}


static ngx_int_t
ngx_svc_pg_probe_connect(ngx_svc_pg_probe_t *probe)
{
    PostgresPollingStatusType  status;

    ngx_svc_pg_probe_detach(probe);

    status = PQconnectPoll(probe->pg);

    switch (status) {

    case PGRES_POLLING_FAILED:
        return NGX_ERROR;

    case PGRES_POLLING_OK:

        /* it is one small packet, which the socket takes as a whole */

        if (PQsetnonblocking(probe->pg, 1) != 0
            || PQsendQuery(probe->pg, ngx_svc_sql_pg_timeline.text) != 1
            || PQflush(probe->pg) != 0)
        {
            return NGX_ERROR;
        }

        probe->asked = 1;
        break;

    default:
        break;
    }

    return ngx_svc_pg_probe_wait(probe, status == PGRES_POLLING_WRITING)
           == NGX_OK ? NGX_AGAIN : NGX_ERROR;
}


static ngx_int_t
ngx_svc_pg_probe_read(ngx_svc_pg_probe_t *probe)
{
    PGresult                   *res;
    ngx_svc_pg_timeline_t       timeline;
    ngx_svc_row_pg_timeline_t   row;

    if (PQconsumeInput(probe->pg) != 1) {
        return NGX_ERROR;
    }

    if (PQisBusy(probe->pg)) {
        return NGX_AGAIN;
    }

    res = PQgetResult(probe->pg);

    if (PQresultStatus(res) == PGRES_TUPLES_OK) {
        ngx_svc_row_pg_timeline(&row, res, 0);
        timeline = ngx_svc_pg_fence_read(&row);
        ngx_svc_pg_fence_note(&timeline);
    }

    PQclear(res);

    return NGX_OK;
}


static void
ngx_svc_pg_probe_timeout(ngx_event_t *ev)
{
    ngx_svc_pg_probe_finish(ev->data);
}


static void
ngx_svc_pg_probe_detach(ngx_svc_pg_probe_t *probe)
{
    if (probe->connection) {
        ngx_svc_socket_return(probe->connection,
                              PQsocket(probe->pg) != probe->connection->fd);
        probe->connection = NULL;
    }
}


static void
ngx_svc_pg_probe_finish(ngx_svc_pg_probe_t *probe)
{
    if (probe->timer.timer_set) {
        ngx_del_timer(&probe->timer);
    }

    ngx_svc_pg_probe_detach(probe);
    PQfinish(probe->pg);
    probe->pg = NULL;
}
