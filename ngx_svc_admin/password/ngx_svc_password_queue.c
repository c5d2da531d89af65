/*
 * Passwords that threads verify and hash.
 *
 * When a worker exits, nginx ends its threads, and so what they do, before any
 * module of HTTP is told; what is left then goes with the process.
 */

#include "ngx_svc_password_queue.h"
#include "ngx_svc_argon2.h"

#include <pthread.h>
#include <sys/resource.h>


#define NGX_SVC_PASSWORD_TIME  30000    /* ms, in a thread */
#define NGX_SVC_PASSWORD_NICE  10       /* behind the worker's own */


static ngx_svc_password_job_t *ngx_svc_password_job(ngx_pool_t *pool,
    const ngx_str_t *password);
static void ngx_svc_password_gone(void *data);
static ngx_int_t ngx_svc_password_start(ngx_svc_password_job_t *job);
static void ngx_svc_password_queued(ngx_svc_password_job_t *job);
static void ngx_svc_password_unqueue(ngx_svc_password_job_t *job);
static void ngx_svc_password_keep(void);
static void ngx_svc_password_leave(ngx_svc_password_job_t *job);
static void ngx_svc_password_next(void);
static void ngx_svc_password_thread(void *data, ngx_log_t *log);
static void *ngx_svc_password_behind(void *data);
static void ngx_svc_password_hash(ngx_svc_password_job_t *job);
static void ngx_svc_password_done(ngx_event_t *ev);
static void ngx_svc_password_late(ngx_event_t *ev);
static void ngx_svc_password_call(ngx_svc_password_job_t *job, ngx_int_t rc);
static void ngx_svc_password_free(ngx_svc_password_job_t *job);
static ngx_svc_admin_main_conf_t *ngx_svc_password_amcf(void);


static ngx_queue_t  ngx_svc_password_jobs = {
    &ngx_svc_password_jobs, &ngx_svc_password_jobs
};

static ngx_uint_t   ngx_svc_password_nwaiting;      /* hashes */
static ngx_uint_t   ngx_svc_password_nrunning;      /* jobs */


