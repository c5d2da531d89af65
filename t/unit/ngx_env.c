/*
 * What nginx's core objects in the unit tests need from the rest of nginx.
 */

#include "ngx_env.h"

#include <ngx_event.h>


/* The linker's --wrap gives ngx_alloc() these names. */

void *__real_ngx_alloc(size_t size, ngx_log_t *log);
void *__wrap_ngx_alloc(size_t size, ngx_log_t *log);


volatile ngx_cycle_t  *ngx_cycle;
ngx_queue_t            ngx_posted_events;
volatile ngx_msec_t    ngx_current_msec;
volatile ngx_time_t   *ngx_cached_time;
ngx_int_t              ngx_ncpu = 1;
ngx_pid_t              ngx_pid;

static ngx_cycle_t     ngx_env_cycle;
static ngx_log_t       ngx_env_log_data;
static ngx_time_t      ngx_env_clock;
static ngx_int_t       ngx_env_allocs = -1;


void
ngx_env_init(void)
{
    ngx_uint_t  n;

    ngx_pagesize = sysconf(_SC_PAGESIZE);
    ngx_cacheline_size = NGX_CPU_CACHE_LINE;

    for (n = ngx_pagesize; n >>= 1; ngx_pagesize_shift++) { /* void */ }

    ngx_pid = ngx_getpid();
    ngx_slab_sizes_init();

    ngx_env_log_data.log_level = NGX_LOG_NOTICE;

    ngx_env_cycle.log = &ngx_env_log_data;
    ngx_cycle = &ngx_env_cycle;

    ngx_queue_init(&ngx_posted_events);

    ngx_env_time(0);
}


void
ngx_env_time(uint64_t msec)
{
    ngx_env_clock.sec = msec / 1000;
    ngx_env_clock.msec = msec % 1000;
    ngx_cached_time = &ngx_env_clock;

    ngx_current_msec = (ngx_msec_t) msec;
}


ngx_log_t *
ngx_env_log(void)
{
    return &ngx_env_log_data;
}


void
ngx_env_alloc_limit(ngx_int_t n)
{
    ngx_env_allocs = n;
}


void
ngx_env_events(void)
{
    ngx_event_t  *ev;
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_posted_events)) {
        q = ngx_queue_head(&ngx_posted_events);
        ev = ngx_queue_data(q, ngx_event_t, queue);

        ngx_delete_posted_event(ev);
        ev->handler(ev);
    }
}


void *
__wrap_ngx_alloc(size_t size, ngx_log_t *log)
{
    if (ngx_env_allocs == 0) {
        return NULL;
    }

    if (ngx_env_allocs > 0) {
        ngx_env_allocs--;
    }

    return __real_ngx_alloc(size, log);
}


void
ngx_debug_point(void)
{
    abort();
}


void
ngx_log_error_core(ngx_uint_t level, ngx_log_t *log, ngx_err_t err,
    const char *fmt, ...)
{
    u_char   *p, text[NGX_MAX_ERROR_STR];
    va_list   args;

    va_start(args, fmt);
    p = ngx_vslprintf(text, text + sizeof(text), fmt, args);
    va_end(args);

    fprintf(stderr, "[%u] %.*s (%d)\n", (unsigned) level, (int) (p - text),
            text, (int) err);
}
