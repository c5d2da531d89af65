/*
 * In the helper: the backlogs of endpoints, which are deliveries that wait.
 */

#include "ngx_svc_webhook_backlog.h"


#define NGX_SVC_WEBHOOK_STREAK         5       /* attempts in a row */
#define NGX_SVC_WEBHOOK_BACKLOG_PAUSE  1000    /* ms, doubled each time */
#define NGX_SVC_WEBHOOK_TIMEOUTS       3       /* timeouts of no answer */
#define NGX_SVC_WEBHOOK_FEW            100     /* jobs it may have then */
#define NGX_SVC_WEBHOOK_UNCONFIRMED    64      /* acknowledged deliveries of an
                                                  endpoint */
#define NGX_SVC_WEBHOOK_IDLE_TIMEOUT   60000   /* ms that an idle backlog is
                                                  kept */
#define NGX_SVC_WEBHOOK_IDLE_MAX       10000   /* idle backlogs, at most */


struct ngx_svc_webhook_tenant_s {
    ngx_str_node_t              node;       /* by the tenant's id */
    ngx_queue_t                 queue;      /* in the ring of all, if ready */
    ngx_queue_t                 ring;       /* backlogs that are ready */
    ngx_uint_t                  nactive;
    ngx_uint_t                  nbacklogs;
    unsigned                    ready:1;
    unsigned                    loading:1;
    u_char                      id[NGX_SVC_UUID_TEXT_LEN];
};


struct ngx_svc_webhook_backlog_s {
    ngx_str_node_t              node;       /* by tenant and endpoint */
    ngx_svc_webhook_tenant_t   *tenant;
    ngx_queue_t                 queue;      /* in the tenant's ring, or in
                                               idle */
    ngx_queue_t                 waiting;
    ngx_uint_t                  nactive;
    ngx_uint_t                  njobs;
    ngx_uint_t                  nunconfirmed; /* acknowledged, and Redis has not
                                                 confirmed it */
    ngx_uint_t                  streak;     /* attempts in a row without an
                                               answer */
    ngx_uint_t                  lingering;  /* answers in a row that did not
                                               end */
    ngx_event_t                 pause;      /* timer after answers that did not
                                               end */
    ngx_msec_t                  failing;    /* when the streak began */
    ngx_msec_t                  idle;       /* since when it is idle */
    unsigned                    ready:1;
    unsigned                    connected:1;
    u_char                      key[2 * NGX_SVC_UUID_TEXT_LEN];
};


typedef struct {
    ngx_rbtree_t                tenants;
    ngx_rbtree_node_t           tenants_sentinel;
    ngx_rbtree_t                backlogs;
    ngx_rbtree_node_t           backlogs_sentinel;
    ngx_queue_t                 ring;       /* tenants that are ready */
    ngx_queue_t                 idle;       /* backlogs without jobs, oldest
                                               first */
    ngx_uint_t                  nidle;
    void                      (*wake)(void);
} ngx_svc_webhook_backlogs_t;


static ngx_svc_webhook_backlog_t *ngx_svc_webhook_backlog_create(
    ngx_svc_webhook_delivery_t *d, ngx_str_t *key, uint32_t hash);
static ngx_svc_webhook_tenant_t *ngx_svc_webhook_tenant(ngx_str_t *id);
static void ngx_svc_webhook_backlog_rest(ngx_svc_webhook_backlog_t *backlog);
static void ngx_svc_webhook_backlog_free(ngx_svc_webhook_backlog_t *backlog);
static void ngx_svc_webhook_backlogs_trim(void);
static void ngx_svc_webhook_backlog_pause(ngx_svc_webhook_backlog_t *backlog);
static void ngx_svc_webhook_backlog_paused(ngx_event_t *ev);
static void ngx_svc_webhook_backlog_update(ngx_svc_webhook_backlog_t *backlog);
static void ngx_svc_webhook_tenant_update(ngx_svc_webhook_tenant_t *tenant);


