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
#include "ngx_svc_saml_key.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_work.h"


#define NGX_SVC_ADMIN_SAML_IDP_WAITING  64      /* requests of a worker */
#define NGX_SVC_ADMIN_SAML_IDP_TIME     20000   /* ms, of each wait */


/* Allocated from the request's pool; sr->data points to it. */

typedef struct {
    ngx_svc_request_t             *sr;
    const ngx_svc_saml_key_t      *key;         /* while it is bound */
    ngx_event_t                    timer;       /* keeps a worker from
                                                   quitting */
    ngx_queue_t                    queue;       /* while waiting */
    unsigned                       waiting:1;
    unsigned                       stores:1;    /* 1: stores the worker's
                                                   key */
} ngx_svc_admin_saml_idp_wait_t;

typedef struct {
    ngx_svc_work_t                  work;
    ngx_svc_admin_saml_idp_wait_t  *wait;
    ngx_int_t                       rc;
    ngx_uint_t                      stores;     /* 1: the request stores the
                                                   key, or has failed to */
    ngx_svc_saml_key_t              key;
} ngx_svc_admin_saml_idp_job_t;


static ngx_svc_admin_saml_idp_wait_t *ngx_svc_admin_saml_idp_create(
    ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_saml_idp_post(
    ngx_svc_admin_saml_idp_wait_t *wait, const ngx_str_t *slug);
static ngx_int_t ngx_svc_admin_saml_idp_wait(
    ngx_svc_admin_saml_idp_wait_t *wait);
static void ngx_svc_admin_saml_idp_run(ngx_svc_work_t *work);
static void ngx_svc_admin_saml_idp_made(ngx_svc_work_t *work);
static void ngx_svc_admin_saml_idp_wipe(ngx_svc_work_t *work);
static ngx_int_t ngx_svc_admin_saml_idp_store(
    ngx_svc_admin_saml_idp_job_t *job);
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
static ngx_int_t ngx_svc_admin_saml_idp_too_late(ngx_svc_request_t *sr);


#include "ngx_svc_admin_saml_idp_key.sql.h"


static ngx_queue_t  ngx_svc_admin_saml_idp_queue = {
    &ngx_svc_admin_saml_idp_queue, &ngx_svc_admin_saml_idp_queue
};

static ngx_svc_work_queue_t  ngx_svc_admin_saml_idp_jobs =
    ngx_svc_work_queue(ngx_svc_admin_saml_idp_jobs, 1, 0,
                       NGX_SVC_ADMIN_SAML_IDP_TIME);

static ngx_uint_t   ngx_svc_admin_saml_idp_nwaiting;
static ngx_uint_t   ngx_svc_admin_saml_idp_busy;
static ngx_event_t  ngx_svc_admin_saml_idp_wake;


ngx_int_t
ngx_svc_admin_saml_idp_make(ngx_svc_request_t *sr, const ngx_str_t *slug)
{
    ngx_int_t                       rc;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    if (ngx_svc_sealed_able(sr) != NGX_OK) {
        return ngx_svc_send_error(sr);
    }

    wait = sr->data ? sr->data : ngx_svc_admin_saml_idp_create(sr);
    if (wait == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_admin_saml_idp_busy
         ? ngx_svc_admin_saml_idp_wait(wait)
         : ngx_svc_admin_saml_idp_post(wait, slug);

    if (rc == NGX_BUSY) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many keys are being made: try again.");
        return ngx_svc_send_error(sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

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
ngx_svc_admin_saml_idp_wait(ngx_svc_admin_saml_idp_wait_t *wait)
{
    if (ngx_svc_admin_saml_idp_nwaiting == NGX_SVC_ADMIN_SAML_IDP_WAITING) {
        return NGX_BUSY;
    }

    wait->waiting = 1;
    ngx_svc_admin_saml_idp_nwaiting++;
    ngx_queue_insert_tail(&ngx_svc_admin_saml_idp_queue, &wait->queue);

    ngx_add_timer(&wait->timer, NGX_SVC_ADMIN_SAML_IDP_TIME);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_saml_idp_post(ngx_svc_admin_saml_idp_wait_t *wait,
    const ngx_str_t *slug)
{
    ngx_str_t                      name;
    ngx_svc_admin_saml_idp_job_t  *job;

    job = ngx_svc_work_create(&ngx_svc_admin_saml_idp_jobs,
                              wait->sr->request->pool,
                              sizeof(ngx_svc_admin_saml_idp_job_t));
    if (job == NULL) {
        return NGX_ERROR;
    }

    job->work.run = ngx_svc_admin_saml_idp_run;
    job->work.handler = ngx_svc_admin_saml_idp_made;
    job->work.wipe = ngx_svc_admin_saml_idp_wipe;
    job->wait = wait;

    ngx_svc_row_copy(&name, job->key.name, NGX_SVC_SAML_KEY_NAME, slug);

    ngx_svc_admin_saml_idp_busy = 1;

    return ngx_svc_work_post(&job->work);
}


/* Runs in a thread. */

static void
ngx_svc_admin_saml_idp_run(ngx_svc_work_t *work)
{
    ngx_svc_admin_saml_idp_job_t  *job;

    job = (ngx_svc_admin_saml_idp_job_t *) work;

    job->rc = ngx_svc_saml_key_make(&job->key);

    ngx_svc_crypto_thread_end();
}


static void
ngx_svc_admin_saml_idp_made(ngx_svc_work_t *work)
{
    ngx_int_t                      rc;
    ngx_svc_request_t             *sr;
    ngx_svc_admin_saml_idp_job_t  *job;

    job = (ngx_svc_admin_saml_idp_job_t *) work;
    sr = job->wait->sr;

    ngx_http_set_log_request(sr->request->connection->log, sr->request);

    rc = work->rc == NGX_BUSY ? ngx_svc_admin_saml_idp_too_late(sr)
                              : ngx_svc_admin_saml_idp_store(job);

    ngx_svc_work_finalize(sr->request, rc);
}


/* Another key may be made now, unless a request is storing this one. */

static void
ngx_svc_admin_saml_idp_wipe(ngx_svc_work_t *work)
{
    ngx_svc_admin_saml_idp_job_t  *job;

    job = (ngx_svc_admin_saml_idp_job_t *) work;

    ngx_explicit_memzero(&job->key, sizeof(ngx_svc_saml_key_t));

    if (!job->stores) {
        ngx_svc_admin_saml_idp_free();
    }
}


static ngx_int_t
ngx_svc_admin_saml_idp_store(ngx_svc_admin_saml_idp_job_t *job)
{
    ngx_int_t                       rc;
    ngx_svc_request_t              *sr;
    ngx_svc_admin_saml_idp_wait_t  *wait;

    wait = job->wait;
    sr = wait->sr;

    if (job->work.rc != NGX_OK || job->rc != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, sr->request->connection->log, 0,
                      "svc: OpenSSL could not make a key for SAML");
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /*
     * a new id for the key: the request's statements have used the present one
     */
    sr->new_id = NULL;

    wait->key = &job->key;
    wait->stores = 1;
    job->stores = 1;

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

    wait->stores = 0;
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

        ngx_svc_work_finalize(sr->request, ngx_svc_admin_saml_idp_again(sr));
    }
}


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

    if (wait->stores) {
        wait->stores = 0;
        ngx_svc_admin_saml_idp_free();
    }
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

    ngx_svc_work_finalize(sr->request, ngx_svc_admin_saml_idp_too_late(sr));
}


static ngx_int_t
ngx_svc_admin_saml_idp_too_late(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "The key could not be made in time: try again.");

    return ngx_svc_send_error(sr);
}
