/*
 * Work for threads.
 *
 * When a worker exits, nginx tells its threads to end, behind their jobs,
 * before it tells any HTTP module; what is left then ends with the process.
 */

#include "ngx_svc_work.h"
#include "ngx_svc_admin_conf.h"


#define NGX_SVC_WORK_END    1000    /* ms that threads may take to end */
#define NGX_SVC_WORK_ALONE  3       /* links of the folder of one thread */


static void ngx_svc_work_gone(void *data);
static ngx_int_t ngx_svc_work_start(ngx_svc_work_t *work);
static ngx_int_t ngx_svc_work_wait(ngx_svc_work_t *work);
static void ngx_svc_work_changed(const ngx_svc_work_queue_t *in);
static void ngx_svc_work_unqueue(ngx_svc_work_t *work);
static void ngx_svc_work_leave(ngx_svc_work_t *work);
static void ngx_svc_work_thread(void *data, ngx_log_t *log);
static void ngx_svc_work_done(ngx_event_t *ev);
static void ngx_svc_work_next(ngx_svc_work_queue_t *in);
static void ngx_svc_work_late(ngx_event_t *ev);
static void ngx_svc_work_call(ngx_svc_work_t *work, ngx_int_t rc);
static void ngx_svc_work_free(ngx_svc_work_t *work);
static ngx_svc_work_t *ngx_svc_work_first(ngx_svc_work_queue_t *in);
static ngx_uint_t ngx_svc_work_may(ngx_svc_work_t *work);
static ngx_uint_t ngx_svc_work_full(const ngx_svc_work_queue_t *in);


/*
 * nginx does not wait until a thread that it has told to end has done so.
 * Freeing what a thread has of OpenSSL while exit() frees OpenSSL itself would
 * crash the worker, and the library of a module may be unmapped by then.
 */

void
ngx_svc_work_exit_worker(void)
{
#if (NGX_LINUX)

    ngx_uint_t       i;
    ngx_file_info_t  info;

    for (i = 0; i < NGX_SVC_WORK_END; i++) {

        if (ngx_file_info("/proc/self/task", &info) == NGX_FILE_ERROR
            || info.st_nlink <= NGX_SVC_WORK_ALONE)
        {
            return;
        }

        ngx_msleep(1);
    }

#endif
}


