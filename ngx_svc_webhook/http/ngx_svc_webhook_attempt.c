/*
 * One attempt to deliver.
 */

#include "ngx_svc_webhook_attempt_error.h"
#include "ngx_svc_webhook_target.h"

#include "ngx_svc_log_limit.h"

#include <openssl/hmac.h>


#define NGX_SVC_WEBHOOK_ANSWER  65536       /* bytes that are read of one */
#define NGX_SVC_WEBHOOK_HEADER  128
#define NGX_SVC_WEBHOOK_LINGER  500         /* ms, for a body; then its
                                               connection is closed */

#define NGX_SVC_WEBHOOK_SPARE   8           /* connections of nginx */
#define NGX_SVC_WEBHOOK_LACK    60000       /* ms between lines of it */


static void ngx_svc_webhook_attempt_begin(ngx_event_t *ev);
static ngx_int_t ngx_svc_webhook_attempt_setup(
    ngx_svc_webhook_attempt_t *attempt, ngx_svc_webhook_endpoint_t *endpoint);
static ngx_int_t ngx_svc_webhook_attempt_headers(
    ngx_svc_webhook_attempt_t *attempt, ngx_svc_webhook_endpoint_t *endpoint);
static ngx_int_t ngx_svc_webhook_attempt_header(
    ngx_svc_webhook_attempt_t *attempt, const char *name, const u_char *value,
    size_t len);
static ngx_int_t ngx_svc_webhook_attempt_sign(
    ngx_svc_webhook_attempt_t *attempt, ngx_svc_webhook_endpoint_t *endpoint);
static curl_socket_t ngx_svc_webhook_attempt_socket(void *data,
    curlsocktype purpose, struct curl_sockaddr *address);
static curl_socket_t ngx_svc_webhook_attempt_open(
    ngx_svc_webhook_attempt_t *attempt, struct curl_sockaddr *address);
static void ngx_svc_webhook_attempt_lack(ngx_svc_webhook_attempt_t *attempt,
    ngx_err_t err, const char *text);
static int ngx_svc_webhook_attempt_request(void *data, char *to, char *from,
    int to_port, int from_port);
static size_t ngx_svc_webhook_attempt_head(char *line, size_t size, size_t n,
    void *data);
static size_t ngx_svc_webhook_attempt_body(char *text, size_t size, size_t n,
    void *data);
static void ngx_svc_webhook_attempt_done(ngx_svc_webhook_reader_t *reader,
    CURLcode code);
static void ngx_svc_webhook_attempt_end(ngx_event_t *ev);
static void ngx_svc_webhook_attempt_close(ngx_event_t *ev);
static void ngx_svc_webhook_attempt_finish(ngx_svc_webhook_attempt_t *attempt,
    CURLcode code);
static ngx_int_t ngx_svc_webhook_attempt_again(
    ngx_svc_webhook_attempt_t *attempt, CURLcode code);
static void ngx_svc_webhook_attempt_free(ngx_svc_webhook_attempt_t *attempt);


ngx_int_t
ngx_svc_webhook_attempt_init(ngx_cycle_t *cycle)
{
    return ngx_svc_webhook_curl_init(cycle, ngx_svc_webhook_attempt_done);
}


void
ngx_svc_webhook_attempt_exit(void)
{
    ngx_svc_webhook_curl_exit();
}


