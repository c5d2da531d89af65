/*
 * In the helper: the endpoints of tenants.
 *
 * All endpoints of a tenant are read at once, and kept for some seconds; a
 * message says when they have changed.  An endpoint that is missing may have
 * been created a moment ago: they are read again before it counts as missing.
 */

#include "ngx_svc_webhook_endpoint.h"
#include "ngx_svc_helper_op.h"
#include "ngx_svc_webhook_secret.h"
#include "ngx_svc_redis_pubsub.h"

#include "ngx_svc_log_limit.h"

#include <openssl/crypto.h>


#define NGX_SVC_WEBHOOK_ENDPOINT_TTL    10000   /* ms */
#define NGX_SVC_WEBHOOK_SWEEP           1000    /* ms */
#define NGX_SVC_WEBHOOK_ENDPOINT_PAUSE  500     /* ms after PostgreSQL failed */
#define NGX_SVC_WEBHOOK_LOADS           16      /* under way at a time */

#define NGX_SVC_WEBHOOK_SEALED_LINES     10     /* lines in the log, per
                                                   interval */
#define NGX_SVC_WEBHOOK_SEALED_INTERVAL  60000  /* ms */


typedef enum {
    NGX_SVC_WEBHOOK_WAITING = 0,
    NGX_SVC_WEBHOOK_LOADING,
    NGX_SVC_WEBHOOK_LOADED
} ngx_svc_webhook_set_state_e;


/* The endpoints of a tenant, read at once. */

typedef struct {
    ngx_str_node_t                node;     /* the tenant */
    ngx_queue_t                   queue;    /* in the list of its state */
    ngx_svc_webhook_set_state_e   state;
    ngx_svc_pg_op_t              *op;       /* under way while loading */
    ngx_msec_t                    began;    /* when loading began */
    ngx_uint_t                    n;
    ngx_svc_webhook_endpoint_t   *endpoints;
    unsigned                      stale:1;  /* changed since loading began */
    u_char                        tenant[NGX_SVC_UUID_TEXT_LEN];
} ngx_svc_webhook_set_t;


typedef struct {
    ngx_rbtree_t                  tree;
    ngx_rbtree_node_t             sentinel;
    ngx_queue_t                   states[3];
    ngx_uint_t                    nloading;
    ngx_event_t                   timer;    /* the pause after PostgreSQL
                                               failed */
    ngx_event_t                   sweep;
    ngx_svc_log_limit_t           sealed;   /* limits lines about sealed
                                               secrets */
    ngx_svc_webhook_endpoint_pt   loaded;
} ngx_svc_webhook_sets_t;


static void ngx_svc_webhook_sets_changed(ngx_str_t *tenant);
static ngx_svc_webhook_set_t *ngx_svc_webhook_set_create(ngx_str_t *tenant,
    uint32_t hash);
static void ngx_svc_webhook_set_clear(ngx_svc_webhook_set_t *set);
static void ngx_svc_webhook_set_free(ngx_svc_webhook_set_t *set);
static void ngx_svc_webhook_set_enter(ngx_svc_webhook_set_t *set,
    ngx_svc_webhook_set_state_e state);
static ngx_svc_webhook_endpoint_t *ngx_svc_webhook_set_find(
    ngx_svc_webhook_set_t *set, ngx_str_t *id);
static void ngx_svc_webhook_sets_load(void);
static ngx_int_t ngx_svc_webhook_set_load(ngx_svc_webhook_set_t *set);
static void ngx_svc_webhook_set_loaded(ngx_svc_pg_op_t *op);
static ngx_int_t ngx_svc_webhook_set_fill(ngx_svc_webhook_set_t *set,
    PGresult *res);
static void ngx_svc_webhook_set_sealed(ngx_svc_webhook_set_t *set);
static void ngx_svc_webhook_sets_pause(void);
static void ngx_svc_webhook_sets_resume(ngx_event_t *ev);
static void ngx_svc_webhook_sets_sweep(ngx_event_t *ev);


#include "ngx_svc_webhook_endpoint.sql.h"


void  (*ngx_svc_webhook_endpoint_changed)(void);

static ngx_svc_webhook_sets_t  ngx_svc_webhook_sets;