void *
ngx_svc_work_create(ngx_svc_work_queue_t *in, ngx_pool_t *owner, size_t size)
{
    ngx_pool_t         *pool;
    ngx_svc_work_t     *work;
    ngx_thread_task_t  *task;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    task = ngx_thread_task_alloc(pool, size);

    if (task == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    work = task->ctx;

    if (owner) {
        work->cln = ngx_pool_cleanup_add(owner, 0);

        if (work->cln == NULL) {
            ngx_destroy_pool(pool);
            return NULL;
        }

        work->cln->handler = ngx_svc_work_gone;
        work->cln->data = work;
    }

    work->in = in;
    work->pool = pool;
    work->task = task;

    work->timer.handler = ngx_svc_work_late;
    work->timer.data = work;
    work->timer.log = ngx_cycle->log;

    task->handler = ngx_svc_work_thread;
    task->event.handler = ngx_svc_work_done;
    task->event.data = work;

    return work;
}


ngx_int_t
ngx_svc_work_post(ngx_svc_work_t *work)
{
    ngx_int_t              rc;
    ngx_svc_work_queue_t  *in;

    in = work->in;

    /* jobs that wait come first, also while a place is being given away */

    rc = ngx_svc_work_may(work) && ngx_svc_work_first(in) == NULL
         ? ngx_svc_work_start(work) : ngx_svc_work_wait(work);

    if (rc != NGX_OK) {
        ngx_svc_work_cancel(work);
    }

    return rc;
}


static ngx_int_t
ngx_svc_work_wait(ngx_svc_work_t *work)
{
    ngx_svc_work_queue_t  *in;

    in = work->in;

    work->weight = ngx_max(work->weight, 1);
    work->weight = ngx_min(work->weight, in->most);

    if (in->most == 0 || in->nwaiting + work->weight > in->most) {
        return NGX_BUSY;
    }

    work->waiting = 1;
    in->nwaiting += work->weight;
    ngx_queue_insert_tail(&in->jobs, &work->queue);

    ngx_add_timer(&work->timer, in->waits);

    ngx_svc_work_changed(in);

    return NGX_OK;
}


static void
ngx_svc_work_changed(const ngx_svc_work_queue_t *in)
{
    if (in->changed) {
        in->changed(in);
    }
}


void
ngx_svc_work_cancel(ngx_svc_work_t *work)
{
    if (work->called) {
        return;
    }

    ngx_svc_work_leave(work);
    ngx_svc_work_changed(work->in);

    if (work->running) {
        work->handler = NULL;
        return;
    }

    ngx_svc_work_free(work);
}


static void
ngx_svc_work_gone(void *data)
{
    ngx_svc_work_cancel(data);
}


/* Takes the job out of the queue, and from its owner. */

static void
ngx_svc_work_leave(ngx_svc_work_t *work)
{
    if (work->cln) {
        work->cln->handler = NULL;
    }

    ngx_svc_work_unqueue(work);
}


static void
ngx_svc_work_unqueue(ngx_svc_work_t *work)
{
    if (work->timer.timer_set) {
        ngx_del_timer(&work->timer);
    }

    if (work->waiting) {
        work->waiting = 0;
        work->in->nwaiting -= work->weight;
        ngx_queue_remove(&work->queue);
    }
}


static void
ngx_svc_work_free(ngx_svc_work_t *work)
{
    if (work->wipe) {
        work->wipe(work);
    }

    ngx_destroy_pool(work->pool);
}


/* Returns the first job that waits and may run; NULL: there is none. */

static ngx_svc_work_t *
ngx_svc_work_first(ngx_svc_work_queue_t *in)
{
    ngx_queue_t     *q;
    ngx_svc_work_t  *work;

    for (q = ngx_queue_head(&in->jobs);
         q != ngx_queue_sentinel(&in->jobs);
         q = ngx_queue_next(q))
    {
        work = ngx_queue_data(q, ngx_svc_work_t, queue);

        if (ngx_svc_work_may(work)) {
            return work;
        }
    }

    return NULL;
}


static ngx_uint_t
ngx_svc_work_may(ngx_svc_work_t *work)
{
    ngx_uint_t             n;
    ngx_queue_t           *q;
    ngx_svc_work_t        *other;
    ngx_svc_work_queue_t  *in;

    in = work->in;

    if (ngx_svc_work_full(in)) {
        return 0;
    }

    if (in->share == 0) {
        return 1;
    }

    n = 0;

    for (q = ngx_queue_head(&in->running);
         q != ngx_queue_sentinel(&in->running);
         q = ngx_queue_next(q))
    {
        other = ngx_queue_data(q, ngx_svc_work_t, peers);
        n += ngx_memcmp(other->tenant, work->tenant, NGX_SVC_UUID_LEN) == 0;
    }

    return n < in->share;
}


static ngx_uint_t
ngx_svc_work_full(const ngx_svc_work_queue_t *in)
{
    return in->nrunning >= (in->concurrency ? in->concurrency
                                            : (ngx_uint_t) ngx_ncpu);
}


static ngx_int_t
ngx_svc_work_start(ngx_svc_work_t *work)
{
    ngx_svc_admin_main_conf_t  *amcf;

    amcf = ngx_http_cycle_get_module_main_conf((ngx_cycle_t *) ngx_cycle,
                                               ngx_http_svc_admin_module);

    if (work->start) {
        work->start(work);
    }

    if (ngx_thread_task_post(amcf->threads, work->task) != NGX_OK) {
        return NGX_ERROR;
    }

    work->running = 1;
    work->in->nrunning++;
    ngx_queue_insert_tail(&work->in->running, &work->peers);

    ngx_add_timer(&work->timer, work->in->runs);

    return NGX_OK;
}


/* OpenSSL's memory of this thread stays for the thread's next job. */

static void
ngx_svc_work_thread(void *data, ngx_log_t *log)
{
    ngx_svc_work_t  *work = data;

    work->run(work);
}


static void
ngx_svc_work_done(ngx_event_t *ev)
{
    ngx_svc_work_t  *work;

    work = ev->data;

    /*
     * a handler that is called here may cancel this job, which is freed below
     */

    work->in->nrunning--;
    ngx_queue_remove(&work->peers);
    ngx_svc_work_next(work->in);
    ngx_svc_work_changed(work->in);

    work->running = 0;

    if (work->handler && !work->called) {
        ngx_svc_work_leave(work);
        ngx_svc_work_call(work, NGX_OK);
    }

    ngx_svc_work_free(work);
}


static void
ngx_svc_work_next(ngx_svc_work_queue_t *in)
{
    ngx_svc_work_t  *work;

    while ((work = ngx_svc_work_first(in)) != NULL) {
        ngx_svc_work_unqueue(work);

        if (ngx_svc_work_start(work) != NGX_OK) {
            ngx_svc_work_leave(work);
            ngx_svc_work_call(work, NGX_ERROR);
            ngx_svc_work_free(work);
        }
    }
}


/*
 * The job has waited or run too long; a thread that has it frees it when it
 * returns.
 */

static void
ngx_svc_work_late(ngx_event_t *ev)
{
    ngx_svc_work_t  *work;

    work = ev->data;

    ngx_svc_work_leave(work);
    ngx_svc_work_changed(work->in);
    ngx_svc_work_call(work, NGX_BUSY);

    if (!work->running) {
        ngx_svc_work_free(work);
    }
}


static void
ngx_svc_work_call(ngx_svc_work_t *work, ngx_int_t rc)
{
    work->called = 1;
    work->rc = rc;

    work->handler(work);
}


void
ngx_svc_work_finalize(ngx_http_request_t *r, ngx_int_t rc)
{
    ngx_connection_t  *c;

    c = r->connection;

    ngx_http_finalize_request(r, rc);

    ngx_http_run_posted_requests(c);
}