ngx_svc_password_job_t *
ngx_svc_password_create(ngx_pool_t *owner, const ngx_str_t *password)
{
    ngx_pool_t              *pool;
    ngx_pool_cleanup_t      *cln;
    ngx_svc_password_job_t  *job;

    cln = ngx_pool_cleanup_add(owner, 0);
    if (cln == NULL) {
        return NULL;
    }

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    job = ngx_svc_password_job(pool, password);
    if (job == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    job->cln = cln;

    cln->handler = ngx_svc_password_gone;
    cln->data = job;

    return job;
}


/* Of a pool of its own, with which a thread may outlive the owner. */

static ngx_svc_password_job_t *
ngx_svc_password_job(ngx_pool_t *pool, const ngx_str_t *password)
{
    ngx_thread_task_t          *task;
    ngx_svc_password_job_t     *job;
    ngx_svc_admin_main_conf_t  *amcf;

    task = ngx_thread_task_alloc(pool, sizeof(ngx_svc_password_job_t));
    if (task == NULL) {
        return NULL;
    }

    job = task->ctx;

    job->work.password.data = ngx_pnalloc(pool, password->len + 1);

    if (job->work.password.data == NULL
        || ngx_array_init(&job->strings, pool, 1, sizeof(ngx_str_t)) != NGX_OK)
    {
        return NULL;
    }

    ngx_memcpy(job->work.password.data, password->data, password->len);
    job->work.password.len = password->len;

    amcf = ngx_svc_password_amcf();

    job->work.cost.memory = (uint32_t) amcf->hash.memory;
    job->work.cost.iterations = (uint32_t) amcf->hash.iterations;

    job->pool = pool;
    job->task = task;

    job->timer.handler = ngx_svc_password_late;
    job->timer.data = job;
    job->timer.log = ngx_cycle->log;

    task->handler = ngx_svc_password_thread;
    task->event.handler = ngx_svc_password_done;
    task->event.data = job;

    return job;
}


ngx_int_t
ngx_svc_password_add(ngx_svc_password_job_t *job, const ngx_str_t *string)
{
    ngx_str_t  *s;

    s = ngx_array_push(&job->strings);
    if (s == NULL) {
        return NGX_ERROR;
    }

    s->len = 0;
    s->data = ngx_pnalloc(job->pool, string->len + 1);

    if (s->data == NULL) {
        return NGX_ERROR;
    }

    s->len = string->len;

    ngx_memcpy(s->data, string->data, string->len);

    job->work.strings = job->strings.elts;
    job->work.nstrings = job->strings.nelts;

    return NGX_OK;
}


ngx_int_t
ngx_svc_password_post(ngx_svc_password_job_t *job)
{
    ngx_svc_admin_hash_conf_t  *conf;

    conf = &ngx_svc_password_amcf()->hash;

    /* whoever waits is first, also while a slot is being given away */

    if (ngx_svc_password_nrunning < conf->concurrency
        && ngx_queue_empty(&ngx_svc_password_jobs))
    {
        if (ngx_svc_password_start(job) != NGX_OK) {
            ngx_svc_password_cancel(job);
            return NGX_ERROR;
        }

        return NGX_OK;
    }

    job->weight = ngx_max(ngx_svc_password_hashes(&job->work), 1);
    job->weight = ngx_min(job->weight, conf->queue);

    if (conf->queue == 0
        || ngx_svc_password_nwaiting + job->weight > conf->queue)
    {
        ngx_svc_password_cancel(job);
        return NGX_BUSY;
    }

    ngx_svc_password_queued(job);

    ngx_add_timer(&job->timer, conf->timeout);

    return NGX_OK;
}


static void
ngx_svc_password_queued(ngx_svc_password_job_t *job)
{
    job->waiting = 1;
    ngx_svc_password_nwaiting += job->weight;
    ngx_queue_insert_tail(&ngx_svc_password_jobs, &job->queue);

    ngx_svc_password_keep();
}


void
ngx_svc_password_cancel(ngx_svc_password_job_t *job)
{
    if (job->called) {
        return;
    }

    ngx_svc_password_leave(job);

    if (job->running) {
        job->handler = NULL;
        return;
    }

    ngx_svc_password_free(job);
}


static void
ngx_svc_password_gone(void *data)
{
    ngx_svc_password_cancel(data);
}


/* It waits no more, and knows nothing of its owner. */

static void
ngx_svc_password_leave(ngx_svc_password_job_t *job)
{
    job->cln->handler = NULL;

    ngx_svc_password_unqueue(job);
}


static void
ngx_svc_password_unqueue(ngx_svc_password_job_t *job)
{
    if (job->timer.timer_set) {
        ngx_del_timer(&job->timer);
    }

    if (job->waiting) {
        job->waiting = 0;
        ngx_svc_password_nwaiting -= job->weight;
        ngx_queue_remove(&job->queue);
        ngx_svc_password_keep();
    }
}


/* Of a hash that ends the memory is for one that waits, if there is one. */

static void
ngx_svc_password_keep(void)
{
    ngx_svc_argon2_keep(ngx_min(ngx_svc_password_nwaiting,
                                ngx_svc_password_amcf()->hash.concurrency));
}


static void
ngx_svc_password_free(ngx_svc_password_job_t *job)
{
    ngx_str_t   *strings;
    ngx_uint_t   i;

    strings = job->strings.elts;

    for (i = 0; i < job->strings.nelts; i++) {
        ngx_explicit_memzero(strings[i].data, strings[i].len);
    }

    ngx_explicit_memzero(job->work.password.data, job->work.password.len);
    ngx_explicit_memzero(job->work.made, sizeof(job->work.made));

    ngx_destroy_pool(job->pool);
}


static ngx_int_t
ngx_svc_password_start(ngx_svc_password_job_t *job)
{
    ngx_svc_admin_main_conf_t  *amcf;

    amcf = ngx_svc_password_amcf();

    if (ngx_thread_task_post(amcf->threads, job->task) != NGX_OK) {
        return NGX_ERROR;
    }

    job->running = 1;
    ngx_svc_password_nrunning++;

    ngx_add_timer(&job->timer, NGX_SVC_PASSWORD_TIME);

    return NGX_OK;
}


/*
 * In a thread of nginx's, which reads files for others too.  None gets back the
 * priority that it has given up, so another one does, for this hash alone: its
 * start is a thousandth of what a hash takes.
 */

static void
ngx_svc_password_thread(void *data, ngx_log_t *log)
{
    pthread_t                tid;
    ngx_svc_password_job_t  *job = data;

    if (pthread_create(&tid, NULL, ngx_svc_password_behind, job) != 0) {
        ngx_svc_password_hash(job);
        return;
    }

    (void) pthread_join(tid, NULL);
}


/*
 * As many hashes as there are cores would have each request wait for one of
 * them to use up its time slice.  On Linux the priority is that of the calling
 * thread alone; elsewhere it would be the worker's.
 */

static void *
ngx_svc_password_behind(void *data)
{
#if (NGX_LINUX)
    (void) setpriority(PRIO_PROCESS, 0,
                       getpriority(PRIO_PROCESS, 0) + NGX_SVC_PASSWORD_NICE);
#endif

    ngx_svc_password_hash(data);

    return NULL;
}


static void
ngx_svc_password_hash(ngx_svc_password_job_t *job)
{
    ngx_svc_password_work(&job->work);
    ngx_svc_crypto_thread_end();
}


static void
ngx_svc_password_done(ngx_event_t *ev)
{
    ngx_svc_password_job_t  *job;

    job = ev->data;

    /* a handler that is called here may cancel this job: it is freed below */

    ngx_svc_password_nrunning--;
    ngx_svc_password_next();

    /* whoever it was kept for may have gone */

    if (ngx_svc_password_nrunning == 0) {
        ngx_svc_argon2_drop();
    }

    job->running = 0;

    if (job->handler && !job->called) {
        ngx_svc_password_leave(job);
        ngx_svc_password_call(job, job->work.rc);
    }

    ngx_svc_password_free(job);
}


static void
ngx_svc_password_next(void)
{
    ngx_queue_t                *q;
    ngx_svc_password_job_t     *job;
    ngx_svc_admin_hash_conf_t  *conf;

    conf = &ngx_svc_password_amcf()->hash;

    while (ngx_svc_password_nrunning < conf->concurrency
           && !ngx_queue_empty(&ngx_svc_password_jobs))
    {
        q = ngx_queue_head(&ngx_svc_password_jobs);
        job = ngx_queue_data(q, ngx_svc_password_job_t, queue);

        ngx_svc_password_unqueue(job);

        if (ngx_svc_password_start(job) != NGX_OK) {
            ngx_svc_password_leave(job);
            ngx_svc_password_call(job, NGX_ERROR);
            ngx_svc_password_free(job);
        }
    }
}


/* It waited too long; or a thread has it, and frees it when it returns. */

static void
ngx_svc_password_late(ngx_event_t *ev)
{
    ngx_svc_password_job_t  *job;

    job = ev->data;

    ngx_svc_password_leave(job);
    ngx_svc_password_call(job, NGX_BUSY);

    if (!job->running) {
        ngx_svc_password_free(job);
    }
}


static void
ngx_svc_password_call(ngx_svc_password_job_t *job, ngx_int_t rc)
{
    job->called = 1;
    job->rc = rc;

    job->handler(job);
}


static ngx_svc_admin_main_conf_t *
ngx_svc_password_amcf(void)
{
    return ngx_http_cycle_get_module_main_conf((ngx_cycle_t *) ngx_cycle,
                                               ngx_http_svc_admin_module);
}