static ngx_svc_webhook_backlogs_t  ngx_svc_webhook_backlogs;


void
ngx_svc_webhook_backlogs_init(void (*wake)(void))
{
    ngx_svc_webhook_backlogs_t  *backlogs;

    backlogs = &ngx_svc_webhook_backlogs;

    ngx_rbtree_init(&backlogs->tenants, &backlogs->tenants_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_rbtree_init(&backlogs->backlogs, &backlogs->backlogs_sentinel,
                    ngx_str_rbtree_insert_value);

    ngx_queue_init(&backlogs->ring);
    ngx_queue_init(&backlogs->idle);
    backlogs->nidle = 0;
    backlogs->wake = wake;
}


/* All backlogs are idle, except those with unconfirmed acknowledgements. */

void
ngx_svc_webhook_backlogs_exit(void)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_svc_webhook_backlogs.idle)) {
        q = ngx_queue_head(&ngx_svc_webhook_backlogs.idle);
        ngx_svc_webhook_backlog_free(ngx_queue_data(q,
                                                    ngx_svc_webhook_backlog_t,
                                                    queue));
    }
}


ngx_svc_webhook_backlog_t *
ngx_svc_webhook_backlog(ngx_svc_webhook_delivery_t *d)
{
    u_char                      text[2 * NGX_SVC_UUID_TEXT_LEN];
    uint32_t                    hash;
    ngx_str_t                   key;
    ngx_svc_webhook_backlog_t  *backlog;

    key.data = text;
    key.len = ngx_snprintf(text, sizeof(text), "%V%V", &d->tenant,
                           &d->endpoint)
              - text;
    hash = ngx_crc32_short(key.data, key.len);

    backlog = (ngx_svc_webhook_backlog_t *)
                  ngx_str_rbtree_lookup(&ngx_svc_webhook_backlogs.backlogs,
                                        &key, hash);

    if (backlog == NULL) {
        backlog = ngx_svc_webhook_backlog_create(d, &key, hash);
        if (backlog == NULL) {
            return NULL;
        }

    } else if (backlog->njobs == 0 && backlog->nunconfirmed == 0) {
        ngx_queue_remove(&backlog->queue);
        ngx_svc_webhook_backlogs.nidle--;
    }

    backlog->njobs++;

    return backlog;
}


static ngx_svc_webhook_backlog_t *
ngx_svc_webhook_backlog_create(ngx_svc_webhook_delivery_t *d, ngx_str_t *key,
    uint32_t hash)
{
    ngx_svc_webhook_backlog_t  *backlog;
    ngx_svc_webhook_tenant_t   *tenant;

    ngx_svc_webhook_backlogs_trim();

    backlog = ngx_calloc(sizeof(ngx_svc_webhook_backlog_t), ngx_cycle->log);
    if (backlog == NULL) {
        return NULL;
    }

    tenant = ngx_svc_webhook_tenant(&d->tenant);
    if (tenant == NULL) {
        ngx_free(backlog);
        return NULL;
    }

    tenant->nbacklogs++;

    ngx_memcpy(backlog->key, key->data, key->len);

    backlog->tenant = tenant;
    backlog->node.node.key = hash;
    backlog->node.str.data = backlog->key;
    backlog->node.str.len = key->len;
    ngx_queue_init(&backlog->waiting);

    backlog->pause.handler = ngx_svc_webhook_backlog_paused;
    backlog->pause.data = backlog;
    backlog->pause.log = ngx_cycle->log;
    backlog->pause.cancelable = 1;

    ngx_rbtree_insert(&ngx_svc_webhook_backlogs.backlogs, &backlog->node.node);

    return backlog;
}


