/*
 * In worker 0: starts the helper, starts it again whenever it has ended, and
 * makes sure that it does not outlive the worker.
 */

#include "ngx_svc_helper.h"
#include "ngx_svc_helper_process.h"

#include "ngx_svc_metrics.h"

#include <ngx_event.h>


#define NGX_SVC_HELPER_PAUSE_MIN  100       /* ms before another helper
                                               starts */
#define NGX_SVC_HELPER_PAUSE_MAX  10000
#define NGX_SVC_HELPER_STABLE     60000     /* ms of life after which an end is
                                               no failure */
#define NGX_SVC_HELPER_GRACE      2000      /* ms to end in, after a timeout */
#define NGX_SVC_HELPER_SILENCE    15000     /* ms of silence: the helper
                                               hangs */
#define NGX_SVC_HELPER_STOP       1000      /* ms to end in at once */


typedef struct {
    ngx_connection_t   *connection;     /* NULL: there is no helper */
    ngx_pid_t           pid;
    ngx_msec_t          since;
    ngx_msec_t          pause;
    ngx_event_t         spawn;
    ngx_event_t         silent;         /* the helper was silent for too long */
    ngx_event_t         kill;           /* also keeps a worker that quits */
    ngx_str_t           before;         /* the last helper's id, or empty */
    u_char              last[NGX_SVC_ID_DIGITS];
    u_char              id[NGX_SVC_ID_DIGITS];
} ngx_svc_helper_t;


static void ngx_svc_helper_spawn(ngx_event_t *ev);
static ngx_int_t ngx_svc_helper_fork(void);
static ngx_int_t ngx_svc_helper_watch(ngx_connection_t *c);
static ngx_int_t ngx_svc_helper_pair(ngx_socket_t *fds);
static void ngx_svc_helper_close(ngx_socket_t fd);
static void ngx_svc_helper_read(ngx_event_t *ev);
static void ngx_svc_helper_closing(ngx_connection_t *c);
static void ngx_svc_helper_ended(void);
static void ngx_svc_helper_silent(ngx_event_t *ev);
static void ngx_svc_helper_kill(ngx_event_t *ev);
static ngx_uint_t ngx_svc_helper_gone(int options);


static ngx_svc_helper_t  ngx_svc_helper;


void
ngx_svc_helper_init(ngx_cycle_t *cycle)
{
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    helper->pause = NGX_SVC_HELPER_PAUSE_MIN;

    helper->spawn.handler = ngx_svc_helper_spawn;
    helper->spawn.data = helper;
    helper->spawn.log = cycle->log;
    helper->spawn.cancelable = 1;

    helper->silent.handler = ngx_svc_helper_silent;
    helper->silent.data = helper;
    helper->silent.log = cycle->log;
    helper->silent.cancelable = 1;

    helper->kill.handler = ngx_svc_helper_kill;
    helper->kill.data = helper;
    helper->kill.log = cycle->log;

    /* later than the start of the pools' threads, which hold locks then */

    ngx_add_timer(&helper->spawn, NGX_SVC_HELPER_PAUSE_MIN);
}


static void
ngx_svc_helper_spawn(ngx_event_t *ev)
{
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    if (ngx_exiting || ngx_quit || ngx_terminate) {
        return;
    }

    if (ngx_svc_helper_fork() != NGX_OK) {
        ngx_add_timer(ev, NGX_SVC_HELPER_PAUSE_MAX);
        return;
    }

    helper->since = ngx_current_msec;
    ngx_add_timer(&helper->silent, NGX_SVC_HELPER_SILENCE);
    ngx_svc_metric_add(NGX_SVC_M_HELPER_STARTS, 1);
}


static ngx_int_t
ngx_svc_helper_fork(void)
{
    ngx_socket_t       fds[2];
    ngx_connection_t  *c;
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    /* known before the fork, for the next helper to take over by it */

    if (ngx_svc_random_id(helper->id) != NGX_OK
        || ngx_svc_helper_pair(fds) != NGX_OK)
    {
        return NGX_ERROR;
    }

    c = ngx_get_connection(fds[0], ngx_cycle->log);
    if (c == NULL) {
        goto failed;
    }

    helper->pid = fork();

    switch (helper->pid) {

    case -1:
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_errno,
                      "fork() of the webhook helper process failed");
        break;

    case 0:
        ngx_svc_helper_process((ngx_cycle_t *) ngx_cycle, fds[1], helper->id,
                               &helper->before);
        break;

    default:
        ngx_svc_helper_close(fds[1]);
        return ngx_svc_helper_watch(c);
    }

    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;

failed:

    ngx_svc_helper_close(fds[0]);
    ngx_svc_helper_close(fds[1]);

    return NGX_ERROR;
}


static ngx_int_t
ngx_svc_helper_watch(ngx_connection_t *c)
{
    c->read->handler = ngx_svc_helper_read;
    c->read->log = ngx_cycle->log;
    c->write->log = ngx_cycle->log;

    /* a worker that quits closes idle connections: that calls the handler */

    c->idle = 1;

    ngx_svc_helper.connection = c;

    if (ngx_add_event(c->read, NGX_READ_EVENT, 0) != NGX_OK) {
        ngx_svc_helper_exit();
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_helper_pair(ngx_socket_t *fds)
{
    ngx_uint_t  i;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == -1) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_socket_errno,
                      "socketpair() of the webhook helper process failed");
        return NGX_ERROR;
    }

    for (i = 0; i < 2; i++) {
        if (ngx_nonblocking(fds[i]) == -1
            || fcntl(fds[i], F_SETFD, FD_CLOEXEC) == -1)
        {
            ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_socket_errno,
                          "fcntl() of the webhook helper's socket failed");

            ngx_svc_helper_close(fds[0]);
            ngx_svc_helper_close(fds[1]);

            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static void
ngx_svc_helper_close(ngx_socket_t fd)
{
    if (ngx_close_socket(fd) == -1) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_socket_errno,
                      ngx_close_socket_n " failed");
    }
}