ngx_svc_webhook_attempt_t *
ngx_svc_webhook_attempt(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_endpoint_t *endpoint, ngx_uint_t connected,
    ngx_svc_webhook_attempt_pt handler, void *data)
{
    ngx_time_t                 *tp;
    ngx_svc_webhook_attempt_t  *attempt;

    attempt = ngx_calloc(sizeof(ngx_svc_webhook_attempt_t), ngx_cycle->log);
    if (attempt == NULL) {
        return NULL;
    }

    tp = ngx_timeofday();

    attempt->delivery = d;
    attempt->handler = handler;
    attempt->data = data;
    attempt->start = ngx_current_msec;
    attempt->result.began = (int64_t) tp->sec * 1000 + tp->msec;

    attempt->end.handler = ngx_svc_webhook_attempt_end;
    attempt->end.data = attempt;
    attempt->end.log = ngx_cycle->log;
    attempt->end.cancelable = 1;
    attempt->reader.event = &attempt->end;

    attempt->step.handler = ngx_svc_webhook_attempt_begin;
    attempt->step.data = attempt;
    attempt->step.log = ngx_cycle->log;

    attempt->curl = ngx_svc_webhook_curl_get();

    if (attempt->curl == NULL
        || ngx_svc_webhook_attempt_setup(attempt, endpoint) != NGX_OK)
    {
        goto failed;
    }

    if (!connected) {
        ngx_svc_webhook_curl_post(&attempt->step);
        return attempt;
    }

    attempt->reader.direct = 1;

    if (ngx_svc_webhook_curl_start(attempt->curl) != NGX_OK) {
        goto failed;
    }

    return attempt;

failed:

    ngx_svc_webhook_attempt_free(attempt);

    return NULL;
}


static void
ngx_svc_webhook_attempt_begin(ngx_event_t *ev)
{
    ngx_svc_webhook_attempt_t *attempt = ev->data;

    attempt->start = ngx_current_msec;

    if (ngx_svc_webhook_curl_start(attempt->curl) != NGX_OK) {
        attempt->lack = 1;
        ngx_svc_webhook_attempt_finish(attempt, CURLE_OUT_OF_MEMORY);
    }
}


void
ngx_svc_webhook_attempt_cancel(ngx_svc_webhook_attempt_t *attempt)
{
    ngx_svc_webhook_attempt_free(attempt);
}


static ngx_int_t
ngx_svc_webhook_attempt_setup(ngx_svc_webhook_attempt_t *attempt,
    ngx_svc_webhook_endpoint_t *endpoint)
{
    long   rc;
    CURL  *curl;

    if (ngx_svc_webhook_attempt_headers(attempt, endpoint) != NGX_OK) {
        return NGX_ERROR;
    }

    curl = attempt->curl;

    rc = (long) curl_easy_setopt(curl, CURLOPT_URL, endpoint->url.data);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_USERAGENT, "Svc-Webhooks/1");
    rc |= (long) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, attempt->headers);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_POST, 1L);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE,
                                  (long) attempt->delivery->body.len);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
                                  attempt->delivery->body.data);

    rc |= (long) curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION,
                                  ngx_svc_webhook_attempt_socket);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, attempt);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION,
                                  ngx_svc_webhook_attempt_request);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_PREREQDATA, attempt);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION,
                                  ngx_svc_webhook_attempt_head);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_HEADERDATA, attempt);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION,
                                  ngx_svc_webhook_attempt_body);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_WRITEDATA, attempt);

    if (rc != CURLE_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_webhook_curl_reader(curl, &attempt->reader);
}