static ngx_svc_webhook_tenant_t *
ngx_svc_webhook_tenant(ngx_str_t *id)
{
    uint32_t                   hash;
    ngx_svc_webhook_tenant_t  *tenant;

    hash = ngx_crc32_short(id->data, id->len);

    tenant = (ngx_svc_webhook_tenant_t *)
                 ngx_str_rbtree_lookup(&ngx_svc_webhook_backlogs.tenants, id,
                                       hash);
    if (tenant) {
        return tenant;
    }

    tenant = ngx_calloc(sizeof(ngx_svc_webhook_tenant_t), ngx_cycle->log);
    if (tenant == NULL) {
        return NULL;
    }

    tenant->node.node.key = hash;
    tenant->node.str.data = tenant->id;
    tenant->node.str.len = ngx_min(id->len, sizeof(tenant->id));
    ngx_memcpy(tenant->id, id->data, tenant->node.str.len);
    ngx_queue_init(&tenant->ring);

    ngx_rbtree_insert(&ngx_svc_webhook_backlogs.tenants, &tenant->node.node);

    return tenant;
}


/* Keeps a backlog for a while, since it knows how its endpoint has answered. */

void
ngx_svc_webhook_backlog_release(ngx_svc_webhook_backlog_t *backlog)
{
    backlog->njobs--;
    ngx_svc_webhook_backlog_rest(backlog);
}


static void
ngx_svc_webhook_backlog_rest(ngx_svc_webhook_backlog_t *backlog)
{
    if (backlog->njobs || backlog->nunconfirmed) {
        return;
    }

    backlog->idle = ngx_current_msec;

    ngx_queue_insert_tail(&ngx_svc_webhook_backlogs.idle, &backlog->queue);
    ngx_svc_webhook_backlogs.nidle++;
}


static void
ngx_svc_webhook_backlog_free(ngx_svc_webhook_backlog_t *backlog)
{
    ngx_svc_webhook_backlogs_t  *backlogs;
    ngx_svc_webhook_tenant_t    *tenant;

    backlogs = &ngx_svc_webhook_backlogs;
    tenant = backlog->tenant;

    ngx_queue_remove(&backlog->queue);
    backlogs->nidle--;

    if (backlog->pause.timer_set) {
        ngx_del_timer(&backlog->pause);
    }

    ngx_rbtree_delete(&backlogs->backlogs, &backlog->node.node);
    ngx_free(backlog);

    if (--tenant->nbacklogs == 0) {
        ngx_rbtree_delete(&backlogs->tenants, &tenant->node.node);
        ngx_free(tenant);
    }
}


/*
 * Frees up to two idle backlogs for each new one, so that the work is spread.
 */

static void
ngx_svc_webhook_backlogs_trim(void)
{
    ngx_uint_t                   i;
    ngx_queue_t                 *q;
    ngx_svc_webhook_backlog_t   *backlog;
    ngx_svc_webhook_backlogs_t  *backlogs;

    backlogs = &ngx_svc_webhook_backlogs;

    for (i = 0; i < 2 && !ngx_queue_empty(&backlogs->idle); i++) {
        q = ngx_queue_head(&backlogs->idle);
        backlog = ngx_queue_data(q, ngx_svc_webhook_backlog_t, queue);

        if (ngx_current_msec - backlog->idle < NGX_SVC_WEBHOOK_IDLE_TIMEOUT
            && backlogs->nidle < NGX_SVC_WEBHOOK_IDLE_MAX)
        {
            return;
        }

        ngx_svc_webhook_backlog_free(backlog);
    }
}


void
ngx_svc_webhook_backlog_wait(ngx_svc_webhook_job_t *job)
{
    job->waiting = 1;
    ngx_queue_insert_tail(&job->backlog->waiting, &job->queue);

    ngx_svc_webhook_backlog_update(job->backlog);
}


void
ngx_svc_webhook_backlog_unwait(ngx_svc_webhook_job_t *job)
{
    if (!job->waiting) {
        return;
    }

    job->waiting = 0;
    ngx_queue_remove(&job->queue);

    ngx_svc_webhook_backlog_update(job->backlog);
}


