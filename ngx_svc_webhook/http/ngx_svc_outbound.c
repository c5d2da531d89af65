/*
 * One request over HTTPS.
 */

#include "ngx_svc_outbound_connect.h"
#include "ngx_svc_outbound_error.h"
#include "ngx_svc_curl_options.h"


#define NGX_SVC_OUTBOUND_RETRY  3600        /* s of Retry-After, at most */


static void ngx_svc_outbound_begin(ngx_event_t *ev);
static ngx_int_t ngx_svc_outbound_setup(ngx_svc_outbound_t *r);
static long ngx_svc_outbound_method(ngx_svc_outbound_t *r);
static long ngx_svc_outbound_callbacks(ngx_svc_outbound_t *r);
static size_t ngx_svc_outbound_send(char *buf, size_t size, size_t n,
    void *data);
static size_t ngx_svc_outbound_head(char *line, size_t size, size_t n,
    void *data);
static size_t ngx_svc_outbound_body(char *text, size_t size, size_t n,
    void *data);
static void ngx_svc_outbound_done(ngx_svc_curl_reader_t *reader,
    CURLcode code);
static void ngx_svc_outbound_end(ngx_event_t *ev);
static void ngx_svc_outbound_stop(ngx_event_t *ev);
static void ngx_svc_outbound_finish(ngx_svc_outbound_t *r, CURLcode code);
static ngx_msec_t ngx_svc_outbound_retry_after(CURL *curl);
static ngx_int_t ngx_svc_outbound_again(ngx_svc_outbound_t *r, CURLcode code);


ngx_int_t
ngx_svc_outbound_init(ngx_cycle_t *cycle)
{
    return ngx_svc_curl_init(cycle, ngx_svc_outbound_done);
}


void
ngx_svc_outbound_exit(void)
{
    ngx_svc_curl_exit();
}


ngx_int_t
ngx_svc_outbound_header(ngx_svc_outbound_t *r, const char *name,
    const u_char *value, size_t len)
{
    size_t              n;
    u_char             *text, *p;
    struct curl_slist  *list;

    n = ngx_strlen(name);

    text = ngx_alloc(n + len + 1, ngx_cycle->log);
    if (text == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(text, name, n);

    if (len) {
        p = ngx_cpymem(p, value, len);
    }

    *p = '\0';

    list = curl_slist_append(r->headers, (char *) text);
    ngx_free(text);

    if (list == NULL) {
        return NGX_ERROR;
    }

    r->headers = list;

    return NGX_OK;
}


ngx_int_t
ngx_svc_outbound_request(ngx_svc_outbound_t *r)
{
    ngx_time_t  *tp;

    tp = ngx_timeofday();

    r->start = ngx_current_msec;
    r->result.began = (int64_t) tp->sec * 1000 + tp->msec;

    r->end.handler = ngx_svc_outbound_end;
    r->end.data = r;
    r->end.log = ngx_cycle->log;
    r->end.cancelable = 1;

    r->reader.event = &r->end;
    r->reader.limit = 2 * r->limit;
    r->reader.urgent = r->urgent;

    r->step.handler = ngx_svc_outbound_begin;
    r->step.data = r;
    r->step.log = ngx_cycle->log;

    r->curl = ngx_svc_curl_get();

    if (r->curl == NULL || ngx_svc_outbound_setup(r) != NGX_OK) {
        goto failed;
    }

    if (!r->connected) {
        ngx_svc_curl_post(&r->step, r->urgent);
        return NGX_OK;
    }

    r->reader.direct = 1;

    if (ngx_svc_curl_start(r->curl) != NGX_OK) {
        goto failed;
    }

    return NGX_OK;

failed:

    ngx_svc_outbound_close(r);

    return NGX_ERROR;
}


static void
ngx_svc_outbound_begin(ngx_event_t *ev)
{
    ngx_svc_outbound_t *r = ev->data;

    r->start = ngx_current_msec;

    if (ngx_svc_curl_start(r->curl) != NGX_OK) {
        r->lack = 1;
        ngx_svc_outbound_finish(r, CURLE_OUT_OF_MEMORY);
    }
}


static ngx_int_t
ngx_svc_outbound_setup(ngx_svc_outbound_t *r)
{
    long   rc;
    CURL  *curl;

    /* without a value: libcurl leaves Expect out */

    if (ngx_svc_outbound_header(r, "Expect:", NULL, 0) != NGX_OK) {
        return NGX_ERROR;
    }

    curl = r->curl;

    rc = (long) curl_easy_setopt(curl, CURLOPT_URL, r->url);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_USERAGENT, r->agent);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, r->headers);

    rc |= ngx_svc_outbound_method(r);
    rc |= ngx_svc_outbound_callbacks(r);
    rc |= ngx_svc_outbound_connects(r);

    if (rc != CURLE_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_curl_reader(curl, &r->reader);
}


