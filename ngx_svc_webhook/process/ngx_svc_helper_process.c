/*
 * The helper process itself: what the fork of a worker must get rid of, and
 * its event loop.
 */

#include "ngx_svc_helper_process.h"
#include "ngx_svc_helper_fds.h"
#include "ngx_svc_helper_lanes.h"
#include "ngx_svc_mail_send.h"
#include "ngx_svc_redis_storage.h"
#include "ngx_svc_webhook_outbox.h"

#include "ngx_svc_metrics.h"
#include "ngx_svc_pg_watch.h"
#include "ngx_svc_redis_fence.h"
#include "ngx_svc_redis_script.h"

#include <ngx_channel.h>
#include <ngx_event.h>
#include <sys/resource.h>


#define NGX_SVC_HELPER_NICE  5
#define NGX_SVC_HELPER_LOOK  1000       /* ms between looks at the log files */

#define NGX_SVC_HELPER_RESOLVER  "timeout:1 attempts:2"


typedef struct {
    ngx_cycle_t         *cycle;
    ngx_connection_t    *worker;
    ngx_svc_pg_conf_t    pg;
    ngx_event_t          look;

    /* the worker's, never used; its requests' memory is reached from them */

    ngx_connection_t    *connections;
    ngx_event_t         *read_events;
    ngx_event_t         *write_events;
} ngx_svc_helper_process_t;


static ngx_int_t ngx_svc_helper_process_init(ngx_cycle_t *cycle,
    ngx_socket_t fd);
static void ngx_svc_helper_process_cpus(void);
static void ngx_svc_helper_process_forget(ngx_cycle_t *cycle);
static ngx_int_t ngx_svc_helper_process_events(ngx_cycle_t *cycle);
static ngx_int_t ngx_svc_helper_process_worker(ngx_cycle_t *cycle,
    ngx_socket_t fd);
static ngx_int_t ngx_svc_helper_process_connect(ngx_cycle_t *cycle);
static void ngx_svc_helper_process_up(void);
static void ngx_svc_helper_process_limits(ngx_cycle_t *cycle);
static void ngx_svc_helper_process_command(ngx_event_t *ev);
static void ngx_svc_helper_process_look(ngx_event_t *ev);
static void ngx_svc_helper_process_exit(ngx_cycle_t *cycle);


static ngx_svc_helper_process_t  ngx_svc_helper_process_ctx;


void
ngx_svc_helper_process(ngx_cycle_t *cycle, ngx_socket_t fd, const u_char *id,
    const ngx_str_t *before)
{
    if (ngx_svc_helper_process_init(cycle, fd) != NGX_OK
        || ngx_svc_helper_lanes_init(cycle, fd, id, before) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, 0,
                      "webhook helper process cannot start");
        exit(1);
    }

    ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                  "webhook helper process started");

    for ( ;; ) {
        ngx_process_events_and_timers(cycle);

        if (ngx_terminate) {
            ngx_terminate = 0;
            ngx_svc_helper_lanes_leave();

        } else if (ngx_quit) {
            ngx_quit = 0;
            ngx_svc_helper_lanes_drain();
        }

        if (ngx_reopen) {
            ngx_reopen = 0;
            ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0, "reopening logs");
            ngx_svc_helper_fds_reopen(cycle);
        }

        /* events that the signals have posted do not wait for others */

        ngx_event_process_posted(cycle, &ngx_posted_events);

        if (ngx_svc_helper_lanes_ended()) {
            ngx_svc_helper_process_exit(cycle);
        }
    }
}


