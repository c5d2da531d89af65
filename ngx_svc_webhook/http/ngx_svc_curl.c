/*
 * libcurl's multi interface on nginx's events.
 */

#include "ngx_svc_curl.h"
#include "ngx_svc_curl_options.h"
#include "ngx_svc_socket.h"


#define NGX_SVC_CURL_HANDLES   64           /* handles kept for later
                                               requests */


typedef struct {
    CURLM            *multi;
    ngx_log_t        *log;
    ngx_svc_curl_pt   done;
    ngx_event_t       timer;                /* asked for by libcurl */
    ngx_event_t       idle;                 /* closes idle connections */
    ngx_queue_t       urgent;               /* events that come before those
                                               of steps */
    ngx_queue_t       steps;                /* events; one runs in an
                                               iteration */
    ngx_event_t       step;                 /* posted while one of them has
                                               events */
    ngx_uint_t        ninit;                /* callers of init */
    ngx_uint_t        nused;                /* handles in use */
    ngx_uint_t        nhandles;
    CURL             *handles[NGX_SVC_CURL_HANDLES];
} ngx_svc_curl_t;


static ngx_int_t ngx_svc_curl_open(void);
static int ngx_svc_curl_socket(CURL *curl, curl_socket_t fd, int what,
    void *data, void *socket);
static ngx_svc_curl_reader_t *ngx_svc_curl_reader_of(CURL *curl);
static void ngx_svc_curl_disown(ngx_svc_curl_reader_t *reader);
static void ngx_svc_curl_owner(ngx_connection_t *c,
    ngx_svc_curl_reader_t *reader);
static void ngx_svc_curl_watch(ngx_event_t *ev, ngx_int_t event,
    ngx_uint_t wanted);
static int ngx_svc_curl_timeout(CURLM *multi, long ms, void *data);
static void ngx_svc_curl_event(ngx_event_t *ev);
static void ngx_svc_curl_ready(ngx_event_t *ev);
static void ngx_svc_curl_step(ngx_event_t *ev);
static void ngx_svc_curl_timer(ngx_event_t *ev);
static void ngx_svc_curl_act(curl_socket_t fd, int what);
static void ngx_svc_curl_idle(ngx_event_t *ev);


static ngx_svc_curl_t  ngx_svc_curl;


ngx_int_t
ngx_svc_curl_init(ngx_cycle_t *cycle, ngx_svc_curl_pt done)
{
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    if (wc->ninit++) {
        return NGX_OK;
    }

    wc->log = cycle->log;
    wc->done = done;

    wc->timer.handler = ngx_svc_curl_timer;
    wc->timer.data = wc;
    wc->timer.log = cycle->log;
    wc->timer.cancelable = 1;

    wc->idle.handler = ngx_svc_curl_idle;
    wc->idle.data = wc;
    wc->idle.log = cycle->log;
    wc->idle.cancelable = 1;

    ngx_queue_init(&wc->urgent);
    ngx_queue_init(&wc->steps);

    wc->step.handler = ngx_svc_curl_step;
    wc->step.data = wc;
    wc->step.log = cycle->log;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "curl_global_init() failed");
        return NGX_ERROR;
    }

    if (ngx_svc_curl_wire_init() != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_svc_curl_open();
}


void
ngx_svc_curl_exit(void)
{
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    if (wc->ninit == 0 || --wc->ninit) {
        return;
    }

    while (wc->nhandles) {
        curl_easy_cleanup(wc->handles[--wc->nhandles]);
    }

    if (wc->multi) {
        curl_multi_cleanup(wc->multi);
        wc->multi = NULL;
        curl_global_cleanup();
    }

    if (wc->timer.timer_set) {
        ngx_del_timer(&wc->timer);
    }

    if (wc->idle.timer_set) {
        ngx_del_timer(&wc->idle);
    }

    if (wc->step.posted) {
        ngx_delete_posted_event(&wc->step);
    }
}


static ngx_int_t
ngx_svc_curl_open(void)
{
    CURLM  *multi;

    multi = curl_multi_init();
    if (multi == NULL) {
        ngx_log_error(NGX_LOG_EMERG, ngx_svc_curl.log, 0,
                      "curl_multi_init() failed");
        return NGX_ERROR;
    }

    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, ngx_svc_curl_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, ngx_svc_curl_timeout);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
                      (long) ngx_svc_webhook_conf()->concurrency);

    ngx_svc_curl.multi = multi;

    return NGX_OK;
}


