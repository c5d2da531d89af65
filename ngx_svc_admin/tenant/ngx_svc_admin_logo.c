/*
 * /v1/admin/tenant/logo.
 *
 * The credential is checked first, and then a thread decodes the image: that
 * takes longer than other requests should wait.  Each worker decodes one image
 * at a time, since a small body may need hundreds of megabytes to be decoded.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_admin_image.h"
#include "ngx_svc_admin_tenant.h"

#include <ngx_thread_pool.h>


#define NGX_SVC_ADMIN_LOGO_WAITING  8       /* requests of a worker */
#define NGX_SVC_ADMIN_LOGO_TIME     20000   /* ms, the wait included */


/* Allocated from a pool of its own: the thread may outlive the request. */

typedef struct {
    ngx_svc_request_t     *sr;          /* NULL: the request is gone */
    ngx_pool_t            *pool;
    ngx_thread_task_t     *task;
    ngx_http_cleanup_t    *cln;         /* of the request */
    ngx_event_t            timer;       /* keeps a worker from quitting */
    ngx_queue_t            queue;       /* while waiting */
    unsigned               waiting:1;
    ngx_str_t              body;        /* a copy */
    ngx_int_t              rc;
    ngx_svc_image_type_e   type;
    ngx_svc_error_t        error;
} ngx_svc_admin_logo_t;


static ngx_int_t ngx_svc_admin_logo_bind_type(ngx_svc_request_t *sr,
    ngx_svc_pg_call_t *call, const ngx_svc_param_t *param, void *body);