/*
 * Sets the method and the body.  On a kept connection that broke before the
 * answer, libcurl repeats a request by itself.  It cannot if the body comes
 * from a callback and a part of it was sent.
 */

static long
ngx_svc_outbound_method(ngx_svc_outbound_t *r)
{
    long   rc;
    CURL  *curl;

    curl = r->curl;

    if (r->body.data == NULL) {
        rc = (long) curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);

    } else {
        rc = (long) curl_easy_setopt(curl, CURLOPT_POST, 1L);
        rc |= (long) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE,
                                      (long) r->body.len);

        if (r->once) {
            rc |= (long) curl_easy_setopt(curl, CURLOPT_READFUNCTION,
                                          ngx_svc_outbound_send);
            rc |= (long) curl_easy_setopt(curl, CURLOPT_READDATA, r);

        } else {
            rc |= (long) curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
                                          r->body.data);
        }
    }

    rc |= (long) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);

    return rc;
}


static long
ngx_svc_outbound_callbacks(ngx_svc_outbound_t *r)
{
    long   rc;
    CURL  *curl;

    curl = r->curl;

    rc = (long) curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION,
                                 ngx_svc_outbound_head);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_HEADERDATA, r);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION,
                                  ngx_svc_outbound_body);
    rc |= (long) curl_easy_setopt(curl, CURLOPT_WRITEDATA, r);

    return rc;
}


static size_t
ngx_svc_outbound_send(char *buf, size_t size, size_t n, void *data)
{
    ngx_svc_outbound_t *r = data;

    n = ngx_min(size * n, r->body.len - r->sent);

    ngx_memcpy(buf, r->body.data + r->sent, n);
    r->sent += n;

    return n;
}


/*
 * Counts the lines of all heads, those of 1xx, too.  After the final head a
 * short body is waited for, so that the connection can be kept.
 */

static size_t
ngx_svc_outbound_head(char *line, size_t size, size_t n, void *data)
{
    ngx_svc_outbound_t *r = data;

    long  status;

    n *= size;

    if (r->received + n > r->limit) {
        r->flood = 1;
        return 0;
    }

    r->received += n;

    if (n <= 2 && (line[0] == '\r' || line[0] == '\n')) {
        status = 0;
        curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);

        if (status >= 200 && !r->answered && r->head) {
            r->head(r);
        }

        r->answered = (status >= 200);

        if (r->answered && r->linger) {
            ngx_add_timer(&r->end, r->linger);
        }
    }

    return n;
}


static size_t
ngx_svc_outbound_body(char *text, size_t size, size_t n, void *data)
{
    ngx_svc_outbound_t *r = data;

    n *= size;
    r->received += n;

    if (r->received > r->limit) {
        r->flood = 1;
        return 0;
    }

    return r->sink == NULL || r->sink(r, (u_char *) text, n) == NGX_OK ? n : 0;
}


