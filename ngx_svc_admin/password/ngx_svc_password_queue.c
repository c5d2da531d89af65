/*
 * Passwords that threads verify and hash.
 */

#include "ngx_svc_password_queue.h"
#include "ngx_svc_argon2.h"

#include <pthread.h>
#include <sys/resource.h>


#define NGX_SVC_PASSWORD_TIME  30000    /* ms, in a thread */
#define NGX_SVC_PASSWORD_NICE  10       /* below the worker's priority */


static void ngx_svc_password_changed(const ngx_svc_work_queue_t *in);
static void ngx_svc_password_run(ngx_svc_work_t *task);
static void *ngx_svc_password_behind(void *data);
static void ngx_svc_password_hash(ngx_svc_password_job_t *job);
static void ngx_svc_password_done(ngx_svc_work_t *task);
static void ngx_svc_password_wipe(ngx_svc_work_t *task);
static ngx_svc_admin_main_conf_t *ngx_svc_password_amcf(void);


static ngx_svc_work_queue_t  ngx_svc_password_queue =
    ngx_svc_work_queue(ngx_svc_password_queue, 0, 0, NGX_SVC_PASSWORD_TIME);


ngx_svc_password_job_t *
ngx_svc_password_create(ngx_pool_t *owner, const ngx_str_t *password)
{
    ngx_svc_password_job_t     *job;
    ngx_svc_admin_main_conf_t  *amcf;

    job = ngx_svc_work_create(&ngx_svc_password_queue, owner,
                              sizeof(ngx_svc_password_job_t));
    if (job == NULL) {
        return NULL;
    }

    job->task.run = ngx_svc_password_run;
    job->task.handler = ngx_svc_password_done;

    job->work.password.data = ngx_pnalloc(job->task.pool, password->len + 1);

    if (job->work.password.data == NULL
        || ngx_array_init(&job->strings, job->task.pool, 1, sizeof(ngx_str_t))
           != NGX_OK)
    {
        ngx_svc_work_cancel(&job->task);
        return NULL;
    }

    ngx_memcpy(job->work.password.data, password->data, password->len);
    job->work.password.len = password->len;
    job->task.wipe = ngx_svc_password_wipe;

    amcf = ngx_svc_password_amcf();

    job->work.cost.memory = (uint32_t) amcf->hash.memory;
    job->work.cost.iterations = (uint32_t) amcf->hash.iterations;

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
    s->data = ngx_pnalloc(job->task.pool, string->len + 1);

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
    ngx_svc_work_queue_t       *queue;
    ngx_svc_admin_hash_conf_t  *conf;

    conf = &ngx_svc_password_amcf()->hash;
    queue = &ngx_svc_password_queue;

    queue->concurrency = conf->concurrency;
    queue->most = conf->queue;
    queue->waits = conf->timeout;
    queue->changed = ngx_svc_password_changed;

    job->task.weight = ngx_svc_password_hashes(&job->work);

    return ngx_svc_work_post(&job->task);
}


void
ngx_svc_password_cancel(ngx_svc_password_job_t *job)
{
    ngx_svc_work_cancel(&job->task);
}


/*
 * When a hash ends its memory is kept for a job that waits, if there is one;
 * since that may go away, all is given back when no hash runs.
 */

static void
ngx_svc_password_changed(const ngx_svc_work_queue_t *in)
{
    ngx_svc_argon2_keep(ngx_min(in->nwaiting, in->concurrency));

    if (in->nrunning == 0) {
        ngx_svc_argon2_drop();
    }
}


/*
 * Runs in a thread of nginx, which reads files for other requests, too.  A
 * thread cannot get back a priority that it has given up, so that a new thread
 * computes this hash alone: to start it takes a thousandth of the time of a
 * hash.
 */

static void
ngx_svc_password_run(ngx_svc_work_t *task)
{
    pthread_t                tid;
    ngx_svc_password_job_t  *job;

    job = (ngx_svc_password_job_t *) task;

    if (pthread_create(&tid, NULL, ngx_svc_password_behind, job) != 0) {
        ngx_svc_password_hash(job);
        return;
    }

    (void) pthread_join(tid, NULL);
}


/*
 * With as many hashes as cores each request would wait until one of them has
 * used up its time slice.  On Linux the priority is that of the calling thread
 * alone; elsewhere it would be the worker's.
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
ngx_svc_password_done(ngx_svc_work_t *task)
{
    ngx_svc_password_job_t  *job;

    job = (ngx_svc_password_job_t *) task;

    job->rc = (task->rc == NGX_OK) ? job->work.rc : task->rc;

    job->handler(job);
}


static void
ngx_svc_password_wipe(ngx_svc_work_t *task)
{
    ngx_str_t               *strings;
    ngx_uint_t               i;
    ngx_svc_password_job_t  *job;

    job = (ngx_svc_password_job_t *) task;
    strings = job->strings.elts;

    for (i = 0; i < job->strings.nelts; i++) {
        ngx_explicit_memzero(strings[i].data, strings[i].len);
    }

    ngx_explicit_memzero(job->work.password.data, job->work.password.len);
    ngx_explicit_memzero(job->work.made, sizeof(job->work.made));
}


static ngx_svc_admin_main_conf_t *
ngx_svc_password_amcf(void)
{
    return ngx_http_cycle_get_module_main_conf((ngx_cycle_t *) ngx_cycle,
                                               ngx_http_svc_admin_module);
}
