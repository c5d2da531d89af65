/*
 * The lines that deliveries wait in.
 */

#include "ngx_svc_webhook_lane.h"


#define NGX_SVC_WEBHOOK_STREAK   5          /* attempts that got no answer */
#define NGX_SVC_WEBHOOK_PAUSE    1000       /* ms, twice as long each time */
#define NGX_SVC_WEBHOOK_PATIENCE 3          /* timeouts, with such a one */
#define NGX_SVC_WEBHOOK_FEW      100        /* jobs that it may hold then */
#define NGX_SVC_WEBHOOK_UNTOLD   64         /* of an endpoint */
#define NGX_SVC_WEBHOOK_LINGER   60000      /* ms, of a lane without jobs */
#define NGX_SVC_WEBHOOK_IDLERS   10000      /* of those, at most */


struct ngx_svc_webhook_tenant_s {
    ngx_str_node_t              node;       /* its id */
    ngx_queue_t                 queue;      /* in the ring, while ready */
    ngx_queue_t                 ring;       /* of lanes that are ready */
    ngx_uint_t                  nactive;
    ngx_uint_t                  nlanes;
    unsigned                    ready:1;
    unsigned                    loading:1;
    u_char                      id[NGX_SVC_UUID_TEXT_LEN];
};


struct ngx_svc_webhook_lane_s {
    ngx_str_node_t              node;       /* tenant and endpoint */
    ngx_svc_webhook_tenant_t   *tenant;
    ngx_queue_t                 queue;      /* in the tenant's ring, or idle */
    ngx_queue_t                 waiting;
    ngx_uint_t                  nactive;
    ngx_uint_t                  njobs;
    ngx_uint_t                  nuntold;    /* to Redis, that they are
                                               acknowledged */
    ngx_uint_t                  streak;     /* of attempts without an answer */
    ngx_uint_t                  lingering;  /* of answers that did not end */
    ngx_event_t                 pause;      /* a timer, behind such a one */
    ngx_msec_t                  failing;    /* since */
    ngx_msec_t                  idle;       /* since */
    unsigned                    ready:1;
    unsigned                    connected:1;
    u_char                      key[2 * NGX_SVC_UUID_TEXT_LEN];
};


typedef struct {
    ngx_rbtree_t                tenants;
    ngx_rbtree_node_t           tenants_sentinel;
    ngx_rbtree_t                lanes;
    ngx_rbtree_node_t           lanes_sentinel;
    ngx_queue_t                 ring;       /* of tenants that are ready */
    ngx_queue_t                 idle;       /* the oldest one first */
    ngx_uint_t                  nidle;
    void                      (*wake)(void);
} ngx_svc_webhook_lanes_t;


static ngx_svc_webhook_lane_t *ngx_svc_webhook_lane_create(
    ngx_svc_webhook_delivery_t *d, ngx_str_t *key, uint32_t hash);
static ngx_svc_webhook_tenant_t *ngx_svc_webhook_tenant(ngx_str_t *id);
static void ngx_svc_webhook_lane_rest(ngx_svc_webhook_lane_t *lane);
static void ngx_svc_webhook_lane_free(ngx_svc_webhook_lane_t *lane);
static void ngx_svc_webhook_lanes_trim(void);
static void ngx_svc_webhook_lane_pause(ngx_svc_webhook_lane_t *lane);
static void ngx_svc_webhook_lane_paused(ngx_event_t *ev);
static void ngx_svc_webhook_lane_update(ngx_svc_webhook_lane_t *lane);
static void ngx_svc_webhook_tenant_update(ngx_svc_webhook_tenant_t *tenant);


static ngx_svc_webhook_lanes_t  ngx_svc_webhook_lanes;


void
ngx_svc_webhook_lanes_init(void (*wake)(void))
{
    ngx_svc_webhook_lanes_t  *lanes;

    lanes = &ngx_svc_webhook_lanes;

    ngx_rbtree_init(&lanes->tenants, &lanes->tenants_sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_rbtree_init(&lanes->lanes, &lanes->lanes_sentinel,
                    ngx_str_rbtree_insert_value);

    ngx_queue_init(&lanes->ring);
    ngx_queue_init(&lanes->idle);
    lanes->nidle = 0;
    lanes->wake = wake;
}


/* All are idle, but those that Redis has not been told of. */

void
ngx_svc_webhook_lanes_exit(void)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_svc_webhook_lanes.idle)) {
        q = ngx_queue_head(&ngx_svc_webhook_lanes.idle);
        ngx_svc_webhook_lane_free(ngx_queue_data(q, ngx_svc_webhook_lane_t,
                                                 queue));
    }
}


