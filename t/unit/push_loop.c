/*
 * The part of nginx below an event loop, for the connections of libcurl.
 */

#include "push_loop.h"

#include <poll.h>


#define LOOP_FDS  1024


static void loop_collect(void);
static ngx_int_t loop_add(ngx_event_t *ev, ngx_int_t event, ngx_uint_t flags);
static ngx_int_t loop_del(ngx_event_t *ev, ngx_int_t event, ngx_uint_t flags);
static void loop_clock(void);
static void loop_ready(ngx_socket_t fd, ngx_uint_t write);


ngx_queue_t                ngx_posted_next_events;
ngx_event_actions_t        ngx_event_actions;
ngx_uint_t                 ngx_event_flags;

static ngx_connection_t   *connections[LOOP_FDS];
static ngx_connection_t   *garbage;


void
loop_init(void)
{
    ngx_env_init();
    loop_clock();

    ((ngx_cycle_t *) ngx_cycle)->free_connection_n = LOOP_FDS;

    ngx_queue_init(&ngx_posted_next_events);
    ngx_event_timer_init(ngx_env_log());

    ngx_event_actions.add = loop_add;
    ngx_event_actions.del = loop_del;
}


void
loop_exit(void)
{
    loop_collect();
}


void
loop_die(const char *what)
{
    fprintf(stderr, "push_eval: %s\n", what);
    exit(1);
}


ngx_connection_t *
ngx_get_connection(ngx_socket_t fd, ngx_log_t *log)
{
    ngx_connection_t  *c;

    if (fd >= LOOP_FDS || connections[fd]) {
        loop_die("a descriptor is there twice");
    }

    c = calloc(1, sizeof(ngx_connection_t));
    c->read = calloc(1, sizeof(ngx_event_t));
    c->write = calloc(1, sizeof(ngx_event_t));
    c->fd = fd;
    c->log = log;
    c->read->data = c;
    c->write->data = c;
    c->write->write = 1;

    connections[fd] = c;

    return c;
}


/* nginx does not free the memory either. */

void
ngx_free_connection(ngx_connection_t *c)
{
    connections[c->fd] = NULL;

    c->data = garbage;
    garbage = c;
}


static void
loop_collect(void)
{
    ngx_connection_t  *c;

    while (garbage) {
        c = garbage;
        garbage = c->data;

        free(c->read);
        free(c->write);
        free(c);
    }
}


static ngx_int_t
loop_add(ngx_event_t *ev, ngx_int_t event, ngx_uint_t flags)
{
    ev->active = 1;
    return NGX_OK;
}


static ngx_int_t
loop_del(ngx_event_t *ev, ngx_int_t event, ngx_uint_t flags)
{
    ev->active = 0;
    return NGX_OK;
}


static void
loop_clock(void)
{
    struct timeval  tv;

    gettimeofday(&tv, NULL);
    ngx_env_time((uint64_t) tv.tv_sec * 1000 + tv.tv_usec / 1000);
}


static void
loop_ready(ngx_socket_t fd, ngx_uint_t write)
{
    ngx_event_t       *ev;
    ngx_connection_t  *c;

    c = connections[fd];

    if (c == NULL) {
        return;
    }

    ev = write ? c->write : c->read;

    if (ev->active) {
        ev->handler(ev);
    }
}


/* One iteration of the loop; returns 1 when the standard input can be read. */

ngx_uint_t
loop_iterate(ngx_uint_t input)
{
    int             timeout;
    ngx_uint_t      i, n;
    struct pollfd   fds[LOOP_FDS + 1];

    loop_collect();

    fds[0].fd = input ? 0 : -1;
    fds[0].events = POLLIN;
    fds[0].revents = 0;
    n = 1;

    for (i = 0; i < LOOP_FDS; i++) {
        if (connections[i]) {
            fds[n].fd = i;
            fds[n].revents = 0;
            fds[n++].events = (connections[i]->read->active ? POLLIN : 0)
                              | (connections[i]->write->active ? POLLOUT : 0);
        }
    }

    timeout = (int) ngx_event_find_timer();

    if (!ngx_queue_empty(&ngx_posted_next_events)) {
        ngx_queue_add(&ngx_posted_events, &ngx_posted_next_events);
        ngx_queue_init(&ngx_posted_next_events);
        timeout = 0;
    }

    if (poll(fds, n, timeout) == -1) {
        loop_die("poll");
    }

    loop_clock();

    for (i = 1; i < n; i++) {
        if (fds[i].revents & (POLLIN|POLLERR|POLLHUP)) {
            loop_ready(fds[i].fd, 0);
        }

        if (fds[i].revents & (POLLOUT|POLLERR|POLLHUP)) {
            loop_ready(fds[i].fd, 1);
        }
    }

    ngx_event_expire_timers();
    ngx_env_events();

    return fds[0].revents != 0;
}