ngx_int_t
ngx_svc_outbound_answered(ngx_svc_outbound_t *r, const char *name,
    ngx_str_t *value)
{
    size_t               i;
    struct curl_header  *header;

    if (curl_easy_header(r->curl, name, 0, CURLH_HEADER, -1, &header)
        != CURLHE_OK)
    {
        return NGX_DECLINED;
    }

    value->data = (u_char *) header->value;
    value->len = ngx_strlen(value->data);

    for (i = 0; i < value->len; i++) {
        if (value->data[i] < 0x20 || value->data[i] > 0x7e) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


static void
ngx_svc_outbound_done(ngx_svc_curl_reader_t *reader, CURLcode code)
{
    ngx_svc_outbound_t  *r;

    r = (ngx_svc_outbound_t *)
            ((u_char *) reader - offsetof(ngx_svc_outbound_t, reader));

    if (ngx_svc_outbound_again(r, code) != NGX_OK) {
        ngx_svc_outbound_finish(r, code);
    }
}


/* Ends the wait: the body takes too long, or more has come than is read. */

static void
ngx_svc_outbound_end(ngx_event_t *ev)
{
    ngx_svc_outbound_t *r = ev->data;

    r->step.handler = ngx_svc_outbound_stop;
    ngx_svc_curl_post(&r->step, r->urgent);
}


static void
ngx_svc_outbound_stop(ngx_event_t *ev)
{
    ngx_svc_outbound_t *r = ev->data;

    r->result.lingered = 1;

    ngx_svc_outbound_finish(r, CURLE_RECV_ERROR);
}


/* Once its head has come an answer counts, however its body ends. */

static void
ngx_svc_outbound_finish(ngx_svc_outbound_t *r, CURLcode code)
{
    long  status;

    status = 0;

    if (r->answered) {
        curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    }

    r->result.status = status;
    r->result.duration = ngx_current_msec - r->start;
    r->retry_after = ngx_svc_outbound_retry_after(r->curl);
    r->complete = (status && code == CURLE_OK);
    r->late = (code == CURLE_OPERATION_TIMEDOUT);

    /* before libcurl 8.16 such a handle fails again in any later use */

    r->spoilt = (code == CURLE_SEND_FAIL_REWIND);

    if (status >= 200 && status < 300) {
        r->result.outcome = NGX_SVC_OUTBOUND_ACKNOWLEDGED;

    } else {
        ngx_svc_outbound_failed(r, code);
    }

    ngx_svc_outbound_close(r);

    r->handler(r);
}


/* Returns Retry-After in ms; libcurl reads both forms of RFC 9110, 10.2.3. */

static ngx_msec_t
ngx_svc_outbound_retry_after(CURL *curl)
{
    curl_off_t  seconds;

    seconds = 0;
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);

    if (seconds <= 0) {
        return 0;
    }

    return (ngx_msec_t) ngx_min(seconds, NGX_SVC_OUTBOUND_RETRY) * 1000;
}


/*
 * A receiver may close a kept connection while a request is on its way.
 * libcurl itself does not repeat a request after an error in sending.  On a
 * kept connection that was not for us nothing was sent.
 */

static ngx_int_t
ngx_svc_outbound_again(ngx_svc_outbound_t *r, CURLcode code)
{
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return ngx_svc_curl_again(r->curl);
    }

    if (r->received == 0 && !r->once
        && r->reader.excess == NGX_SVC_CURL_WITHIN
        && (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR
            || code == CURLE_GOT_NOTHING))
    {
        r->reader.connected = 0;

        return ngx_svc_curl_again(r->curl);
    }

    return NGX_DECLINED;
}


void
ngx_svc_outbound_close(ngx_svc_outbound_t *r)
{
    if (r->curl) {
        ngx_svc_curl_put(r->curl, r->spoilt);
        r->curl = NULL;
    }

    ngx_svc_curl_wire_release(&r->reader);

    if (r->step.posted) {
        ngx_delete_posted_event(&r->step);
    }

    if (r->end.timer_set) {
        ngx_del_timer(&r->end);
    }

    if (r->end.posted) {
        ngx_delete_posted_event(&r->end);
    }

    curl_slist_free_all(r->headers);
    r->headers = NULL;
}