ngx_svc_webhook_lane_t *
ngx_svc_webhook_lane(ngx_svc_webhook_delivery_t *d)
{
    u_char                   text[2 * NGX_SVC_UUID_TEXT_LEN];
    uint32_t                 hash;
    ngx_str_t                key;
    ngx_svc_webhook_lane_t  *lane;

    key.data = text;
    key.len = ngx_snprintf(text, sizeof(text), "%V%V", &d->tenant,
                           &d->endpoint)
              - text;
    hash = ngx_crc32_short(key.data, key.len);

    lane = (ngx_svc_webhook_lane_t *)
               ngx_str_rbtree_lookup(&ngx_svc_webhook_lanes.lanes, &key, hash);

    if (lane == NULL) {
        lane = ngx_svc_webhook_lane_create(d, &key, hash);
        if (lane == NULL) {
            return NULL;
        }

    } else if (lane->njobs == 0 && lane->nuntold == 0) {
        ngx_queue_remove(&lane->queue);
        ngx_svc_webhook_lanes.nidle--;
    }

    lane->njobs++;

    return lane;
}


static ngx_svc_webhook_lane_t *
ngx_svc_webhook_lane_create(ngx_svc_webhook_delivery_t *d, ngx_str_t *key,
    uint32_t hash)
{
    ngx_svc_webhook_lane_t    *lane;
    ngx_svc_webhook_tenant_t  *tenant;

    ngx_svc_webhook_lanes_trim();

    lane = ngx_calloc(sizeof(ngx_svc_webhook_lane_t), ngx_cycle->log);
    if (lane == NULL) {
        return NULL;
    }

    tenant = ngx_svc_webhook_tenant(&d->tenant);
    if (tenant == NULL) {
        ngx_free(lane);
        return NULL;
    }

    tenant->nlanes++;

    ngx_memcpy(lane->key, key->data, key->len);

    lane->tenant = tenant;
    lane->node.node.key = hash;
    lane->node.str.data = lane->key;
    lane->node.str.len = key->len;
    ngx_queue_init(&lane->waiting);

    lane->pause.handler = ngx_svc_webhook_lane_paused;
    lane->pause.data = lane;
    lane->pause.log = ngx_cycle->log;
    lane->pause.cancelable = 1;

    ngx_rbtree_insert(&ngx_svc_webhook_lanes.lanes, &lane->node.node);

    return lane;
}


