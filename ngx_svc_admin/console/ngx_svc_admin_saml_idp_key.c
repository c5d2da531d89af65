/*
 * The key of /v1/admin/saml-idp, which the first request of a tenant has made.
 *
 * A thread makes it, as it takes longer than other requests should wait.  Each
 * worker makes one key at a time, from the thread until PostgreSQL has it.
 * Requests that come meanwhile wait, and then look again: most often the key is
 * their tenant's.  When two workers make one for a tenant PostgreSQL keeps the
 * first.
 */

#include "ngx_svc_admin_saml_idp_key.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_saml_key.h"
#include "ngx_svc_sealed.h"

#include <ngx_thread_pool.h>


#define NGX_SVC_ADMIN_SAML_IDP_WAITING  64      /* requests of a worker */
#define NGX_SVC_ADMIN_SAML_IDP_TIME     20000   /* ms, of each wait */


typedef struct ngx_svc_admin_saml_idp_job_s  ngx_svc_admin_saml_idp_job_t;


/* Allocated from the request's pool; sr->data points to it. */

typedef struct {
    ngx_svc_request_t             *sr;
    ngx_svc_admin_saml_idp_job_t  *job;         /* NULL: no thread has it */
    const ngx_svc_saml_key_t      *key;         /* while it is bound */
    ngx_event_t                    timer;       /* keeps a worker from
                                                   quitting */
    ngx_queue_t                    queue;       /* while waiting */
    unsigned                       waiting:1;
    unsigned                       makes:1;     /* 1: makes the worker's key */
} ngx_svc_admin_saml_idp_wait_t;


/* Allocated from a pool of its own: the thread may outlive the request. */

struct ngx_svc_admin_saml_idp_job_s {
    ngx_pool_t                     *pool;
    ngx_svc_admin_saml_idp_wait_t  *wait;       /* NULL: the request is gone */
    ngx_int_t                       rc;
    ngx_svc_saml_key_t              key;
};


