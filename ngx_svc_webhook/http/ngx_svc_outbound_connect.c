/*
 * Where a request may connect to, and in which time.
 */

#include "ngx_svc_outbound_connect.h"
#include "ngx_svc_log_limit.h"
#include "ngx_svc_outbound_target.h"


#define NGX_SVC_OUTBOUND_SPARE  8           /* nginx connections to be left
                                               free */
#define NGX_SVC_OUTBOUND_LACK   60000       /* ms between lines in the log */


static long ngx_svc_outbound_limits(ngx_svc_outbound_t *r);
static curl_socket_t ngx_svc_outbound_socket(void *data, curlsocktype purpose,
    struct curl_sockaddr *address);
static ngx_uint_t ngx_svc_outbound_proxied(const ngx_svc_outbound_t *r);
static ngx_int_t ngx_svc_outbound_allowed(ngx_svc_outbound_t *r,
    const ngx_svc_addr_t *addr);
static curl_socket_t ngx_svc_outbound_open(ngx_svc_outbound_t *r,
    struct curl_sockaddr *address);
static void ngx_svc_outbound_lack(ngx_svc_outbound_t *r, ngx_err_t err,
    const char *text);
static int ngx_svc_outbound_sends(void *data, char *to, char *from,
    int to_port, int from_port);


long
ngx_svc_outbound_connects(ngx_svc_outbound_t *r)
{
    long   rc;
    CURL  *curl;

    curl = r->curl;

    rc = (long) curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION,
                                 ngx_svc_outbound_socket);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, r);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION,
                                  ngx_svc_outbound_sends);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_PREREQDATA, r);

    return rc | ngx_svc_outbound_limits(r);
}


static long
ngx_svc_outbound_limits(ngx_svc_outbound_t *r)
{
    long        rc;
    ngx_msec_t  connect;

    rc = CURLE_OK;

    if (r->timeout) {
        connect = ngx_min(r->timeout, ngx_svc_webhook_conf()->connect_timeout);

        rc |= (long) curl_easy_setopt(r->curl, CURLOPT_CONNECTTIMEOUT_MS,
                                      (long) connect);
        rc |= (long) curl_easy_setopt(r->curl, CURLOPT_TIMEOUT_MS,
                                      (long) r->timeout);
    }

    if (r->plain) {
        rc |= (long) curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http");
        rc |= (long) curl_easy_setopt(r->curl, CURLOPT_PROXY, "");
    }

    return rc;
}


/*
 * libcurl calls this for each address before it connects.  A proxy's address
 * is the operator's choice, and is not checked.
 */

static curl_socket_t
ngx_svc_outbound_socket(void *data, curlsocktype purpose,
    struct curl_sockaddr *address)
{
    ngx_svc_outbound_t *r = data;

    ngx_svc_addr_t  addr;

    if (!ngx_svc_outbound_proxied(r)
        && (ngx_svc_addr_from_sockaddr(&address->addr, &addr) != NGX_OK
            || ngx_svc_outbound_allowed(r, &addr) != NGX_OK))
    {
        return CURL_SOCKET_BAD;
    }

    r->allowed = 1;

    return ngx_svc_outbound_open(r, address);
}


/* No proxy leads to a loopback address of ours. */

static ngx_uint_t
ngx_svc_outbound_proxied(const ngx_svc_outbound_t *r)
{
    return ngx_svc_webhook_conf()->proxy.len && !r->plain;
}


static ngx_int_t
ngx_svc_outbound_allowed(ngx_svc_outbound_t *r, const ngx_svc_addr_t *addr)
{
    const char         *kind;
    const ngx_array_t  *allow;

    allow = r->allow ? r->allow : &ngx_svc_webhook_conf()->allow;
    kind = ngx_svc_outbound_address(addr, allow);

    if (kind == NULL && r->plain && !ngx_svc_addr_loopback(addr)) {
        kind = "not loopback";
    }

    if (kind == NULL) {
        return NGX_OK;
    }

    r->address = *addr;
    r->kind = kind;

    return NGX_DECLINED;
}


/* Opens a socket.  If we lack something, that is no failure of the receiver. */

static curl_socket_t
ngx_svc_outbound_open(ngx_svc_outbound_t *r, struct curl_sockaddr *address)
{
    curl_socket_t  fd;

    if (ngx_cycle->free_connection_n < NGX_SVC_OUTBOUND_SPARE) {
        ngx_svc_outbound_lack(r, 0,
                              "no free connections in the webhook "
                              "helper: raise worker_connections, or "
                              "lower svc_webhook_concurrency");
        return CURL_SOCKET_BAD;
    }

    fd = socket(address->family, address->socktype|SOCK_CLOEXEC,
                address->protocol);

    if (fd == CURL_SOCKET_BAD
        && (ngx_errno == NGX_EMFILE || ngx_errno == NGX_ENFILE
            || ngx_errno == ENOBUFS || ngx_errno == NGX_ENOMEM))
    {
        ngx_svc_outbound_lack(r, ngx_errno,
                              "socket() of the webhook helper failed: "
                              "raise worker_rlimit_nofile, or lower "
                              "svc_webhook_concurrency");
    }

    return fd;
}


static void
ngx_svc_outbound_lack(ngx_svc_outbound_t *r, ngx_err_t err, const char *text)
{
    static ngx_svc_log_limit_t  limit;

    r->lack = 1;

    if (ngx_svc_log_limit(&limit, 1, NGX_SVC_OUTBOUND_LACK)) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, err, "%s", text);
    }
}


/*
 * libcurl calls this when it has a connection, new or kept.  One that was kept
 * may lead to an address that only others may reach.
 */

static int
ngx_svc_outbound_sends(void *data, char *to, char *from, int to_port,
    int from_port)
{
    ngx_svc_outbound_t *r = data;

    ngx_svc_addr_t  addr;

    if (!r->allowed && !ngx_svc_outbound_proxied(r)
        && (ngx_svc_addr_parse((u_char *) to, ngx_strlen(to), &addr) != NGX_OK
            || ngx_svc_outbound_allowed(r, &addr) != NGX_OK))
    {
        return CURL_PREREQFUNC_ABORT;
    }

    ngx_svc_curl_wire_request(r->curl, &r->reader);

    return CURL_PREREQFUNC_OK;
}