static ngx_int_t
ngx_svc_webhook_attempt_headers(ngx_svc_webhook_attempt_t *attempt,
    ngx_svc_webhook_endpoint_t *endpoint)
{
    ngx_svc_webhook_delivery_t  *d;

    d = attempt->delivery;

    /* the last two are headers that libcurl is to leave out */

    if (ngx_svc_webhook_attempt_header(attempt, "Content-Type: ",
                                       (u_char *) "application/json", 16)
           != NGX_OK
        || ngx_svc_webhook_attempt_header(attempt, "X-Svc-Event: ",
                                          d->event.data, d->event.len)
           != NGX_OK
        || ngx_svc_webhook_attempt_header(attempt, "X-Svc-Delivery: ",
                                          d->id.data, d->id.len)
           != NGX_OK
        || ngx_svc_webhook_attempt_sign(attempt, endpoint) != NGX_OK
        || ngx_svc_webhook_attempt_header(attempt, "Accept:", NULL, 0)
           != NGX_OK
        || ngx_svc_webhook_attempt_header(attempt, "Expect:", NULL, 0)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_attempt_header(ngx_svc_webhook_attempt_t *attempt,
    const char *name, const u_char *value, size_t len)
{
    u_char              text[NGX_SVC_WEBHOOK_HEADER];
    struct curl_slist  *list;

    ngx_snprintf(text, sizeof(text), "%s%*s%Z", name, len, value);
    text[sizeof(text) - 1] = '\0';

    list = curl_slist_append(attempt->headers, (char *) text);
    if (list == NULL) {
        return NGX_ERROR;
    }

    attempt->headers = list;

    return NGX_OK;
}


/* The key is the secret as it was shown: digits, not what they stand for. */

static ngx_int_t
ngx_svc_webhook_attempt_sign(ngx_svc_webhook_attempt_t *attempt,
    ngx_svc_webhook_endpoint_t *endpoint)
{
    u_char                       mac[EVP_MAX_MD_SIZE];
    u_char                       text[7 + 2 * EVP_MAX_MD_SIZE], *p;
    unsigned int                 len;
    ngx_svc_webhook_delivery_t  *d;

    d = attempt->delivery;

    if (HMAC(EVP_sha256(), endpoint->secret, NGX_SVC_WEBHOOK_SECRET,
             d->body.data, d->body.len, mac, &len)
        == NULL)
    {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0, "HMAC() failed");
        return NGX_ERROR;
    }

    p = ngx_cpymem(text, "sha256=", 7);
    p = ngx_hex_dump(p, mac, len);

    return ngx_svc_webhook_attempt_header(attempt, "X-Svc-Signature: ", text,
                                          p - text);
}


/*
 * Called for each address before libcurl connects to it.  The proxy's is the
 * operator's choice.
 */

static curl_socket_t
ngx_svc_webhook_attempt_socket(void *data, curlsocktype purpose,
    struct curl_sockaddr *address)
{
    ngx_svc_webhook_attempt_t *attempt = data;

    const char              *kind;
    ngx_svc_addr_t           addr;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();

    if (wcf->proxy.len == 0) {

        if (ngx_svc_addr_from_sockaddr(&address->addr, &addr) != NGX_OK) {
            return CURL_SOCKET_BAD;
        }

        kind = ngx_svc_webhook_address(&addr, &wcf->allow);

        if (kind) {
            attempt->address = addr;
            attempt->kind = kind;
            return CURL_SOCKET_BAD;
        }
    }

    attempt->allowed = 1;

    return ngx_svc_webhook_attempt_open(attempt, address);
}


/* What the operator has too little of is no failure of the receiver's. */

static curl_socket_t
ngx_svc_webhook_attempt_open(ngx_svc_webhook_attempt_t *attempt,
    struct curl_sockaddr *address)
{
    curl_socket_t  fd;

    if (ngx_cycle->free_connection_n < NGX_SVC_WEBHOOK_SPARE) {
        ngx_svc_webhook_attempt_lack(attempt, 0,
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
        ngx_svc_webhook_attempt_lack(attempt, ngx_errno,
                                     "socket() of the webhook helper failed: "
                                     "raise worker_rlimit_nofile, or lower "
                                     "svc_webhook_concurrency");
    }

    return fd;
}


static void
ngx_svc_webhook_attempt_lack(ngx_svc_webhook_attempt_t *attempt, ngx_err_t err,
    const char *text)
{
    static ngx_svc_log_limit_t  limit;

    attempt->lack = 1;

    if (ngx_svc_log_limit(&limit, 1, NGX_SVC_WEBHOOK_LACK)) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, err, "%s", text);
    }
}


/* A connection is there, new or not. */

static int
ngx_svc_webhook_attempt_request(void *data, char *to, char *from, int to_port,
    int from_port)
{
    ngx_svc_webhook_attempt_t *attempt = data;

    ngx_svc_webhook_wire_request(attempt->curl, &attempt->reader);

    return CURL_PREREQFUNC_OK;
}


/*
 * All lines of all heads count, those of 1xx too.  Behind the last one of them
 * a body that is short is waited for, so that the connection can be kept.
 */

static size_t
ngx_svc_webhook_attempt_head(char *line, size_t size, size_t n, void *data)
{
    ngx_svc_webhook_attempt_t *attempt = data;

    long  status;

    n *= size;

    if (attempt->received + n > NGX_SVC_WEBHOOK_ANSWER) {
        attempt->flood = 1;
        return 0;
    }

    attempt->received += n;

    if (n <= 2 && (line[0] == '\r' || line[0] == '\n')) {
        status = 0;
        curl_easy_getinfo(attempt->curl, CURLINFO_RESPONSE_CODE, &status);
        attempt->answered = (status >= 200);

        if (attempt->answered) {
            ngx_add_timer(&attempt->end, NGX_SVC_WEBHOOK_LINGER);
        }
    }

    return n;
}