static ngx_svc_webhook_tenant_t *
ngx_svc_webhook_tenant(ngx_str_t *id)
{
    uint32_t                   hash;
    ngx_svc_webhook_tenant_t  *tenant;

    hash = ngx_crc32_short(id->data, id->len);

    tenant = (ngx_svc_webhook_tenant_t *)
                 ngx_str_rbtree_lookup(&ngx_svc_webhook_lanes.tenants, id,
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

    ngx_rbtree_insert(&ngx_svc_webhook_lanes.tenants, &tenant->node.node);

    return tenant;
}


/* A lane stays for a while, since it knows how its endpoint was. */

void
ngx_svc_webhook_lane_release(ngx_svc_webhook_lane_t *lane)
{
    lane->njobs--;
    ngx_svc_webhook_lane_rest(lane);
}


static void
ngx_svc_webhook_lane_rest(ngx_svc_webhook_lane_t *lane)
{
    if (lane->njobs || lane->nuntold) {
        return;
    }

    lane->idle = ngx_current_msec;

    ngx_queue_insert_tail(&ngx_svc_webhook_lanes.idle, &lane->queue);
    ngx_svc_webhook_lanes.nidle++;
}


static void
ngx_svc_webhook_lane_free(ngx_svc_webhook_lane_t *lane)
{
    ngx_svc_webhook_lanes_t   *lanes;
    ngx_svc_webhook_tenant_t  *tenant;

    lanes = &ngx_svc_webhook_lanes;
    tenant = lane->tenant;

    ngx_queue_remove(&lane->queue);
    lanes->nidle--;

    if (lane->pause.timer_set) {
        ngx_del_timer(&lane->pause);
    }

    ngx_rbtree_delete(&lanes->lanes, &lane->node.node);
    ngx_free(lane);

    if (--tenant->nlanes == 0) {
        ngx_rbtree_delete(&lanes->tenants, &tenant->node.node);
        ngx_free(tenant);
    }
}


/* Two go for each that comes: the rest can wait. */

static void
ngx_svc_webhook_lanes_trim(void)
{
    ngx_uint_t                i;
    ngx_queue_t              *q;
    ngx_svc_webhook_lane_t   *lane;
    ngx_svc_webhook_lanes_t  *lanes;

    lanes = &ngx_svc_webhook_lanes;

    for (i = 0; i < 2 && !ngx_queue_empty(&lanes->idle); i++) {
        q = ngx_queue_head(&lanes->idle);
        lane = ngx_queue_data(q, ngx_svc_webhook_lane_t, queue);

        if (ngx_current_msec - lane->idle < NGX_SVC_WEBHOOK_LINGER
            && lanes->nidle < NGX_SVC_WEBHOOK_IDLERS)
        {
            return;
        }

        ngx_svc_webhook_lane_free(lane);
    }
}


void
ngx_svc_webhook_lane_wait(ngx_svc_webhook_job_t *job)
{
    job->waiting = 1;
    ngx_queue_insert_tail(&job->lane->waiting, &job->queue);

    ngx_svc_webhook_lane_update(job->lane);
}


void
ngx_svc_webhook_lane_unwait(ngx_svc_webhook_job_t *job)
{
    if (!job->waiting) {
        return;
    }

    job->waiting = 0;
    ngx_queue_remove(&job->queue);

    ngx_svc_webhook_lane_update(job->lane);
}


void
ngx_svc_webhook_lane_enter(ngx_svc_webhook_lane_t *lane)
{
    lane->nactive++;
    lane->tenant->nactive++;

    ngx_svc_webhook_lane_update(lane);
}


void
ngx_svc_webhook_lane_leave(ngx_svc_webhook_lane_t *lane)
{
    lane->nactive--;
    lane->tenant->nactive--;

    ngx_svc_webhook_lane_update(lane);
}


void
ngx_svc_webhook_lane_acked(ngx_svc_webhook_lane_t *lane)
{
    lane->nuntold++;

    ngx_svc_webhook_lane_update(lane);
}


void
ngx_svc_webhook_lane_told(ngx_svc_webhook_lane_t *lane)
{
    lane->nuntold--;

    ngx_svc_webhook_lane_update(lane);
    ngx_svc_webhook_lane_rest(lane);
}


void
ngx_svc_webhook_lane_result(ngx_svc_webhook_lane_t *lane,
    ngx_svc_webhook_result_t *result)
{
    lane->lingering = result->lingered ? lane->lingering + 1 : 0;
    lane->connected = !result->unreachable && !result->lingered;

    if (lane->lingering >= NGX_SVC_WEBHOOK_STREAK) {
        ngx_svc_webhook_lane_pause(lane);
    }

    if (!result->unreachable) {
        lane->streak = 0;

    } else if (lane->streak++ == 0) {
        lane->failing = ngx_current_msec;
    }

    ngx_svc_webhook_lane_update(lane);
}


/*
 * Each answer that does not end costs the next attempt a connection, and all
 * others the time of its handshake.
 */

static void
ngx_svc_webhook_lane_pause(ngx_svc_webhook_lane_t *lane)
{
    ngx_uint_t  n;
    ngx_msec_t  pause;

    n = lane->lingering - NGX_SVC_WEBHOOK_STREAK;
    pause = NGX_SVC_WEBHOOK_PAUSE << ngx_min(n, 10);

    ngx_add_timer(&lane->pause,
                  ngx_min(pause, ngx_svc_webhook_conf()->timeout));
}


static void
ngx_svc_webhook_lane_paused(ngx_event_t *ev)
{
    ngx_svc_webhook_lane_update(ev->data);
    ngx_svc_webhook_lanes.wake();
}


/*
 * Whether a lane is in its tenant's ring, and the tenant in the ring of all.
 * An endpoint that does not answer, or whose answers do not end, is tried by
 * one attempt at a time.  What it has acknowledged comes again if we are killed
 * before Redis has been told.
 */

static void
ngx_svc_webhook_lane_update(ngx_svc_webhook_lane_t *lane)
{
    ngx_uint_t  ready, limit;

    limit = ngx_svc_webhook_lane_failing(lane)
            || lane->lingering >= NGX_SVC_WEBHOOK_STREAK
            ? 1 : ngx_svc_webhook_conf()->endpoint_concurrency;

    ready = !ngx_queue_empty(&lane->waiting) && lane->nactive < limit
            && lane->nuntold < NGX_SVC_WEBHOOK_UNTOLD
            && !lane->pause.timer_set;

    if (ready && !lane->ready) {
        ngx_queue_insert_tail(&lane->tenant->ring, &lane->queue);

    } else if (!ready && lane->ready) {
        ngx_queue_remove(&lane->queue);
    }

    lane->ready = ready;

    ngx_svc_webhook_tenant_update(lane->tenant);
}


static void
ngx_svc_webhook_tenant_update(ngx_svc_webhook_tenant_t *tenant)
{
    ngx_uint_t  ready;

    ready = !tenant->loading && !ngx_queue_empty(&tenant->ring)
            && tenant->nactive < ngx_svc_webhook_conf()->tenant_concurrency;

    if (ready && !tenant->ready) {
        ngx_queue_insert_tail(&ngx_svc_webhook_lanes.ring, &tenant->queue);

    } else if (!ready && tenant->ready) {
        ngx_queue_remove(&tenant->queue);
    }

    tenant->ready = ready;
}


ngx_uint_t
ngx_svc_webhook_lane_connected(ngx_svc_webhook_lane_t *lane)
{
    return lane->connected;
}


ngx_uint_t
ngx_svc_webhook_lane_failing(ngx_svc_webhook_lane_t *lane)
{
    return lane->streak >= NGX_SVC_WEBHOOK_STREAK;
}


ngx_svc_webhook_job_t *
ngx_svc_webhook_lane_surplus(ngx_svc_webhook_lane_t *lane)
{
    ngx_uint_t               limit;
    ngx_svc_webhook_conf_t  *wcf;

    wcf = ngx_svc_webhook_conf();
    limit = wcf->endpoint_capacity;

    if (ngx_svc_webhook_lane_failing(lane)
        && ngx_current_msec - lane->failing
           > NGX_SVC_WEBHOOK_PATIENCE * wcf->timeout)
    {
        limit = ngx_min(limit, NGX_SVC_WEBHOOK_FEW);
    }

    if (lane->njobs <= limit || ngx_queue_empty(&lane->waiting)) {
        return NULL;
    }

    return ngx_queue_data(ngx_queue_last(&lane->waiting),
                          ngx_svc_webhook_job_t, queue);
}


/*
 * Tenants that have more under way keep their place for when others end.  Of
 * those that are passed by each has an attempt under way.
 */

ngx_svc_webhook_tenant_t *
ngx_svc_webhook_tenant_next(ngx_uint_t nfree)
{
    ngx_queue_t               *q, *ring;
    ngx_svc_webhook_tenant_t  *tenant;

    ring = &ngx_svc_webhook_lanes.ring;

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
    ngx_queue_t             *q;
    ngx_svc_webhook_lane_t  *lane;

    q = ngx_queue_head(&tenant->ring);

    ngx_queue_remove(q);
    ngx_queue_insert_tail(&tenant->ring, q);

    lane = ngx_queue_data(q, ngx_svc_webhook_lane_t, queue);
    q = ngx_queue_head(&lane->waiting);

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
                 ngx_str_rbtree_lookup(&ngx_svc_webhook_lanes.tenants, id,
                                       hash);
    if (tenant) {
        tenant->loading = 0;
        ngx_svc_webhook_tenant_update(tenant);
    }
}