void
ngx_svc_webhook_backlog_enter(ngx_svc_webhook_backlog_t *backlog)
{
    backlog->nactive++;
    backlog->tenant->nactive++;

    ngx_svc_webhook_backlog_update(backlog);
}


void
ngx_svc_webhook_backlog_leave(ngx_svc_webhook_backlog_t *backlog)
{
    backlog->nactive--;
    backlog->tenant->nactive--;

    ngx_svc_webhook_backlog_update(backlog);
}


void
ngx_svc_webhook_backlog_acked(ngx_svc_webhook_backlog_t *backlog)
{
    backlog->nunconfirmed++;

    ngx_svc_webhook_backlog_update(backlog);
}


void
ngx_svc_webhook_backlog_confirmed(ngx_svc_webhook_backlog_t *backlog)
{
    backlog->nunconfirmed--;

    ngx_svc_webhook_backlog_update(backlog);
    ngx_svc_webhook_backlog_rest(backlog);
}


void
ngx_svc_webhook_backlog_result(ngx_svc_webhook_backlog_t *backlog,
    ngx_svc_outbound_result_t *result)
{
    backlog->lingering = result->lingered ? backlog->lingering + 1 : 0;
    backlog->connected = !result->unreachable && !result->lingered;

    if (backlog->lingering >= NGX_SVC_WEBHOOK_STREAK) {
        ngx_svc_webhook_backlog_pause(backlog);
    }

    if (!result->unreachable) {
        backlog->streak = 0;

    } else if (backlog->streak++ == 0) {
        backlog->failing = ngx_current_msec;
    }

    ngx_svc_webhook_backlog_update(backlog);
}


/*
 * Each answer that does not end costs the next attempt a new connection, and
 * all others wait for its handshake.
 */

static void
ngx_svc_webhook_backlog_pause(ngx_svc_webhook_backlog_t *backlog)
{
    ngx_uint_t  n;
    ngx_msec_t  pause;

    n = backlog->lingering - NGX_SVC_WEBHOOK_STREAK;
    pause = NGX_SVC_WEBHOOK_BACKLOG_PAUSE << ngx_min(n, 10);

    ngx_add_timer(&backlog->pause,
                  ngx_min(pause, ngx_svc_webhook_conf()->timeout));
}


static void
ngx_svc_webhook_backlog_paused(ngx_event_t *ev)
{
    ngx_svc_webhook_backlog_update(ev->data);
    ngx_svc_webhook_backlogs.wake();
}


/*
 * Puts a backlog into its tenant's ring, or takes it out, and the tenant, too.
 * An endpoint that does not answer, or whose answers do not end, gets one
 * attempt at a time.  Deliveries that it has acknowledged would come again if
 * we were killed before Redis has confirmed that, so their number is limited.
 */

static void
ngx_svc_webhook_backlog_update(ngx_svc_webhook_backlog_t *backlog)
{
    ngx_uint_t  ready, limit;

    limit = ngx_svc_webhook_backlog_failing(backlog)
            || backlog->lingering >= NGX_SVC_WEBHOOK_STREAK
            ? 1 : ngx_svc_webhook_conf()->endpoint_concurrency;

    ready = !ngx_queue_empty(&backlog->waiting) && backlog->nactive < limit
            && backlog->nunconfirmed < NGX_SVC_WEBHOOK_UNCONFIRMED
            && !backlog->pause.timer_set;

    if (ready && !backlog->ready) {
        ngx_queue_insert_tail(&backlog->tenant->ring, &backlog->queue);

    } else if (!ready && backlog->ready) {
        ngx_queue_remove(&backlog->queue);
    }

    backlog->ready = ready;

    ngx_svc_webhook_tenant_update(backlog->tenant);
}