static size_t
ngx_svc_webhook_attempt_body(char *text, size_t size, size_t n, void *data)
{
    ngx_svc_webhook_attempt_t *attempt = data;

    attempt->received += size * n;

    return attempt->received > NGX_SVC_WEBHOOK_ANSWER ? 0 : size * n;
}


static void
ngx_svc_webhook_attempt_done(ngx_svc_webhook_reader_t *reader, CURLcode code)
{
    ngx_svc_webhook_attempt_t  *attempt;

    attempt = (ngx_svc_webhook_attempt_t *)
                  ((u_char *) reader
                   - offsetof(ngx_svc_webhook_attempt_t, reader));

    if (ngx_svc_webhook_attempt_again(attempt, code) != NGX_OK) {
        ngx_svc_webhook_attempt_finish(attempt, code);
    }
}


/* The body takes its time, or more has come than is read. */

static void
ngx_svc_webhook_attempt_end(ngx_event_t *ev)
{
    ngx_svc_webhook_attempt_t *attempt = ev->data;

    attempt->step.handler = ngx_svc_webhook_attempt_close;
    ngx_svc_webhook_curl_post(&attempt->step);
}


static void
ngx_svc_webhook_attempt_close(ngx_event_t *ev)
{
    ngx_svc_webhook_attempt_t *attempt = ev->data;

    attempt->result.lingered = 1;

    ngx_svc_webhook_attempt_finish(attempt, CURLE_RECV_ERROR);
}


/* Once its head is there an answer counts, however its body ends. */

static void
ngx_svc_webhook_attempt_finish(ngx_svc_webhook_attempt_t *attempt,
    CURLcode code)
{
    long                         status;
    void                        *owner;
    ngx_svc_webhook_result_t     result;
    ngx_svc_webhook_attempt_pt   handler;

    status = 0;

    if (attempt->answered) {
        curl_easy_getinfo(attempt->curl, CURLINFO_RESPONSE_CODE, &status);
    }

    attempt->result.status = status;
    attempt->result.duration = ngx_current_msec - attempt->start;

    if (status >= 200 && status < 300) {
        attempt->result.outcome = NGX_SVC_WEBHOOK_ACKNOWLEDGED;

    } else {
        ngx_svc_webhook_attempt_failed(attempt, code);
    }

    handler = attempt->handler;
    owner = attempt->data;
    result = attempt->result;

    if (result.error.len) {
        result.error.data = result.text;
    }

    if (result.detail.len) {
        result.detail.data = result.detail_text;
    }

    ngx_svc_webhook_attempt_free(attempt);

    handler(owner, &result);
}


/*
 * A receiver may close a connection that was kept while a request is on its
 * way.  Of errors in sending libcurl does not take care itself.
 */

static ngx_int_t
ngx_svc_webhook_attempt_again(ngx_svc_webhook_attempt_t *attempt,
    CURLcode code)
{
    if (attempt->received == 0
        && attempt->reader.excess == NGX_SVC_WEBHOOK_WITHIN
        && (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR
            || code == CURLE_GOT_NOTHING))
    {
        attempt->reader.connected = 0;

        return ngx_svc_webhook_curl_again(attempt->curl);
    }

    return NGX_DECLINED;
}


static void
ngx_svc_webhook_attempt_free(ngx_svc_webhook_attempt_t *attempt)
{
    if (attempt->curl) {
        ngx_svc_webhook_curl_put(attempt->curl);
    }

    ngx_svc_webhook_wire_release(&attempt->reader);

    if (attempt->step.posted) {
        ngx_delete_posted_event(&attempt->step);
    }

    if (attempt->end.timer_set) {
        ngx_del_timer(&attempt->end);
    }

    if (attempt->end.posted) {
        ngx_delete_posted_event(&attempt->end);
    }

    curl_slist_free_all(attempt->headers);
    ngx_free(attempt);
}