static ngx_int_t
ngx_svc_helper_process_init(ngx_cycle_t *cycle, ngx_socket_t fd)
{
    ngx_time_t                *tp;
    ngx_svc_helper_process_t  *process;

    process = &ngx_svc_helper_process_ctx;
    process->cycle = cycle;

    ngx_svc_helper_process_cpus();

    ngx_parent = ngx_pid;
    ngx_pid = ngx_getpid();
    ngx_process = NGX_PROCESS_HELPER;

    ngx_setproctitle("webhook helper process");

    /* requests come first; but the worker may have a higher priority */

    (void) setpriority(PRIO_PROCESS, 0, NGX_SVC_HELPER_NICE);

    tp = ngx_timeofday();
    srandom(((unsigned) ngx_pid << 16) ^ tp->sec ^ tp->msec);

    /*
     * A name without an answer occupies a thread for longer than an attempt
     * lasts, and so does a name server that is down, before the next one is
     * asked.  With five seconds for each, no name would be resolved in time.
     */

    (void) setenv("RES_OPTIONS", NGX_SVC_HELPER_RESOLVER, 0);

    ngx_svc_metrics_join(NGX_SVC_PROCESS_HELPER, cycle->log);

    ngx_svc_helper_process_forget(cycle);
    ngx_svc_helper_fds_close(cycle, fd);

    if (ngx_svc_helper_process_events(cycle) != NGX_OK
        || ngx_svc_helper_process_worker(cycle, fd) != NGX_OK
        || ngx_svc_helper_process_connect(cycle) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_helper_process_limits(cycle);

    process->look.handler = ngx_svc_helper_process_look;
    process->look.data = process;
    process->look.log = cycle->log;
    ngx_add_timer(&process->look, NGX_SVC_HELPER_LOOK);

    return NGX_OK;
}


/*
 * The helper does not share the worker's processor: it takes the master's set.
 */

static void
ngx_svc_helper_process_cpus(void)
{
#if (NGX_HAVE_SCHED_SETAFFINITY)

    cpu_set_t  set;

    if (ngx_process == NGX_PROCESS_WORKER
        && sched_getaffinity(ngx_parent, sizeof(cpu_set_t), &set) == 0)
    {
        (void) sched_setaffinity(0, sizeof(cpu_set_t), &set);
    }

#endif
}


/*
 * Forgets the worker's connections without closing them: libpq and TLS would
 * tell the other end, and epoll is still the worker's.
 */

static void
ngx_svc_helper_process_forget(ngx_cycle_t *cycle)
{
    ngx_uint_t                 level;
    ngx_svc_helper_process_t  *process;

    process = &ngx_svc_helper_process_ctx;

    process->connections = cycle->connections;
    process->read_events = cycle->read_events;
    process->write_events = cycle->write_events;

    ngx_svc_pg_forked();
    ngx_svc_redis_forked();
    ngx_svc_redis_script_forked();

    ngx_queue_init(&cycle->reusable_connections_queue);
    cycle->reusable_connections_n = 0;
    cycle->listening.nelts = 0;

    /*
     * io_destroy() fails here: a context for asynchronous I/O is not inherited
     */

    level = cycle->log->log_level;
    cycle->log->log_level = NGX_LOG_STDERR;

    ngx_done_events(cycle);

    cycle->log->log_level = level;
}


static ngx_int_t
ngx_svc_helper_process_events(ngx_cycle_t *cycle)
{
    if (ngx_event_core_module.init_process(cycle) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_use_accept_mutex = 0;
    ngx_accept_disabled = 0;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_helper_process_worker(ngx_cycle_t *cycle, ngx_socket_t fd)
{
    ngx_connection_t  *c;

    c = ngx_get_connection(fd, cycle->log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->read->handler = ngx_svc_helper_process_command;
    c->read->log = cycle->log;
    c->write->log = cycle->log;

    ngx_svc_helper_process_ctx.worker = c;

    return ngx_add_event(c->read, NGX_READ_EVENT, 0);
}


static ngx_int_t
ngx_svc_helper_process_connect(ngx_cycle_t *cycle)
{
    ngx_svc_pg_conf_t    *pg;
    ngx_svc_main_conf_t  *smcf;

    static const ngx_svc_pg_pool_conf_t  pools[NGX_SVC_PG_NPOOLS] = {
        { 1, 16 }, { 1, 2 }, { 0, 0 }
    };

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_svc_common_module);

    pg = &ngx_svc_helper_process_ctx.pg;

    *pg = smcf->pg;
    ngx_memcpy(pg->pools, pools, sizeof(pools));

    /* statements over many users of a target must not hold up others */

    if (ngx_svc_webhook_conf()->push.on) {
        pg->pools[NGX_SVC_PG_READ].connections++;
        pg->pools[NGX_SVC_PG_WRITE].connections++;
    }

    if (ngx_svc_pg_init_worker(cycle, pg) != NGX_OK
        || ngx_svc_pg_watch_init(cycle, pg) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_redis_on_up(ngx_svc_helper_process_up);

    if (ngx_svc_redis_init_worker(cycle, &smcf->redis) != NGX_OK) {
        return NGX_ERROR;
    }

    if (pg->fence) {
        ngx_svc_redis_fence_init(cycle);
    }

    return NGX_OK;
}


/* What Redis did not take while it was down is due by now. */

static void
ngx_svc_helper_process_up(void)
{
    ngx_svc_redis_check_storage();
    ngx_svc_webhook_outbox_wake();
}


/*
 * Limits fetches and attempts; the fork has its own copy of the configuration.
 */

static void
ngx_svc_helper_process_limits(ngx_cycle_t *cycle)
{
    ngx_uint_t               n;
    struct rlimit            limit;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();
    n = cycle->connection_n;

    n = (n > 2 * NGX_SVC_HELPER_RESERVE) ? n - NGX_SVC_HELPER_RESERVE
                                         : ngx_max(n / 2, 1);

    /* each has two files open while its name is resolved */

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < n) {
        n = ngx_max((ngx_uint_t) limit.rlim_cur / 2, 1);
    }

    if (wcf->fetch) {
        wcf->fetches = ngx_min(NGX_SVC_HELPER_FETCHES, ngx_max(n / 4, 1));
        n -= ngx_min(wcf->fetches, n - 1);
    }

    wcf->concurrency = ngx_min(wcf->concurrency, n);
}


/*
 * Reads from the worker.  The end: the worker is gone, or quits.  A byte: the
 * helper must exit at once.
 */

static void
ngx_svc_helper_process_command(ngx_event_t *ev)
{
    u_char             byte;
    ssize_t            n;
    ngx_connection_t  *c;

    c = ev->data;

    n = recv(c->fd, &byte, 1, 0);

    if (n == -1 && (ngx_socket_errno == NGX_EAGAIN
                    || ngx_socket_errno == NGX_EINTR))
    {
        return;
    }

    if (n > 0) {
        ngx_terminate = 1;
        return;
    }

    /* our end stays open: the worker waits until it is closed */

    (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);

    ngx_quit = 1;
}


/*
 * Tells the worker that the helper lives, and looks at the log files: the
 * master tells only its workers when they are to be reopened.
 */

static void
ngx_svc_helper_process_look(ngx_event_t *ev)
{
    ngx_svc_helper_fds_look(ngx_svc_helper_process_ctx.cycle);

    (void) send(ngx_svc_helper_process_ctx.worker->fd, "B", 1, MSG_NOSIGNAL);

    ngx_add_timer(ev, NGX_SVC_HELPER_LOOK);
}


/*
 * The cycle's pool is not destroyed: its cleanups would write what the worker
 * has in its buffers.
 */

static void
ngx_svc_helper_process_exit(ngx_cycle_t *cycle)
{
    ngx_uint_t  idle;

    idle = ngx_svc_mail_send_exit();

    ngx_svc_redis_fence_exit();
    ngx_svc_redis_exit_worker();
    ngx_svc_helper_lanes_exit();
    ngx_svc_pg_watch_exit();
    ngx_svc_pg_exit_worker();
    ngx_svc_metrics_leave();

    ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                  "webhook helper process ends");

    if (!idle) {

        /* a thread still uses what the exit handlers would free */

        _exit(0);
    }

    exit(0);
}
