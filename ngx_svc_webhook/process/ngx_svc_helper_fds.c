/*
 * The inherited files that the helper keeps open: its logs.
 */

#include "ngx_svc_helper_fds.h"

#include <sys/resource.h>


#define NGX_SVC_HELPER_FDS  64          /* files that stay open, at most */


static ngx_uint_t ngx_svc_helper_fds_logs(ngx_cycle_t *cycle, int *fds,
    ngx_uint_t n);
static int ngx_libc_cdecl ngx_svc_helper_fds_cmp(const void *one,
    const void *two);
static void ngx_svc_helper_fds_close_range(int first, int last);
static void ngx_svc_helper_fds_reopen_file(ngx_cycle_t *cycle,
    ngx_open_file_t *file);


void
ngx_svc_helper_fds_close(ngx_cycle_t *cycle, ngx_socket_t fd)
{
    int         next, fds[NGX_SVC_HELPER_FDS];
    ngx_uint_t  i, n;

    fds[0] = fd;
    n = ngx_svc_helper_fds_logs(cycle, fds, 1);

    ngx_qsort(fds, n, sizeof(int), ngx_svc_helper_fds_cmp);

    next = STDERR_FILENO + 1;

    for (i = 0; i < n; i++) {
        if (fds[i] > next) {
            ngx_svc_helper_fds_close_range(next, fds[i] - 1);
        }

        next = ngx_max(next, fds[i] + 1);
    }

    ngx_svc_helper_fds_close_range(next, NGX_MAX_INT32_VALUE);
}


/* Collects the logs' files and sockets to syslog. */

static ngx_uint_t
ngx_svc_helper_fds_logs(ngx_cycle_t *cycle, int *fds, ngx_uint_t n)
{
    ngx_log_t          *log;
    ngx_syslog_peer_t  *peer;

    for (log = cycle->log; log; log = log->next) {

        if (n == NGX_SVC_HELPER_FDS) {
            break;
        }

        if (log->writer == ngx_syslog_writer) {
            peer = log->wdata;

            if (peer->conn.fd != (ngx_socket_t) -1) {
                fds[n++] = peer->conn.fd;
            }

        } else if (log->file && log->file->fd != NGX_INVALID_FILE) {
            fds[n++] = log->file->fd;
        }
    }

    return n;
}


static int ngx_libc_cdecl
ngx_svc_helper_fds_cmp(const void *one, const void *two)
{
    return *(const int *) one - *(const int *) two;
}


static void
ngx_svc_helper_fds_close_range(int first, int last)
{
    int            fd;
    struct rlimit  limit;

    if (close_range(first, last, 0) == 0) {
        return;
    }

    /* Linux before 5.9, or a container that forbids the call */

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0
        && limit.rlim_cur <= (rlim_t) last)
    {
        last = (int) limit.rlim_cur - 1;
    }

    for (fd = first; fd <= last; fd++) {
        (void) close(fd);
    }
}


void
ngx_svc_helper_fds_reopen(ngx_cycle_t *cycle)
{
    ngx_log_t  *log;

    for (log = cycle->log; log; log = log->next) {
        if (log->file && log->file->name.len) {
            ngx_svc_helper_fds_reopen_file(cycle, log->file);
        }
    }

    (void) ngx_log_redirect_stderr(cycle);
}


static void
ngx_svc_helper_fds_reopen_file(ngx_cycle_t *cycle, ngx_open_file_t *file)
{
    ngx_fd_t  fd;

    fd = ngx_open_file(file->name.data, NGX_FILE_APPEND,
                       NGX_FILE_CREATE_OR_OPEN, NGX_FILE_DEFAULT_ACCESS);

    if (fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      ngx_open_file_n " \"%V\" failed", &file->name);
        return;
    }

    (void) fcntl(fd, F_SETFD, FD_CLOEXEC);

    if (ngx_close_file(file->fd) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                      ngx_close_file_n " \"%V\" failed", &file->name);
    }

    file->fd = fd;
}


/*
 * Opens a new file when it exists and is writable: the master makes it, and
 * gives it to the workers' user.
 */

void
ngx_svc_helper_fds_look(ngx_cycle_t *cycle)
{
    ngx_log_t        *log;
    ngx_uint_t        changed;
    ngx_file_info_t   now, then;

    changed = 0;

    for (log = cycle->log; log; log = log->next) {

        if (log->file == NULL || log->file->name.len == 0
            || ngx_file_info(log->file->name.data, &now) == NGX_FILE_ERROR
            || ngx_fd_info(log->file->fd, &then) == NGX_FILE_ERROR
            || (now.st_ino == then.st_ino && now.st_dev == then.st_dev)
            || access((char *) log->file->name.data, W_OK) == -1)
        {
            continue;
        }

        ngx_svc_helper_fds_reopen_file(cycle, log->file);
        changed = 1;
    }

    if (changed) {
        (void) ngx_log_redirect_stderr(cycle);
    }
}