CURL *
ngx_svc_curl_get(void)
{
    CURL            *curl;
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    curl = wc->nhandles ? wc->handles[--wc->nhandles] : curl_easy_init();

    if (curl == NULL) {
        return NULL;
    }

    if (ngx_svc_curl_options(curl) != NGX_OK) {
        curl_easy_cleanup(curl);
        return NULL;
    }

    wc->nused++;

    return curl;
}


void
ngx_svc_curl_put(CURL *curl, ngx_uint_t spoilt)
{
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    wc->nused--;

    (void) curl_multi_remove_handle(wc->multi, curl);

    ngx_svc_curl_disown(ngx_svc_curl_reader_of(curl));

    if (spoilt || wc->nhandles == NGX_SVC_CURL_HANDLES) {
        curl_easy_cleanup(curl);
        return;
    }

    curl_easy_reset(curl);
    wc->handles[wc->nhandles++] = curl;
}


/* Returns a handle's reader.  NULL: none, as of libcurl's own handles. */

static ngx_svc_curl_reader_t *
ngx_svc_curl_reader_of(CURL *curl)
{
    char  *reader;

    reader = NULL;
    curl_easy_getinfo(curl, CURLINFO_PRIVATE, &reader);

    return (ngx_svc_curl_reader_t *) reader;
}


/*
 * Takes the reader off its sockets.  When libcurl 8 closes a connection, it
 * goes on watching the socket until the receiver has closed it, too.
 */

static void
ngx_svc_curl_disown(ngx_svc_curl_reader_t *reader)
{
    ngx_queue_t  *q;

    if (reader == NULL) {
        return;
    }

    while (!ngx_queue_empty(&reader->sockets)) {
        q = ngx_queue_head(&reader->sockets);

        ngx_svc_curl_owner(ngx_queue_data(q, ngx_connection_t, queue), NULL);
    }
}


ngx_int_t
ngx_svc_curl_start(CURL *curl)
{
    CURLMcode        rc;
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    rc = curl_multi_add_handle(wc->multi, curl);

    if (rc != CURLM_OK) {
        ngx_log_error(NGX_LOG_ALERT, wc->log, 0,
                      "curl_multi_add_handle() failed: %s",
                      curl_multi_strerror(rc));
        return NGX_ERROR;
    }

    ngx_add_timer(&wc->idle, NGX_SVC_CURL_IDLE * 1000);

    return NGX_OK;
}


void
ngx_svc_curl_post(ngx_event_t *ev, ngx_uint_t urgent)
{
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    ngx_post_event(ev, urgent ? &wc->urgent : &wc->steps);
    ngx_post_event(&wc->step, &ngx_posted_next_events);
}


static void
ngx_svc_curl_step(ngx_event_t *ev)
{
    ngx_queue_t     *q, *steps;
    ngx_event_t     *event;
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    steps = ngx_queue_empty(&wc->urgent) ? &wc->steps : &wc->urgent;

    if (ngx_queue_empty(steps)) {
        return;
    }

    ngx_post_event(ev, &ngx_posted_next_events);

    q = ngx_queue_head(steps);
    event = ngx_queue_data(q, ngx_event_t, queue);

    ngx_delete_posted_event(event);

    if (event->handler == ngx_svc_curl_event) {
        (void) ngx_add_event(event, event->write ? NGX_WRITE_EVENT
                                                 : NGX_READ_EVENT, 0);
        ngx_svc_curl_ready(event);

    } else {
        event->handler(event);
    }
}


ngx_int_t
ngx_svc_curl_again(CURL *curl)
{
    long  connects;

    connects = 1;
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connects);

    if (connects
        || curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L) != CURLE_OK)
    {
        return NGX_DECLINED;
    }

    (void) curl_multi_remove_handle(ngx_svc_curl.multi, curl);

    return ngx_svc_curl_start(curl);
}


/*
 * When nginx has no free connection, the transfer gets no events and times
 * out: an error would end all other transfers, too.  A socket that was still
 * connecting when its time was up is closed by libcurl 7.88 before it says so.
 */

