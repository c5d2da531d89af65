/*
 * RSA keys of tenants.
 *
 * A thread takes some tenths of a second to make a key.  Requests of the tenant
 * that come meanwhile wait for the same key, and each of them tries to store
 * it.  PostgreSQL keeps the first key that any worker stores, and all requests
 * then read that one.
 */

#include "ngx_svc_oauth_make.h"
#include "ngx_svc_oauth_key.h"


#define NGX_SVC_OAUTH_MAKE_WAITING  256     /* tenants, in a worker */
#define NGX_SVC_OAUTH_MAKE_TIME     20000   /* ms */


/* A request that waits for a key.  It is of the request's pool. */

typedef struct {
    ngx_svc_oauth_t  *oauth;
    ngx_int_t       (*made)(ngx_svc_oauth_t *o);
    ngx_queue_t       queue;
    ngx_uint_t        waits;
} ngx_svc_oauth_make_wait_t;


static ngx_svc_oauth_make_t *ngx_svc_oauth_make_create(const u_char *tenant,
    ngx_svc_work_pt handler);
static ngx_int_t ngx_svc_oauth_make_find(const ngx_str_t *tenant,
    ngx_svc_oauth_make_t **make);
static void ngx_svc_oauth_make_gone(void *data);
static void ngx_svc_oauth_make_run(ngx_svc_work_t *work);
static void ngx_svc_oauth_make_done(ngx_svc_work_t *work);
static ngx_int_t ngx_svc_oauth_make_keys(ngx_svc_oauth_t *o,
    const ngx_svc_jwk_new_t *rsa);
static ngx_int_t ngx_svc_oauth_make_take(
    const ngx_svc_oauth_make_wait_t *wait, const ngx_svc_oauth_make_t *make);
static void ngx_svc_oauth_make_wipe(ngx_svc_work_t *work);


#include "ngx_svc_oauth_make.sql.h"


static ngx_svc_work_queue_t  ngx_svc_oauth_make_queue =
    ngx_svc_work_queue(ngx_svc_oauth_make_queue, 1, NGX_SVC_OAUTH_MAKE_WAITING,
                       NGX_SVC_OAUTH_MAKE_TIME);

static ngx_queue_t  ngx_svc_oauth_makes = {
    &ngx_svc_oauth_makes, &ngx_svc_oauth_makes
};