static ngx_int_t ngx_svc_admin_logo_put_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_logo_put_reply(ngx_svc_request_t *sr);
static ngx_svc_admin_logo_t *ngx_svc_admin_logo_create(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_logo_post(ngx_svc_admin_logo_t *logo);
static void ngx_svc_admin_logo_next(void);
static void ngx_svc_admin_logo_gone(void *data);
static void ngx_svc_admin_logo_leave(ngx_svc_admin_logo_t *logo);
static void ngx_svc_admin_logo_late(ngx_event_t *ev);
static void ngx_svc_admin_logo_finalize(ngx_svc_request_t *sr, ngx_int_t rc);
static void ngx_svc_admin_logo_check(void *data, ngx_log_t *log);
static void ngx_svc_admin_logo_checked(ngx_event_t *ev);
static ngx_int_t ngx_svc_admin_logo_verdict(ngx_svc_request_t *sr,
    ngx_svc_admin_logo_t *logo);


#include "ngx_svc_admin_logo.sql.h"


const ngx_svc_route_t  ngx_svc_admin_logo[] = {

    { .method = NGX_HTTP_PUT,
      .path = ngx_string("/admin/tenant/logo"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_RAW,
      .statements = { &ngx_svc_sql_admin_logo_put },
      .object = "tenant",
      .committed = ngx_svc_admin_tenant_committed,
      .prepare = ngx_svc_admin_logo_put_prepare,
      .reply = ngx_svc_admin_logo_put_reply },

    { .method = NGX_HTTP_DELETE,
      .path = ngx_string("/admin/tenant/logo"),
      .permission = NGX_SVC_P_TENANT_MANAGE,
      .flags = NGX_SVC_ROUTE_WRITE_POOL,
      .statements = { &ngx_svc_sql_admin_logo_delete },
      .object = "tenant",
      .committed = ngx_svc_admin_tenant_committed },

    ngx_svc_null_route
};


static ngx_queue_t  ngx_svc_admin_logo_queue = {
    &ngx_svc_admin_logo_queue, &ngx_svc_admin_logo_queue
};

static ngx_uint_t   ngx_svc_admin_logo_nwaiting;
static ngx_uint_t   ngx_svc_admin_logo_running;


/* Checks the credential alone: the statement follows when the image is good. */

static ngx_int_t
ngx_svc_admin_logo_put_prepare(ngx_svc_request_t *sr)
{
    return NGX_OK;
}


/* Called when the credential is good. */

static ngx_int_t
ngx_svc_admin_logo_put_reply(ngx_svc_request_t *sr)
{
    ngx_http_cleanup_t    *cln;
    ngx_svc_admin_logo_t  *logo;

    if (ngx_svc_admin_logo_nwaiting == NGX_SVC_ADMIN_LOGO_WAITING) {
        (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many images wait to be looked at: try "
                            "again.");
        return ngx_svc_send_error(sr);
    }

    cln = ngx_http_cleanup_add(sr->request, 0);
    logo = ngx_svc_admin_logo_create(sr);

    if (logo == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (cln == NULL || ngx_svc_admin_logo_post(logo) != NGX_OK) {
        ngx_destroy_pool(logo->pool);
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_admin_logo_gone;
    cln->data = logo;
    logo->cln = cln;

    logo->timer.handler = ngx_svc_admin_logo_late;
    logo->timer.data = logo;
    logo->timer.log = ngx_cycle->log;
    ngx_add_timer(&logo->timer, NGX_SVC_ADMIN_LOGO_TIME);

    sr->request->main->count++;

    return NGX_DONE;
}


static ngx_svc_admin_logo_t *
ngx_svc_admin_logo_create(ngx_svc_request_t *sr)
{
    ngx_pool_t            *pool;
    ngx_thread_task_t     *task;
    ngx_svc_admin_logo_t  *logo;

    pool = ngx_create_pool(1024, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    task = ngx_thread_task_alloc(pool, sizeof(ngx_svc_admin_logo_t));
    if (task == NULL) {
        goto failed;
    }

    logo = task->ctx;

    logo->sr = sr;
    logo->pool = pool;
    logo->task = task;
    logo->body.len = sr->body.len;
    logo->body.data = ngx_pnalloc(pool, sr->body.len + 1);

    if (logo->body.data == NULL) {
        goto failed;
    }

    ngx_memcpy(logo->body.data, sr->body.data, sr->body.len);

    task->handler = ngx_svc_admin_logo_check;
    task->event.handler = ngx_svc_admin_logo_checked;
    task->event.data = logo;

    return logo;

failed:

    ngx_destroy_pool(pool);

    return NULL;
}


static ngx_int_t
ngx_svc_admin_logo_post(ngx_svc_admin_logo_t *logo)
{
    ngx_svc_admin_main_conf_t  *amcf;

    if (ngx_svc_admin_logo_running) {
        logo->waiting = 1;
        ngx_svc_admin_logo_nwaiting++;
        ngx_queue_insert_tail(&ngx_svc_admin_logo_queue, &logo->queue);
        return NGX_OK;
    }

    amcf = ngx_http_get_module_main_conf(logo->sr->request,
                                         ngx_http_svc_admin_module);

    if (ngx_thread_task_post(amcf->threads, logo->task) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_admin_logo_running = 1;

    return NGX_OK;
}


static void
ngx_svc_admin_logo_next(void)
{
    ngx_queue_t           *q;
    ngx_svc_request_t     *sr;
    ngx_svc_admin_logo_t  *logo;

    while (!ngx_svc_admin_logo_running
           && !ngx_queue_empty(&ngx_svc_admin_logo_queue))
    {
        q = ngx_queue_head(&ngx_svc_admin_logo_queue);
        logo = ngx_queue_data(q, ngx_svc_admin_logo_t, queue);

        ngx_queue_remove(q);
        logo->waiting = 0;
        ngx_svc_admin_logo_nwaiting--;

        if (ngx_svc_admin_logo_post(logo) == NGX_OK) {
            return;
        }

        sr = logo->sr;

        ngx_svc_admin_logo_leave(logo);
        ngx_destroy_pool(logo->pool);

        ngx_svc_admin_logo_finalize(sr, NGX_HTTP_INTERNAL_SERVER_ERROR);
    }
}


/*
 * The request is gone: a job that waits is destroyed, a thread ends what it
 * does.
 */

static void
ngx_svc_admin_logo_gone(void *data)
{
    ngx_svc_admin_logo_t *logo = data;

    ngx_svc_admin_logo_leave(logo);

    if (logo->waiting) {
        ngx_queue_remove(&logo->queue);
        ngx_svc_admin_logo_nwaiting--;
        ngx_destroy_pool(logo->pool);
    }
}


/* Parts the job from its request. */

static void
ngx_svc_admin_logo_leave(ngx_svc_admin_logo_t *logo)
{
    logo->cln->handler = NULL;
    logo->sr = NULL;

    if (logo->timer.timer_set) {
        ngx_del_timer(&logo->timer);
    }
}


static void
ngx_svc_admin_logo_late(ngx_event_t *ev)
{
    ngx_svc_request_t     *sr;
    ngx_svc_admin_logo_t  *logo;

    logo = ev->data;
    sr = logo->sr;

    ngx_svc_admin_logo_gone(logo);

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "The image could not be looked at in time: try "
                        "again.");

    ngx_svc_admin_logo_finalize(sr, ngx_svc_send_error(sr));
}


static void
ngx_svc_admin_logo_finalize(ngx_svc_request_t *sr, ngx_int_t rc)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    r = sr->request;
    c = r->connection;

    ngx_http_finalize_request(r, rc);

    ngx_http_run_posted_requests(c);
}


/* Runs in a thread. */

static void
ngx_svc_admin_logo_check(void *data, ngx_log_t *log)
{
    ngx_svc_admin_logo_t *logo = data;

    logo->rc = ngx_svc_image_check(logo->body.data, logo->body.len,
                                   &logo->type, &logo->error);
}


static void
ngx_svc_admin_logo_checked(ngx_event_t *ev)
{
    ngx_int_t              rc;
    ngx_svc_request_t     *sr;
    ngx_svc_admin_logo_t  *logo;

    logo = ev->data;
    sr = logo->sr;

    ngx_svc_admin_logo_running = 0;
    ngx_svc_admin_logo_next();

    if (sr == NULL) {
        ngx_destroy_pool(logo->pool);
        return;
    }

    ngx_svc_admin_logo_leave(logo);

    ngx_http_set_log_request(sr->request->connection->log, sr->request);

    rc = ngx_svc_admin_logo_verdict(sr, logo);

    ngx_destroy_pool(logo->pool);

    ngx_svc_admin_logo_finalize(sr, rc);
}


static ngx_int_t
ngx_svc_admin_logo_verdict(ngx_svc_request_t *sr, ngx_svc_admin_logo_t *logo)
{
    if (logo->rc == NGX_DECLINED) {
        (void) ngx_svc_fail(&sr->error, logo->error.kind, "%*s",
                            logo->error.len, logo->error.detail);
        return ngx_svc_send_error(sr);
    }

    if (logo->rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sr->data = (void *) ngx_svc_image_content_type(logo->type);

    return ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_route_prepare, ngx_svc_route_reply);
}


static ngx_int_t
ngx_svc_admin_logo_bind_type(ngx_svc_request_t *sr, ngx_svc_pg_call_t *call,
    const ngx_svc_param_t *param, void *body)
{
    ngx_svc_pg_bind_str(call, sr->data);

    return NGX_OK;
}