static void
ngx_svc_webhook_tenant_update(ngx_svc_webhook_tenant_t *tenant)
{
    ngx_uint_t  ready;

    ready = !tenant->loading && !ngx_queue_empty(&tenant->ring)
            && tenant->nactive < ngx_svc_webhook_conf()->tenant_concurrency;

    if (ready && !tenant->ready) {
        ngx_queue_insert_tail(&ngx_svc_webhook_backlogs.ring, &tenant->queue);

    } else if (!ready && tenant->ready) {
        ngx_queue_remove(&tenant->queue);
    }

    tenant->ready = ready;
}


ngx_uint_t
ngx_svc_webhook_backlog_connected(ngx_svc_webhook_backlog_t *backlog)
{
    return backlog->connected;
}


ngx_uint_t
ngx_svc_webhook_backlog_failing(ngx_svc_webhook_backlog_t *backlog)
{
    return backlog->streak >= NGX_SVC_WEBHOOK_STREAK;
}


ngx_svc_webhook_job_t *
ngx_svc_webhook_backlog_overflow(ngx_svc_webhook_backlog_t *backlog)
{
    ngx_uint_t               limit;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();
    limit = wcf->endpoint_capacity;

    if (ngx_svc_webhook_backlog_failing(backlog)
        && ngx_current_msec - backlog->failing
           > NGX_SVC_WEBHOOK_TIMEOUTS * wcf->timeout)
    {
        limit = ngx_min(limit, NGX_SVC_WEBHOOK_FEW);
    }

    if (backlog->njobs <= limit || ngx_queue_empty(&backlog->waiting)) {
        return NULL;
    }

    return ngx_queue_data(ngx_queue_last(&backlog->waiting),
                          ngx_svc_webhook_job_t, queue);
}


/*
 * Tenants with too many attempts under way are skipped, and keep their place.
 * Each of them has an attempt under way, so they are few.
 */

ngx_svc_webhook_tenant_t *
ngx_svc_webhook_tenant_next(ngx_uint_t nfree)
{
    ngx_queue_t               *q, *ring;
    ngx_svc_webhook_tenant_t  *tenant;

    ring = &ngx_svc_webhook_backlogs.ring;

    for (q = ngx_queue_head(ring);
         q != ngx_queue_sentinel(ring);
         q = ngx_queue_next(q))
    {
        tenant = ngx_queue_data(q, ngx_svc_webhook_tenant_t, queue);

        if (tenant->nactive < nfree) {
            ngx_queue_remove(q);
            ngx_queue_insert_tail(ring, q);

            return tenant;
        }
    }

    return NULL;
}


ngx_svc_webhook_job_t *
ngx_svc_webhook_tenant_job(ngx_svc_webhook_tenant_t *tenant)
{
    ngx_queue_t                *q;
    ngx_svc_webhook_backlog_t  *backlog;

    q = ngx_queue_head(&tenant->ring);

    ngx_queue_remove(q);
    ngx_queue_insert_tail(&tenant->ring, q);

    backlog = ngx_queue_data(q, ngx_svc_webhook_backlog_t, queue);
    q = ngx_queue_head(&backlog->waiting);

    return ngx_queue_data(q, ngx_svc_webhook_job_t, queue);
}


void
ngx_svc_webhook_tenant_load(ngx_svc_webhook_tenant_t *tenant)
{
    tenant->loading = 1;
    ngx_svc_webhook_tenant_update(tenant);
}


void
ngx_svc_webhook_tenant_loaded(ngx_str_t *id)
{
    uint32_t                   hash;
    ngx_svc_webhook_tenant_t  *tenant;

    hash = ngx_crc32_short(id->data, id->len);

    tenant = (ngx_svc_webhook_tenant_t *)
                 ngx_str_rbtree_lookup(&ngx_svc_webhook_backlogs.tenants, id,
                                       hash);
    if (tenant) {
        tenant->loading = 0;
        ngx_svc_webhook_tenant_update(tenant);
    }
}
