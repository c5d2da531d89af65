/*
 * TXT records and addresses of DNS.
 */

#include "ngx_svc_dns.h"
#include "ngx_svc_dns_read.h"
#include "ngx_svc_socket.h"


#define NGX_SVC_DNS_SOCKETS  32
#define NGX_SVC_DNS_EDNS     1232       /* bytes of an answer by UDP */
#define NGX_SVC_DNS_IN       1          /* class: RFC 1035, 3.2.4 */


/* A type of records. */

typedef struct {
    int                        type;    /* RFC 1035, 3.2.2; RFC 3596, 2.1 */
    int                      (*read)(ngx_svc_dns_t *dns,
                                     const unsigned char *abuf, int alen);
} ngx_svc_dns_type_t;


/* What c-ares is asked for one type. */

typedef struct {
    ngx_svc_dns_query_t       *query;
    const ngx_svc_dns_type_t  *type;
} ngx_svc_dns_part_t;


/* Allocated from the heap: c-ares may answer after the request is gone. */

struct ngx_svc_dns_query_s {
    ngx_svc_dns_t             *dns;     /* NULL: nobody waits */
    ngx_uint_t                 left;    /* parts without an answer */
    ngx_svc_dns_part_t         parts[NGX_SVC_DNS_TYPES];
};


typedef struct {
    ares_channel        channel;        /* NULL: not open */
    const ngx_str_t    *servers;        /* svc_resolver, or empty */
    ngx_event_t         timer;          /* c-ares' next try */
    ngx_uint_t          queries;
    ngx_connection_t   *connections[NGX_SVC_DNS_SOCKETS];   /* NULL: free */
} ngx_svc_dns_channel_t;


static ngx_int_t ngx_svc_dns_open(void);
static ngx_uint_t ngx_svc_dns_nservers(ares_channel channel);
static void ngx_svc_dns_state(void *data, ares_socket_t fd, int readable,
    int writable);
static ngx_connection_t **ngx_svc_dns_connection(ares_socket_t fd);
static void ngx_svc_dns_want(ngx_event_t *ev, ngx_int_t event, int want);
static void ngx_svc_dns_event(ngx_event_t *ev);
static void ngx_svc_dns_timer(ngx_event_t *ev);
static void ngx_svc_dns_arm(void);
static ngx_int_t ngx_svc_dns_ask(ngx_svc_dns_t *dns, const char *name,
    const ngx_svc_dns_type_t *types, ngx_uint_t n, ngx_pool_t *pool);
static ngx_svc_dns_query_t *ngx_svc_dns_query(ngx_svc_dns_t *dns,
    const ngx_svc_dns_type_t *types, ngx_uint_t n, ngx_pool_t *pool);
static void ngx_svc_dns_answered(void *arg, int status, int timeouts,
    unsigned char *abuf, int alen);
static void ngx_svc_dns_more(ngx_svc_dns_t *dns, int status);
static void ngx_svc_dns_done(ngx_event_t *ev);
static void ngx_svc_dns_gone(void *data);


static const ngx_svc_dns_type_t  ngx_svc_dns_txt_type[] = {
    { 16, ngx_svc_dns_read_txt }
};

static const ngx_svc_dns_type_t  ngx_svc_dns_addr_types[] = {
    { 1, ngx_svc_dns_read_a },
    { 28, ngx_svc_dns_read_aaaa }
};


static ngx_svc_dns_channel_t  ngx_svc_dns;


void
ngx_svc_dns_init_worker(ngx_cycle_t *cycle, const ngx_str_t *servers)
{
    if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, 0,
                      "ares_library_init() failed");
        return;
    }

    ngx_svc_dns.timer.handler = ngx_svc_dns_timer;
    ngx_svc_dns.timer.log = cycle->log;
    ngx_svc_dns.timer.cancelable = 1;

    ngx_svc_dns.servers = servers;

    if (ngx_svc_dns_open() != NGX_OK) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, 0,
                      "ares_init_options() failed: no name can be looked up");
        ares_library_cleanup();
    }
}