static void
ngx_svc_helper_read(ngx_event_t *ev)
{
    u_char             buf[NGX_SVC_ID_DIGITS];
    ssize_t            n;
    ngx_connection_t  *c;
    ngx_svc_helper_t  *helper;

    c = ev->data;
    helper = &ngx_svc_helper;

    if (c->close) {
        ngx_svc_helper_closing(c);
        return;
    }

    n = recv(c->fd, buf, sizeof(buf), 0);

    if (n > 0) {

        if (n == NGX_SVC_ID_DIGITS) {
            ngx_memcpy(helper->id, buf, NGX_SVC_ID_DIGITS);
        }

        ngx_add_timer(&helper->silent, NGX_SVC_HELPER_SILENCE);
        return;
    }

    if (n == -1 && (ngx_socket_errno == NGX_EAGAIN
                    || ngx_socket_errno == NGX_EINTR))
    {
        return;
    }

    ngx_svc_helper_ended();
}


/* The worker quits; on an error worker_shutdown_timeout has passed. */

static void
ngx_svc_helper_closing(ngx_connection_t *c)
{
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    c->close = 0;
    c->idle = 0;

    if (c->error) {
        c->error = 0;
        ngx_svc_helper_kill(&helper->kill);
        return;
    }

    if (shutdown(c->fd, SHUT_WR) == -1) {
        ngx_log_error(NGX_LOG_ALERT, c->log, ngx_socket_errno,
                      "shutdown() of the webhook helper's socket failed");
    }

    ngx_add_timer(&helper->kill, ngx_svc_webhook_conf()->shutdown_timeout
                                 + NGX_SVC_HELPER_GRACE);
}


static void
ngx_svc_helper_ended(void)
{
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    ngx_close_connection(helper->connection);
    helper->connection = NULL;

    if (helper->silent.timer_set) {
        ngx_del_timer(&helper->silent);
    }

    if (ngx_exiting) {

        /* after its sockets were closed the helper exits in no time */

        (void) ngx_svc_helper_gone(0);

        if (helper->kill.timer_set) {
            ngx_del_timer(&helper->kill);
        }

        return;
    }

    ngx_memcpy(helper->last, helper->id, NGX_SVC_ID_DIGITS);
    helper->before.data = helper->last;
    helper->before.len = NGX_SVC_ID_DIGITS;

    if (ngx_current_msec - helper->since >= NGX_SVC_HELPER_STABLE) {
        helper->pause = NGX_SVC_HELPER_PAUSE_MIN;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "webhook helper process %P has ended, another one starts in "
                  "%M ms", helper->pid, helper->pause);

    ngx_add_timer(&helper->spawn, helper->pause);

    helper->pause = ngx_min(2 * helper->pause, NGX_SVC_HELPER_PAUSE_MAX);
}


/* The helper hangs.  Other helpers have taken over by now, if there are any. */

static void
ngx_svc_helper_silent(ngx_event_t *ev)
{
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    /* a worker that was itself stopped may have unread messages */

    ngx_svc_helper_read(helper->connection->read);

    if (helper->connection == NULL || ev->timer_set
        || ngx_svc_helper_gone(WNOHANG))
    {
        return;
    }

    ngx_log_error(NGX_LOG_ALERT, ev->log, 0,
                  "webhook helper process %P has hung for %d s, it is killed",
                  helper->pid, NGX_SVC_HELPER_SILENCE / 1000);

    (void) kill(helper->pid, SIGKILL);
}


static void
ngx_svc_helper_kill(ngx_event_t *ev)
{
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    if (helper->connection == NULL || ngx_svc_helper_gone(WNOHANG)) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ev->log, 0,
                  "webhook helper process %P does not end, it is killed",
                  helper->pid);

    (void) kill(helper->pid, SIGKILL);
}


void
ngx_svc_helper_exit(void)
{
    ngx_uint_t         i;
    ngx_svc_helper_t  *helper;

    helper = &ngx_svc_helper;

    if (helper->connection == NULL) {
        return;
    }

    (void) send(helper->connection->fd, "T", 1, MSG_NOSIGNAL);

    ngx_close_connection(helper->connection);

    for (i = 0; i < NGX_SVC_HELPER_STOP / 10; i++) {
        if (ngx_svc_helper_gone(WNOHANG)) {
            helper->connection = NULL;
            return;
        }

        ngx_msleep(10);
    }

    ngx_svc_helper_kill(&helper->kill);
    (void) ngx_svc_helper_gone(0);

    helper->connection = NULL;
}


/*
 * Reaps the child, so that it does not stay as a zombie; returns 1 if it has
 * ended.
 */

static ngx_uint_t
ngx_svc_helper_gone(int options)
{
    int        status;
    ngx_pid_t  pid;

    do {
        pid = waitpid(ngx_svc_helper.pid, &status, options);
    } while (pid == -1 && ngx_errno == NGX_EINTR);

    return pid != 0;
}