ngx_int_t
ngx_svc_webhook_endpoint_init(ngx_cycle_t *cycle,
    ngx_svc_webhook_endpoint_pt loaded)
{
    ngx_uint_t               i;
    ngx_svc_webhook_sets_t  *sets;

    sets = &ngx_svc_webhook_sets;

    ngx_memzero(sets, sizeof(ngx_svc_webhook_sets_t));

    ngx_rbtree_init(&sets->tree, &sets->sentinel, ngx_str_rbtree_insert_value);

    for (i = 0; i < 3; i++) {
        ngx_queue_init(&sets->states[i]);
    }

    sets->loaded = loaded;

    sets->timer.handler = ngx_svc_webhook_sets_resume;
    sets->timer.data = sets;
    sets->timer.log = cycle->log;
    sets->timer.cancelable = 1;

    sets->sweep.handler = ngx_svc_webhook_sets_sweep;
    sets->sweep.data = sets;
    sets->sweep.log = cycle->log;
    sets->sweep.cancelable = 1;

    return ngx_svc_redis_subscribe(NGX_SVC_WEBHOOK_CHANNEL,
                                   ngx_svc_webhook_sets_changed);
}


void
ngx_svc_webhook_endpoint_exit(void)
{
    ngx_uint_t               i;
    ngx_queue_t             *q;
    ngx_svc_webhook_sets_t  *sets;

    sets = &ngx_svc_webhook_sets;

    ngx_svc_redis_unsubscribe(NGX_SVC_WEBHOOK_CHANNEL);

    for (i = 0; i < 3; i++) {
        while (!ngx_queue_empty(&sets->states[i])) {
            q = ngx_queue_head(&sets->states[i]);
            ngx_svc_webhook_set_free(ngx_queue_data(q, ngx_svc_webhook_set_t,
                                                    queue));
        }
    }

    if (sets->timer.timer_set) {
        ngx_del_timer(&sets->timer);
    }

    if (sets->sweep.timer_set) {
        ngx_del_timer(&sets->sweep);
    }
}


/* Without a tenant, those of all tenants may have changed. */

static void
ngx_svc_webhook_sets_changed(ngx_str_t *tenant)
{
    uint32_t                hash;
    ngx_uint_t              i;
    ngx_queue_t            *q, *list;
    ngx_str_node_t         *node;
    ngx_svc_webhook_set_t  *set;

    if (ngx_svc_webhook_endpoint_changed) {
        ngx_svc_webhook_endpoint_changed();
    }

    if (tenant->data && tenant->len == NGX_SVC_UUID_TEXT_LEN) {
        hash = ngx_crc32_short(tenant->data, tenant->len);
        node = ngx_str_rbtree_lookup(&ngx_svc_webhook_sets.tree, tenant, hash);

        if (node) {
            set = (ngx_svc_webhook_set_t *) node;
            set->stale = 1;
        }

        return;
    }

    for (i = 0; i < 3; i++) {
        list = &ngx_svc_webhook_sets.states[i];

        for (q = ngx_queue_head(list);
             q != ngx_queue_sentinel(list);
             q = ngx_queue_next(q))
        {
            set = ngx_queue_data(q, ngx_svc_webhook_set_t, queue);
            set->stale = 1;
        }
    }
}


ngx_int_t
ngx_svc_webhook_endpoint(ngx_str_t *tenant, ngx_str_t *id, ngx_msec_t since,
    ngx_svc_webhook_endpoint_t **endpoint)
{
    uint32_t                     hash;
    ngx_str_node_t              *node;
    ngx_svc_webhook_set_t       *set;
    ngx_svc_webhook_endpoint_t  *e;

    if (tenant->len != NGX_SVC_UUID_TEXT_LEN) {
        return NGX_DECLINED;
    }

    hash = ngx_crc32_short(tenant->data, tenant->len);
    node = ngx_str_rbtree_lookup(&ngx_svc_webhook_sets.tree, tenant, hash);

    if (node == NULL) {
        set = ngx_svc_webhook_set_create(tenant, hash);
        if (set == NULL) {
            return NGX_ERROR;
        }

        ngx_svc_webhook_sets_load();
        return NGX_AGAIN;
    }

    set = (ngx_svc_webhook_set_t *) node;

    if (set->state != NGX_SVC_WEBHOOK_LOADED) {
        return NGX_AGAIN;
    }

    if (!set->stale
        && ngx_current_msec - set->began < NGX_SVC_WEBHOOK_ENDPOINT_TTL)
    {
        e = ngx_svc_webhook_set_find(set, id);

        if (e && e->enabled) {
            *endpoint = e;
            return NGX_OK;
        }

        if ((ngx_msec_int_t) (set->began - since) > 0) {
            return NGX_DECLINED;
        }
    }

    ngx_svc_webhook_set_enter(set, NGX_SVC_WEBHOOK_WAITING);
    ngx_svc_webhook_sets_load();

    return NGX_AGAIN;
}