static ngx_svc_admin_saml_idp_wait_t *ngx_svc_admin_saml_idp_create(
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_saml_idp_post(
    ngx_svc_admin_saml_idp_wait_t *wait, const ngx_str_t *slug);
static void ngx_svc_admin_saml_idp_thread(void *data, ngx_log_t *log);
static void ngx_svc_admin_saml_idp_made(ngx_event_t *ev);
static ngx_int_t ngx_svc_admin_saml_idp_store(
    ngx_svc_admin_saml_idp_wait_t *wait, ngx_svc_admin_saml_idp_job_t *job);
static ngx_int_t ngx_svc_admin_saml_idp_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_saml_idp_bind_key(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_saml_idp_bind_pem(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_saml_idp_stored(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_saml_idp_again(ngx_svc_request_t *sr);
static void ngx_svc_admin_saml_idp_next(ngx_event_t *ev);
static void ngx_svc_admin_saml_idp_free(void);
static void ngx_svc_admin_saml_idp_gone(void *data);
static void ngx_svc_admin_saml_idp_late(ngx_event_t *ev);
static void ngx_svc_admin_saml_idp_finalize(ngx_svc_request_t *sr,
    ngx_int_t rc);


#include "ngx_svc_admin_saml_idp_key.sql.h"


static ngx_queue_t  ngx_svc_admin_saml_idp_queue = {
    &ngx_svc_admin_saml_idp_queue, &ngx_svc_admin_saml_idp_queue
};

static ngx_uint_t   ngx_svc_admin_saml_idp_nwaiting;
static ngx_uint_t   ngx_svc_admin_saml_idp_busy;
static ngx_event_t  ngx_svc_admin_saml_idp_wake;


ngx_int_t
ngx_svc_admin_saml_idp_make(ngx_svc_request_t *sr, const ngx_str_t *slug)
{
    ngx_svc_admin_saml_idp_wait_t  *wait;

    if (ngx_svc_sealed_able(sr) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    wait = sr->data ? sr->data : ngx_svc_admin_saml_idp_create(sr);
    if (wait == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ngx_svc_admin_saml_idp_busy) {

        if (ngx_svc_admin_saml_idp_post(wait, slug) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

    } else if (ngx_svc_admin_saml_idp_nwaiting
               == NGX_SVC_ADMIN_SAML_IDP_WAITING)
    {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many keys are being made: try again.");
        return ngx_svc_send_error(sr);

    } else {
        wait->waiting = 1;
        ngx_svc_admin_saml_idp_nwaiting++;
        ngx_queue_insert_tail(&ngx_svc_admin_saml_idp_queue, &wait->queue);
    }

    ngx_add_timer(&wait->timer, NGX_SVC_ADMIN_SAML_IDP_TIME);

    sr->request->main->count++;

    return NGX_DONE;
}


static ngx_svc_admin_saml_idp_wait_t *
ngx_svc_admin_saml_idp_create(ngx_svc_request_t *sr)
{
    ngx_http_cleanup_t             *cln;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    cln = ngx_http_cleanup_add(sr->request, 0);
    wait = ngx_pcalloc(sr->request->pool,
                       sizeof(ngx_svc_admin_saml_idp_wait_t));

    if (cln == NULL || wait == NULL) {
        return NULL;
    }

    cln->handler = ngx_svc_admin_saml_idp_gone;
    cln->data = wait;

    wait->sr = sr;
    wait->timer.handler = ngx_svc_admin_saml_idp_late;
    wait->timer.data = wait;
    wait->timer.log = ngx_cycle->log;

    sr->data = wait;

    return wait;
}


static ngx_int_t
ngx_svc_admin_saml_idp_post(ngx_svc_admin_saml_idp_wait_t *wait,
    const ngx_str_t *slug)
{
    ngx_str_t                      name;
    ngx_pool_t                    *pool;
    ngx_thread_task_t             *task;
    ngx_svc_admin_main_conf_t     *amcf;
    ngx_svc_admin_saml_idp_job_t  *job;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NGX_ERROR;
    }

    task = ngx_thread_task_alloc(pool, sizeof(ngx_svc_admin_saml_idp_job_t));
    if (task == NULL) {
        goto failed;
    }

    job = task->ctx;

    job->pool = pool;
    job->wait = wait;

    ngx_svc_row_copy(&name, job->key.name, NGX_SVC_SAML_KEY_NAME, slug);

    task->handler = ngx_svc_admin_saml_idp_thread;
    task->event.handler = ngx_svc_admin_saml_idp_made;
    task->event.data = job;

    amcf = ngx_http_get_module_main_conf(wait->sr->request,
                                         ngx_http_svc_admin_module);

    if (ngx_thread_task_post(amcf->threads, task) != NGX_OK) {
        goto failed;
    }

    wait->job = job;
    wait->makes = 1;
    ngx_svc_admin_saml_idp_busy = 1;

    return NGX_OK;

failed:

    ngx_destroy_pool(pool);

    return NGX_ERROR;
}


/* Runs in a thread. */

static void
ngx_svc_admin_saml_idp_thread(void *data, ngx_log_t *log)
{
    ngx_svc_admin_saml_idp_job_t *job = data;

    job->rc = ngx_svc_saml_key_make(&job->key);

    ngx_svc_crypto_thread_end();
}


static void
ngx_svc_admin_saml_idp_made(ngx_event_t *ev)
{
    ngx_int_t                       rc;
    ngx_svc_request_t              *sr;
    ngx_svc_admin_saml_idp_job_t   *job;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    job = ev->data;
    wait = job->wait;

    if (wait == NULL) {
        ngx_svc_admin_saml_idp_free();

        ngx_explicit_memzero(&job->key, sizeof(ngx_svc_saml_key_t));
        ngx_destroy_pool(job->pool);
        return;
    }

    sr = wait->sr;
    wait->job = NULL;
    ngx_del_timer(&wait->timer);

    ngx_http_set_log_request(sr->request->connection->log, sr->request);

    rc = ngx_svc_admin_saml_idp_store(wait, job);

    ngx_explicit_memzero(&job->key, sizeof(ngx_svc_saml_key_t));
    ngx_destroy_pool(job->pool);

    ngx_svc_admin_saml_idp_finalize(sr, rc);
}


static ngx_int_t
ngx_svc_admin_saml_idp_store(ngx_svc_admin_saml_idp_wait_t *wait,
    ngx_svc_admin_saml_idp_job_t *job)
{
    ngx_int_t           rc;
    ngx_svc_request_t  *sr;

    sr = wait->sr;

    if (job->rc != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, sr->request->connection->log, 0,
                      "svc: OpenSSL could not make a key for SAML");
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /*
     * a new id for the key: the request's statements have used the present one
     */
    sr->new_id = NULL;

    wait->key = &job->key;

    rc = ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                               ngx_svc_admin_saml_idp_prepare,
                               ngx_svc_admin_saml_idp_stored);
    wait->key = NULL;

    return rc;
}


static ngx_int_t
ngx_svc_admin_saml_idp_prepare(ngx_svc_request_t *sr)
{
    return ngx_svc_route_call(sr, &ngx_svc_sql_admin_saml_idp_key, NULL);
}


static ngx_int_t
ngx_svc_admin_saml_idp_bind_key(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_int_t                       rc;
    ngx_str_t                       key, sealed;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    wait = sr->data;

    key.data = (u_char *) wait->key->der;
    key.len = wait->key->der_len;

    rc = ngx_svc_sealed_make(sr, "saml_idp", &key, &sealed);

    if (rc == NGX_OK) {
        ngx_svc_pg_bind(call, sealed.data, sealed.len);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_saml_idp_bind_pem(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body)
{
    u_char                         *pem;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    wait = sr->data;

    pem = ngx_pnalloc(sr->request->pool, wait->key->pem_len);
    if (pem == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(pem, wait->key->pem, wait->key->pem_len);
    ngx_svc_pg_bind(call, pem, wait->key->pem_len);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_saml_idp_stored(ngx_svc_request_t *sr)
{
    ngx_svc_admin_saml_idp_wait_t  *wait;

    wait = sr->data;

    wait->makes = 0;
    ngx_svc_admin_saml_idp_free();

    return ngx_svc_admin_saml_idp_again(sr);
}


static ngx_int_t
ngx_svc_admin_saml_idp_again(ngx_svc_request_t *sr)
{
    sr->new_id = NULL;

    return ngx_svc_request_again(sr,
                                 sr->route->flags & NGX_SVC_ROUTE_WRITE_POOL
                                 ? NGX_SVC_PG_WRITE : NGX_SVC_PG_READ,
                                 ngx_svc_route_prepare,
                                 ngx_svc_route_results);
}


/* Wakes the waiting requests from an event: a request may be ending here. */

static void
ngx_svc_admin_saml_idp_free(void)
{
    ngx_svc_admin_saml_idp_busy = 0;

    ngx_svc_admin_saml_idp_wake.handler = ngx_svc_admin_saml_idp_next;
    ngx_svc_admin_saml_idp_wake.log = ngx_cycle->log;

    ngx_post_event(&ngx_svc_admin_saml_idp_wake, &ngx_posted_events);
}


/* All of them look again; one of those that find no key makes the next one. */

static void
ngx_svc_admin_saml_idp_next(ngx_event_t *ev)
{
    ngx_queue_t                    *q;
    ngx_svc_request_t              *sr;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    while (!ngx_queue_empty(&ngx_svc_admin_saml_idp_queue)) {
        q = ngx_queue_head(&ngx_svc_admin_saml_idp_queue);
        wait = ngx_queue_data(q, ngx_svc_admin_saml_idp_wait_t, queue);
        sr = wait->sr;

        ngx_svc_admin_saml_idp_gone(wait);

        ngx_http_set_log_request(sr->request->connection->log, sr->request);

        ngx_svc_admin_saml_idp_finalize(sr, ngx_svc_admin_saml_idp_again(sr));
    }
}


/* A job that a thread has is freed when the thread returns. */

static void
ngx_svc_admin_saml_idp_gone(void *data)
{
    ngx_svc_admin_saml_idp_wait_t *wait = data;

    if (wait->timer.timer_set) {
        ngx_del_timer(&wait->timer);
    }

    if (wait->waiting) {
        wait->waiting = 0;
        ngx_queue_remove(&wait->queue);
        ngx_svc_admin_saml_idp_nwaiting--;
    }

    if (wait->job) {
        wait->job->wait = NULL;
        wait->job = NULL;

    } else if (wait->makes) {
        ngx_svc_admin_saml_idp_free();
    }

    wait->makes = 0;
}


static void
ngx_svc_admin_saml_idp_late(ngx_event_t *ev)
{
    ngx_svc_request_t              *sr;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    wait = ev->data;
    sr = wait->sr;

    ngx_svc_admin_saml_idp_gone(wait);

    ngx_http_set_log_request(sr->request->connection->log, sr->request);

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "The key could not be made in time: try again.");

    ngx_svc_admin_saml_idp_finalize(sr, ngx_svc_send_error(sr));
}


static void
ngx_svc_admin_saml_idp_finalize(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = sr->request;
    c = r->connection;

    ngx_http_finalize_request(r, rc);

    ngx_http_run_posted_requests(c);
}