/*
 * Opens a channel in place of the present one.  The second try of a server may
 * take as long as two first ones.  A cache, which newer versions have, would go
 * on saying that there is no record yet.
 */

static ngx_int_t
ngx_svc_dns_open(void)
{
    int                  mask;
    ngx_uint_t           n;
    ares_channel         channel;
    struct ares_options  options;

    channel = NULL;
    ngx_memzero(&options, sizeof(options));

    options.flags = ARES_FLAG_EDNS|ARES_FLAG_NOSEARCH|ARES_FLAG_NOALIASES;
    options.ednspsz = NGX_SVC_DNS_EDNS;
    options.tries = NGX_SVC_DNS_TRIES;
    options.timeout = NGX_SVC_DNS_TIMEOUT / 3;
    options.sock_state_cb = ngx_svc_dns_state;

    mask = ARES_OPT_FLAGS|ARES_OPT_EDNSPSZ|ARES_OPT_TRIES|ARES_OPT_TIMEOUTMS
           |ARES_OPT_SOCK_STATE_CB|ARES_OPT_NOROTATE;

#ifdef ARES_OPT_QUERY_CACHE
    mask |= ARES_OPT_QUERY_CACHE;
#endif

    /* the number of servers decides how long a try may take */

    for (n = 0; n < 2; n++) {

        if (ares_init_options(&channel, &options, mask) != ARES_SUCCESS) {
            return NGX_ERROR;
        }

        if (ngx_svc_dns.servers->len
            && ares_set_servers_ports_csv(channel, (char *)
                                          ngx_svc_dns.servers->data)
               != ARES_SUCCESS)
        {
            ares_destroy(channel);
            return NGX_ERROR;
        }

        if (n == 0) {
            options.timeout /= ngx_svc_dns_nservers(channel);
            ares_destroy(channel);
        }
    }

    if (ngx_svc_dns.channel) {
        ares_destroy(ngx_svc_dns.channel);
    }

    ngx_svc_dns.channel = channel;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_dns_nservers(ares_channel channel)
{
    ngx_uint_t                  n;
    struct ares_addr_port_node  *servers, *s;

    if (ares_get_servers_ports(channel, &servers) != ARES_SUCCESS) {
        return 1;
    }

    for (n = 0, s = servers; s; s = s->next) {
        n++;
    }

    ares_free_data(servers);

    return ngx_min(ngx_max(n, 1), NGX_SVC_DNS_SERVERS);
}


/* When it returns the sockets and their connections are gone. */

void
ngx_svc_dns_exit_worker(void)
{
    if (ngx_svc_dns.channel == NULL) {
        return;
    }

    ares_destroy(ngx_svc_dns.channel);
    ares_library_cleanup();

    ngx_svc_dns.channel = NULL;

    if (ngx_svc_dns.timer.timer_set) {
        ngx_del_timer(&ngx_svc_dns.timer);
    }
}


/*
 * c-ares opens and closes its sockets itself.  A socket that gets no connection
 * is not read: c-ares tries again when the time of the try is over.
 */

static void
ngx_svc_dns_state(void *data, ares_socket_t fd, int readable, int writable)
{
    ngx_connection_t  *c, **place;

    place = ngx_svc_dns_connection(fd);

    if (!readable && !writable) {

        if (place && *place) {
            c = *place;
            *place = NULL;
            ngx_svc_socket_return(c, 0);
        }

        return;
    }

    if (place == NULL) {
        return;
    }

    if (*place == NULL) {
        *place = ngx_svc_socket_borrow(fd, NULL, ngx_svc_dns_event,
                                       ngx_svc_dns.timer.log);
        if (*place == NULL) {
            return;
        }
    }

    ngx_svc_dns_want((*place)->read, NGX_READ_EVENT, readable);
    ngx_svc_dns_want((*place)->write, NGX_WRITE_EVENT, writable);
}


/* Returns the place of a socket, or else a free one; NULL: there is none. */

static ngx_connection_t **
ngx_svc_dns_connection(ares_socket_t fd)
{
    ngx_uint_t         i;
    ngx_connection_t  *c, **place;

    place = NULL;

    for (i = 0; i < NGX_SVC_DNS_SOCKETS; i++) {
        c = ngx_svc_dns.connections[i];

        if (c == NULL) {
            place = &ngx_svc_dns.connections[i];

        } else if (c->fd == fd) {
            return &ngx_svc_dns.connections[i];
        }
    }

    return place;
}


static void
ngx_svc_dns_want(ngx_event_t *ev, ngx_int_t event, int want)
{
    if (want && !ev->active) {
        (void) ngx_add_event(ev, event, 0);

    } else if (!want && ev->active) {
        (void) ngx_del_event(ev, event, 0);
    }
}


static void
ngx_svc_dns_event(ngx_event_t *ev)
{
    ares_socket_t      fd;
    ngx_connection_t  *c;

    c = ev->data;
    fd = c->fd;

    ares_process_fd(ngx_svc_dns.channel, ev->write ? ARES_SOCKET_BAD : fd,
                    ev->write ? fd : ARES_SOCKET_BAD);
    ngx_svc_dns_arm();
}


static void
ngx_svc_dns_timer(ngx_event_t *ev)
{
    ares_process_fd(ngx_svc_dns.channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    ngx_svc_dns_arm();
}


static void
ngx_svc_dns_arm(void)
{
    struct timeval  tv;

    if (ares_timeout(ngx_svc_dns.channel, NULL, &tv)) {
        ngx_add_timer(&ngx_svc_dns.timer,
                      (ngx_msec_t) tv.tv_sec * 1000 + tv.tv_usec / 1000 + 1);

    } else if (ngx_svc_dns.timer.timer_set) {
        ngx_del_timer(&ngx_svc_dns.timer);
    }
}


ngx_int_t
ngx_svc_dns_txt(ngx_svc_dns_t *dns, const char *name, ngx_pool_t *pool)
{
    return ngx_svc_dns_ask(dns, name, ngx_svc_dns_txt_type, 1, pool);
}


ngx_int_t
ngx_svc_dns_addresses(ngx_svc_dns_t *dns, const char *name, ngx_pool_t *pool)
{
    return ngx_svc_dns_ask(dns, name, ngx_svc_dns_addr_types, 2, pool);
}


/* c-ares may call back before ares_query() returns. */

static ngx_int_t
ngx_svc_dns_ask(ngx_svc_dns_t *dns, const char *name,
    const ngx_svc_dns_type_t *types, ngx_uint_t n, ngx_pool_t *pool)
{
    ngx_uint_t            i;
    ngx_svc_dns_query_t  *query;

    if (ngx_svc_dns.channel == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_dns.queries + n > NGX_SVC_DNS_QUERIES) {
        return NGX_BUSY;
    }

#if (ARES_VERSION >= 0x012000)

    /*
     * Since 1.32 a channel whose servers have answered fast waits only 250 ms
     * for the next answer, whatever its options are.  A new channel does not.
     */

    if (ngx_svc_dns.queries == 0 && ngx_svc_dns_open() != NGX_OK) {
        return NGX_ERROR;
    }

#endif

    query = ngx_svc_dns_query(dns, types, n, pool);
    if (query == NULL) {
        return NGX_ERROR;
    }

    ngx_add_timer(&dns->event, NGX_SVC_DNS_TIMEOUT);
    ngx_svc_dns.queries += n;

    for (i = 0; i < n; i++) {
        ares_query(ngx_svc_dns.channel, name, NGX_SVC_DNS_IN, types[i].type,
                   ngx_svc_dns_answered, &query->parts[i]);
    }

    ngx_svc_dns_arm();

    return NGX_AGAIN;
}


static ngx_svc_dns_query_t *
ngx_svc_dns_query(ngx_svc_dns_t *dns, const ngx_svc_dns_type_t *types,
    ngx_uint_t n, ngx_pool_t *pool)
{
    ngx_uint_t            i;
    ngx_pool_cleanup_t   *cln;
    ngx_svc_dns_query_t  *query;

    cln = ngx_pool_cleanup_add(pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    query = ngx_alloc(sizeof(ngx_svc_dns_query_t), ngx_cycle->log);
    if (query == NULL) {
        return NULL;
    }

    query->dns = dns;
    query->left = n;

    for (i = 0; i < n; i++) {
        query->parts[i].query = query;
        query->parts[i].type = &types[i];
    }

    dns->status = NGX_SVC_DNS_NONE;
    dns->query = query;
    dns->pool = pool;
    dns->event.handler = ngx_svc_dns_done;
    dns->event.data = dns;
    dns->event.log = ngx_cycle->log;

    cln->handler = ngx_svc_dns_gone;
    cln->data = dns;

    return query;
}


static void
ngx_svc_dns_answered(void *arg, int status, int timeouts, unsigned char *abuf,
    int alen)
{
    ngx_uint_t            left;
    ngx_svc_dns_t        *dns;
    ngx_svc_dns_part_t   *part = arg;
    ngx_svc_dns_query_t  *query;

    query = part->query;
    dns = query->dns;
    left = --query->left;

    ngx_svc_dns.queries--;

    if (dns && status == ARES_EDESTRUCTION) {
        query->dns = NULL;
        dns->query = NULL;
        dns = NULL;
    }

    if (dns) {
        ngx_svc_dns_more(dns, status == ARES_SUCCESS
                              ? part->type->read(dns, abuf, alen) : status);
    }

    if (left) {

        if (dns && dns->status == NGX_SVC_DNS_FOUND) {
            ngx_add_timer(&dns->event, NGX_SVC_DNS_SECOND);
        }

        return;
    }

    ngx_free(query);

    if (dns == NULL) {
        return;
    }

    dns->query = NULL;

    if (dns->event.timer_set) {
        ngx_del_timer(&dns->event);
    }

    ngx_post_event(&dns->event, &ngx_posted_events);
}


/* Takes the status of one type; what was found stays found. */

static void
ngx_svc_dns_more(ngx_svc_dns_t *dns, int status)
{
    if (dns->status == NGX_SVC_DNS_FOUND) {
        return;
    }

    switch (status) {

    case ARES_SUCCESS:
        dns->status = NGX_SVC_DNS_FOUND;
        break;

    case ARES_ENODATA:
    case ARES_ENOTFOUND:
        break;

    case ARES_EBADNAME:
        dns->status = NGX_SVC_DNS_NAME;
        break;

    default:
        dns->why = ares_strerror(status);
        dns->status = NGX_SVC_DNS_FAILED;
    }
}


/* Called when the answer has been posted, or the time is over. */

static void
ngx_svc_dns_done(ngx_event_t *ev)
{
    ngx_svc_dns_t  *dns;

    dns = ev->data;

    if (dns->query) {

        if (dns->status != NGX_SVC_DNS_FOUND) {
            dns->status = NGX_SVC_DNS_FAILED;
            dns->why = "Timeout while contacting DNS servers";
        }

        ngx_svc_dns_gone(dns);
    }

    dns->handler(dns);
}


static void
ngx_svc_dns_gone(void *data)
{
    ngx_svc_dns_t *dns = data;

    if (dns->query) {
        dns->query->dns = NULL;
        dns->query = NULL;
    }

    if (dns->event.timer_set) {
        ngx_del_timer(&dns->event);
    }

    if (dns->event.posted) {
        ngx_delete_posted_event(&dns->event);
    }
}