static ngx_svc_webhook_set_t *
ngx_svc_webhook_set_create(ngx_str_t *tenant, uint32_t hash)
{
    ngx_svc_webhook_set_t  *set;

    set = ngx_calloc(sizeof(ngx_svc_webhook_set_t), ngx_cycle->log);
    if (set == NULL) {
        return NULL;
    }

    ngx_memcpy(set->tenant, tenant->data, tenant->len);

    set->node.node.key = hash;
    set->node.str.data = set->tenant;
    set->node.str.len = tenant->len;

    ngx_rbtree_insert(&ngx_svc_webhook_sets.tree, &set->node.node);

    ngx_queue_insert_tail(&ngx_svc_webhook_sets.states[set->state],
                          &set->queue);

    if (!ngx_svc_webhook_sets.sweep.timer_set) {
        ngx_add_timer(&ngx_svc_webhook_sets.sweep, NGX_SVC_WEBHOOK_SWEEP);
    }

    return set;
}


static void
ngx_svc_webhook_set_clear(ngx_svc_webhook_set_t *set)
{
    ngx_uint_t  i;

    if (set->endpoints == NULL) {
        return;
    }

    for (i = 0; i < set->n; i++) {
        OPENSSL_cleanse(set->endpoints[i].secret, NGX_SVC_WEBHOOK_SECRET);
    }

    ngx_free(set->endpoints);

    set->endpoints = NULL;
    set->n = 0;
}


static void
ngx_svc_webhook_set_free(ngx_svc_webhook_set_t *set)
{
    ngx_svc_webhook_set_clear(set);
    ngx_svc_pg_drop(&set->op);

    ngx_queue_remove(&set->queue);
    ngx_rbtree_delete(&ngx_svc_webhook_sets.tree, &set->node.node);
    ngx_free(set);
}


static void
ngx_svc_webhook_set_enter(ngx_svc_webhook_set_t *set,
    ngx_svc_webhook_set_state_e state)
{
    ngx_queue_remove(&set->queue);
    set->state = state;
    ngx_queue_insert_tail(&ngx_svc_webhook_sets.states[state], &set->queue);
}


static ngx_svc_webhook_endpoint_t *
ngx_svc_webhook_set_find(ngx_svc_webhook_set_t *set, ngx_str_t *id)
{
    ngx_uint_t                   i;
    ngx_svc_webhook_endpoint_t  *e;

    for (i = 0; i < set->n; i++) {
        e = &set->endpoints[i];

        if (e->id.len == id->len
            && ngx_memcmp(e->id.data, id->data, id->len) == 0)
        {
            return e;
        }
    }

    return NULL;
}


static void
ngx_svc_webhook_sets_load(void)
{
    ngx_int_t                rc;
    ngx_queue_t             *q;
    ngx_svc_webhook_set_t   *set;
    ngx_svc_webhook_sets_t  *sets;

    sets = &ngx_svc_webhook_sets;

    while (!ngx_queue_empty(&sets->states[NGX_SVC_WEBHOOK_WAITING])
           && sets->nloading < NGX_SVC_WEBHOOK_LOADS
           && !sets->timer.timer_set)
    {
        q = ngx_queue_head(&sets->states[NGX_SVC_WEBHOOK_WAITING]);
        set = ngx_queue_data(q, ngx_svc_webhook_set_t, queue);

        rc = ngx_svc_webhook_set_load(set);

        if (rc != NGX_OK) {
            ngx_svc_webhook_sets_pause();
            return;
        }

        sets->nloading++;
        ngx_svc_webhook_set_enter(set, NGX_SVC_WEBHOOK_LOADING);
    }
}


static ngx_int_t
ngx_svc_webhook_set_load(ngx_svc_webhook_set_t *set)
{
    ngx_svc_pg_op_t  *op;

    op = ngx_svc_helper_op_create(NGX_SVC_PG_READ, &set->node.str, 0,
                                  ngx_svc_webhook_set_loaded, set);
    if (op == NULL) {
        return NGX_ERROR;
    }

    if (ngx_svc_pg_call(op, &ngx_svc_sql_webhook_endpoints) == NULL
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(op->pool);
        return NGX_ERROR;
    }

    set->op = op;
    set->began = ngx_current_msec;
    set->stale = 0;

    return NGX_OK;
}


static void
ngx_svc_webhook_set_loaded(ngx_svc_pg_op_t *op)
{
    ngx_int_t               rc;
    ngx_str_t               tenant;
    u_char                  text[NGX_SVC_UUID_TEXT_LEN];
    ngx_svc_webhook_set_t  *set;

    set = op->data;

    if (op->status == NGX_SVC_PG_OK) {
        rc = ngx_svc_webhook_set_fill(set,
                     ngx_svc_pg_op_result(op, &ngx_svc_sql_webhook_endpoints));

    } else {
        rc = NGX_ERROR;
        ngx_svc_pg_op_failed(op, "the endpoints of a tenant cannot be "
                             "read, its webhooks wait");
    }

    ngx_destroy_pool(op->pool);

    set->op = NULL;
    ngx_svc_webhook_sets.nloading--;

    ngx_svc_webhook_set_enter(set, rc == NGX_OK ? NGX_SVC_WEBHOOK_LOADED
                                                : NGX_SVC_WEBHOOK_WAITING);
    if (rc != NGX_OK) {
        ngx_svc_webhook_sets_pause();
        return;
    }

    ngx_memcpy(text, set->tenant, sizeof(text));
    tenant.data = text;
    tenant.len = sizeof(text);

    ngx_svc_webhook_sets.loaded(&tenant);

    ngx_svc_webhook_sets_load();
}