ngx_int_t
ngx_svc_oauth_make(ngx_svc_oauth_t *o, ngx_int_t (*made)(ngx_svc_oauth_t *o))
{
    ngx_int_t                   rc;
    ngx_http_cleanup_t         *cln;
    ngx_svc_oauth_make_t       *make;
    ngx_svc_oauth_make_wait_t  *wait;

    make = NULL;
    cln = ngx_http_cleanup_add(o->sr->request, 0);
    wait = ngx_pcalloc(o->sr->request->pool,
                       sizeof(ngx_svc_oauth_make_wait_t));

    rc = cln && wait ? ngx_svc_oauth_make_find(&o->tenant, &make) : NGX_ERROR;

    if (rc == NGX_BUSY) {
        return ngx_svc_send_busy(o->sr);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_svc_oauth_make_gone;
    cln->data = wait;

    wait->oauth = o;
    wait->made = made;
    wait->waits = 1;
    ngx_queue_insert_tail(&make->waiting, &wait->queue);

    o->sr->request->main->count++;

    return NGX_DONE;
}


ngx_int_t
ngx_svc_oauth_make_key(const u_char *tenant, ngx_svc_work_pt handler)
{
    ngx_svc_oauth_make_t  *make;

    make = ngx_svc_oauth_make_create(tenant, handler);

    return make ? ngx_svc_work_post(&make->work) : NGX_ERROR;
}


/*
 * Creates the work that makes a key.  It has no owner: a request that waits for
 * the key may end, and others may come.
 */

static ngx_svc_oauth_make_t *
ngx_svc_oauth_make_create(const u_char *tenant, ngx_svc_work_pt handler)
{
    ngx_svc_oauth_make_t  *make;

    make = ngx_svc_work_create(&ngx_svc_oauth_make_queue, NULL,
                               sizeof(ngx_svc_oauth_make_t));
    if (make == NULL) {
        return NULL;
    }

    make->work.run = ngx_svc_oauth_make_run;
    make->work.handler = handler;
    make->work.wipe = ngx_svc_oauth_make_wipe;

    ngx_memcpy(make->tenant, tenant, NGX_SVC_UUID_LEN);

    ngx_queue_init(&make->queue);
    ngx_queue_init(&make->waiting);

    return make;
}


/* Finds the key that is being made for the tenant, or has a new one made. */

static ngx_int_t
ngx_svc_oauth_make_find(const ngx_str_t *tenant, ngx_svc_oauth_make_t **make)
{
    ngx_int_t     rc;
    ngx_queue_t  *q;

    for (q = ngx_queue_head(&ngx_svc_oauth_makes);
         q != ngx_queue_sentinel(&ngx_svc_oauth_makes);
         q = ngx_queue_next(q))
    {
        *make = ngx_queue_data(q, ngx_svc_oauth_make_t, queue);

        if (ngx_memcmp((*make)->tenant, tenant->data, NGX_SVC_UUID_LEN) == 0) {
            return NGX_OK;
        }
    }

    *make = ngx_svc_oauth_make_create(tenant->data, ngx_svc_oauth_make_done);
    if (*make == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_work_post(&(*make)->work);

    if (rc == NGX_OK) {
        ngx_queue_insert_tail(&ngx_svc_oauth_makes, &(*make)->queue);
    }

    return rc;
}


static void
ngx_svc_oauth_make_gone(void *data)
{
    ngx_svc_oauth_make_wait_t *wait = data;

    if (wait->waits) {
        wait->waits = 0;
        ngx_queue_remove(&wait->queue);
    }
}


static void
ngx_svc_oauth_make_run(ngx_svc_work_t *work)
{
    ngx_svc_oauth_make_t  *make;

    make = (ngx_svc_oauth_make_t *) work;

    make->rc = ngx_svc_jwk_rsa_generate(&make->new);
}


static void
ngx_svc_oauth_make_done(ngx_svc_work_t *work)
{
    ngx_queue_t                *q;
    ngx_http_request_t         *r;
    ngx_svc_oauth_make_t       *make;
    ngx_svc_oauth_make_wait_t  *wait;

    make = (ngx_svc_oauth_make_t *) work;

    /* a request that comes from now on has another key made */

    ngx_queue_remove(&make->queue);
    ngx_queue_init(&make->queue);

    while (!ngx_queue_empty(&make->waiting)) {
        q = ngx_queue_head(&make->waiting);
        wait = ngx_queue_data(q, ngx_svc_oauth_make_wait_t, queue);
        r = wait->oauth->sr->request;

        ngx_svc_oauth_make_gone(wait);

        ngx_http_set_log_request(r->connection->log, r);

        ngx_svc_work_finalize(r, ngx_svc_oauth_make_take(wait, make));
    }
}


static ngx_int_t
ngx_svc_oauth_make_take(const ngx_svc_oauth_make_wait_t *wait,
    const ngx_svc_oauth_make_t *make)
{
    ngx_svc_oauth_t  *o;

    o = wait->oauth;

    if (make->work.rc == NGX_BUSY) {
        return ngx_svc_send_busy(o->sr);
    }

    if (make->work.rc != NGX_OK || make->rc != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, o->sr->request->connection->log, 0,
                      "svc: an RSA key could not be made");
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    o->key_first = &ngx_svc_sql_oauth_key_first_rsa;

    return ngx_svc_oauth_make_keys(o, &make->new) == NGX_OK
           ? wait->made(o) : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


/*
 * Sets both keys that a tenant begins with: a new one of P-256, and the one of
 * RSA, which signs.
 */

static ngx_int_t
ngx_svc_oauth_make_keys(ngx_svc_oauth_t *o, const ngx_svc_jwk_new_t *rsa)
{
    if (ngx_svc_oauth_key_new(o) != NGX_OK) {
        return NGX_ERROR;
    }

    o->ec_kid = o->kid;
    o->ec_jwk = o->jwk;
    o->ec_sealed = o->sealed;

    return ngx_svc_oauth_key_take(o, rsa);
}


static void
ngx_svc_oauth_make_wipe(ngx_svc_work_t *work)
{
    ngx_svc_oauth_make_t  *make;

    make = (ngx_svc_oauth_make_t *) work;

    ngx_queue_remove(&make->queue);

    ngx_explicit_memzero(&make->new, sizeof(ngx_svc_jwk_new_t));
}