static int
ngx_svc_curl_socket(CURL *curl, curl_socket_t fd, int what, void *data,
    void *socket)
{
    ngx_uint_t         closed;
    ngx_connection_t  *c;
    ngx_svc_curl_t    *wc;

    wc = &ngx_svc_curl;
    c = socket;

    if (what == CURL_POLL_REMOVE) {

        if (c) {
            curl_multi_assign(wc->multi, fd, NULL);
            ngx_svc_curl_owner(c, NULL);
            closed = (fcntl(fd, F_GETFD) == -1);
            ngx_svc_socket_return(c, closed);
        }

        return 0;
    }

    if (c == NULL) {
        c = ngx_svc_socket_borrow(fd, NULL, ngx_svc_curl_event, wc->log);
        if (c == NULL) {
            return 0;
        }

        curl_multi_assign(wc->multi, fd, c);
    }

    ngx_svc_curl_owner(c, ngx_svc_curl_reader_of(curl));

    ngx_svc_curl_watch(c->read, NGX_READ_EVENT, what & CURL_POLL_IN);
    ngx_svc_curl_watch(c->write, NGX_WRITE_EVENT, what & CURL_POLL_OUT);

    return 0;
}


/* Sets the reader of a connection; NULL: nobody's. */

static void
ngx_svc_curl_owner(ngx_connection_t *c, ngx_svc_curl_reader_t *reader)
{
    if (c->data) {
        ngx_queue_remove(&c->queue);
    }

    c->data = reader;

    if (reader) {
        ngx_queue_insert_tail(&reader->sockets, &c->queue);
    }
}


/* A posted event is wanted already; it is added to epoll when it runs. */

static void
ngx_svc_curl_watch(ngx_event_t *ev, ngx_int_t event, ngx_uint_t wanted)
{
    if (wanted) {
        if (!ev->active && !ev->posted) {
            (void) ngx_add_event(ev, event, 0);
        }

        return;
    }

    if (ev->active) {
        (void) ngx_del_event(ev, event, 0);
    }

    if (ev->posted) {
        ngx_delete_posted_event(ev);
    }
}


/* libcurl must not be called from here; the old timer must not stay, either. */

static int
ngx_svc_curl_timeout(CURLM *multi, long ms, void *data)
{
    ngx_event_t  *timer;

    timer = &ngx_svc_curl.timer;

    if (timer->timer_set) {
        ngx_del_timer(timer);
    }

    if (ms >= 0) {
        ngx_add_timer(timer, (ngx_msec_t) ms);
    }

    return 0;
}


static void
ngx_svc_curl_event(ngx_event_t *ev)
{
    ngx_connection_t       *c;
    ngx_svc_curl_reader_t  *reader;

    c = ev->data;
    reader = c->data;

    if (reader && !reader->connected && !reader->direct) {

        /* or it would be reported in each iteration until it runs */

        (void) ngx_del_event(ev, ev->write ? NGX_WRITE_EVENT : NGX_READ_EVENT,
                             0);
        ngx_svc_curl_post(ev, reader->urgent);
        return;
    }

    ngx_svc_curl_ready(ev);
}


static void
ngx_svc_curl_ready(ngx_event_t *ev)
{
    ngx_connection_t  *c;

    c = ev->data;

    ngx_svc_curl_act(c->fd, ev->write ? CURL_CSELECT_OUT : CURL_CSELECT_IN);
}


static void
ngx_svc_curl_timer(ngx_event_t *ev)
{
    ngx_svc_curl_act(CURL_SOCKET_TIMEOUT, 0);
}


static void
ngx_svc_curl_act(curl_socket_t fd, int what)
{
    int                     n;
    CURLMsg                *msg;
    CURLcode                code;
    CURLMcode               rc;
    ngx_svc_curl_t         *wc;
    ngx_svc_curl_reader_t  *reader;

    wc = &ngx_svc_curl;

    ngx_svc_curl_wire_iteration();

    rc = curl_multi_socket_action(wc->multi, fd, what, &n);

    if (rc != CURLM_OK) {
        ngx_log_error(NGX_LOG_ALERT, wc->log, 0,
                      "curl_multi_socket_action() failed: %s",
                      curl_multi_strerror(rc));
    }

    while ((msg = curl_multi_info_read(wc->multi, &n)) != NULL) {

        if (msg->msg != CURLMSG_DONE) {
            continue;
        }

        /* msg is freed with the handle */

        code = msg->data.result;
        reader = ngx_svc_curl_reader_of(msg->easy_handle);

        wc->done(reader, code);
    }
}


/*
 * libcurl closes idle connections only when it needs one, so those left over
 * are closed here.
 */

static void
ngx_svc_curl_idle(ngx_event_t *ev)
{
    CURLM           *multi;
    ngx_svc_curl_t  *wc;

    wc = &ngx_svc_curl;

    if (wc->nused) {
        ngx_add_timer(ev, NGX_SVC_CURL_IDLE * 1000);
        return;
    }

    multi = wc->multi;

    if (ngx_svc_curl_open() == NGX_OK) {
        curl_multi_cleanup(multi);
    }
}