static ngx_int_t
ngx_svc_webhook_set_fill(ngx_svc_webhook_set_t *set, PGresult *res)
{
    int                               i, n;
    size_t                            size;
    u_char                           *p;
    ngx_svc_webhook_endpoint_t       *e;
    ngx_svc_row_webhook_endpoints_t   row;

    n = PQntuples(res);
    size = n * sizeof(ngx_svc_webhook_endpoint_t);

    for (i = 0; i < n; i++) {
        ngx_svc_row_webhook_endpoints(&row, res, i);
        size += row.id.len + row.url.len + 1;
    }

    ngx_svc_webhook_set_clear(set);

    if (n == 0) {
        return NGX_OK;
    }

    set->endpoints = ngx_calloc(size, ngx_cycle->log);
    if (set->endpoints == NULL) {
        return NGX_ERROR;
    }

    set->n = n;
    p = (u_char *) (set->endpoints + n);

    for (i = 0; i < n; i++) {
        e = &set->endpoints[i];

        ngx_svc_row_webhook_endpoints(&row, res, i);

        e->id = row.id;
        e->url = row.url;
        e->enabled = row.enabled;

        e->id.data = ngx_cpymem(p, e->id.data, e->id.len) - e->id.len;
        p += e->id.len;
        e->url.data = ngx_cpymem(p, e->url.data, e->url.len) - e->url.len;
        p += e->url.len + 1;

        e->sealed = ngx_svc_webhook_secret_open(&e->id, &row.secret, e->secret)
                    != NGX_OK;
    }

    ngx_svc_webhook_set_sealed(set);

    return NGX_OK;
}


/*
 * Logs endpoints whose secret cannot be opened.  If a key is missing, it may
 * be that of all tenants, so lines are limited.
 */

static void
ngx_svc_webhook_set_sealed(ngx_svc_webhook_set_t *set)
{
    ngx_uint_t                   i, n;
    ngx_svc_webhook_endpoint_t  *e, *first;

    first = NULL;
    n = 0;

    for (i = 0; i < set->n; i++) {
        e = &set->endpoints[i];

        if (e->sealed && e->enabled) {
            first = n++ ? first : e;
        }
    }

    if (n == 0
        || !ngx_svc_log_limit(&ngx_svc_webhook_sets.sealed,
                              NGX_SVC_WEBHOOK_SEALED_LINES,
                              NGX_SVC_WEBHOOK_SEALED_INTERVAL))
    {
        return;
    }

    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                  "the secret of webhook %V of tenant %V, and of %ui more of "
                  "its webhooks, cannot be opened, nothing is delivered to "
                  "them: put the key that they were sealed with back into "
                  "svc_key_file, and reload", &first->id, &set->node.str,
                  n - 1);
}


static void
ngx_svc_webhook_sets_pause(void)
{
    if (!ngx_svc_webhook_sets.timer.timer_set) {
        ngx_add_timer(&ngx_svc_webhook_sets.timer,
                      NGX_SVC_WEBHOOK_ENDPOINT_PAUSE);
    }
}


static void
ngx_svc_webhook_sets_resume(ngx_event_t *ev)
{
    ngx_svc_webhook_sets_load();
}


/*
 * Frees what was read too long ago: secrets stay in memory no longer than
 * needed.
 */

static void
ngx_svc_webhook_sets_sweep(ngx_event_t *ev)
{
    ngx_queue_t            *q, *next, *list;
    ngx_svc_webhook_set_t  *set;

    list = &ngx_svc_webhook_sets.states[NGX_SVC_WEBHOOK_LOADED];

    for (q = ngx_queue_head(list); q != ngx_queue_sentinel(list); q = next) {

        next = ngx_queue_next(q);
        set = ngx_queue_data(q, ngx_svc_webhook_set_t, queue);

        if (ngx_current_msec - set->began < NGX_SVC_WEBHOOK_ENDPOINT_TTL) {
            break;
        }

        ngx_svc_webhook_set_free(set);
    }

    if (ngx_svc_webhook_sets.tree.root != &ngx_svc_webhook_sets.sentinel) {
        ngx_add_timer(ev, NGX_SVC_WEBHOOK_SWEEP);
    }
}
