/*
 * Deliveries in the hands of this helper.
 */

#include "ngx_svc_webhook_own.h"

#include "ngx_svc_log_limit.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_WEBHOOK_DAMAGED_LINES     10        /* an interval */
#define NGX_SVC_WEBHOOK_DAMAGED_INTERVAL  10000     /* ms */


typedef struct {
    ngx_log_t           *log;
    ngx_str_t           *hash;
    const ngx_svc_webhook_queue_handlers_t  *handlers;
    ngx_rbtree_t         tree;          /* deliveries by id */
    ngx_rbtree_node_t    sentinel;
    ngx_uint_t           n;             /* in the tree */
    ngx_svc_log_limit_t  damaged;       /* lines of it */
    unsigned             refused:1;     /* by the scheduler */
} ngx_svc_webhook_own_t;


static void ngx_svc_webhook_own_damaged(redisReply *entry, ngx_int_t rc);
static ngx_int_t ngx_svc_webhook_own_id(redisReply *entry, ngx_str_t *id);
static void ngx_svc_webhook_own_free(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_own_ignored(redisReply *reply, void *data);


static ngx_svc_webhook_own_t  ngx_svc_webhook_own;


void
ngx_svc_webhook_own_init(ngx_log_t *log, ngx_str_t *hash,
    const ngx_svc_webhook_queue_handlers_t *handlers)
{
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    own->log = log;
    own->hash = hash;
    own->handlers = handlers;
    own->n = 0;

    ngx_rbtree_init(&own->tree, &own->sentinel, ngx_str_rbtree_insert_value);

    ngx_svc_webhook_own_tell_init(log, hash, ngx_svc_webhook_own_free);
}


ngx_int_t
ngx_svc_webhook_own_add(redisReply *entry, ngx_uint_t begun)
{
    uint32_t                     hash;
    ngx_int_t                    rc;
    ngx_svc_webhook_own_t       *own;
    ngx_svc_webhook_delivery_t  *d;

    own = &ngx_svc_webhook_own;

    if (entry->type != REDIS_REPLY_STRING) {
        return NGX_OK;
    }

    rc = ngx_svc_webhook_entry_read((u_char *) entry->str, entry->len,
                                    own->log, &d);
    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc != NGX_OK) {
        ngx_svc_webhook_own_damaged(entry, rc);
        return NGX_OK;
    }

    hash = ngx_crc32_short(d->id.data, d->id.len);

    if (ngx_str_rbtree_lookup(&own->tree, &d->id, hash)) {
        ngx_free(d);
        return NGX_OK;
    }

    /* Redis' word alone, which at worst ends what it could have deleted */

    d->attempts = ngx_min(ngx_max(d->attempts, begun),
                          NGX_SVC_WEBHOOK_ATTEMPTS);

    d->node.str = d->id;
    d->node.node.key = hash;
    ngx_rbtree_insert(&own->tree, &d->node.node);

    ngx_svc_gauge_set(NGX_SVC_G_PENDING, ++own->n);

    own->refused = 0;

    own->handlers->deliver(d);

    return own->refused ? NGX_ERROR : NGX_OK;
}


/* Nothing of it goes to the log: it may be anything, and any number. */

static void
ngx_svc_webhook_own_damaged(redisReply *entry, ngx_int_t rc)
{
    ngx_str_t               args[6];
    ngx_uint_t              level;
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    level = ngx_svc_log_limit_level(&own->damaged,
                                    NGX_SVC_WEBHOOK_DAMAGED_LINES,
                                    NGX_SVC_WEBHOOK_DAMAGED_INTERVAL,
                                    NGX_LOG_ERR);

    if (rc == NGX_ABORT) {
        ngx_svc_metric_add(NGX_SVC_M_DROPPED_FORGED, 1);
        ngx_log_error(level, own->log, 0, "a webhook delivery of %uz bytes in "
                      "Redis is dropped: it is not authentic, or its key is "
                      "not in \"svc_key_file\"", (size_t) entry->len);

    } else {
        ngx_svc_metric_add(NGX_SVC_M_DROPPED_DAMAGED, 1);
        ngx_log_error(level, own->log, 0, "a damaged webhook delivery of %uz "
                      "bytes in Redis is dropped", (size_t) entry->len);
    }

    if (ngx_svc_webhook_own_id(entry, &args[3]) != NGX_OK) {
        return;
    }

    args[0] = *own->hash;
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);
    ngx_str_set(&args[2], NGX_SVC_WEBHOOK_QUEUE);
    ngx_str_set(&args[4], "-");
    ngx_str_set(&args[5], "0");

    (void) ngx_svc_redis_call(&ngx_svc_webhook_tell_script, args, 6, 3,
                              ngx_svc_webhook_own_ignored, NULL);
}


/* The third word: under this name it is in the hash, if it is there at all. */

static ngx_int_t
ngx_svc_webhook_own_id(redisReply *entry, ngx_str_t *id)
{
    u_char  *p, *end;

    end = (u_char *) entry->str + entry->len;

    p = ngx_strlchr((u_char *) entry->str, end, ' ');

    if (p == NULL || end - p < 4) {
        return NGX_DECLINED;
    }

    id->data = p + 3;

    p = ngx_strlchr(id->data, end, ' ');
    if (p == NULL) {
        return NGX_DECLINED;
    }

    id->len = p - id->data;

    return NGX_OK;
}


void
ngx_svc_webhook_queue_refuse(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_own.refused = 1;
    ngx_svc_webhook_own_free(d);
}


static void
ngx_svc_webhook_own_ignored(redisReply *reply, void *data)
{
}


const ngx_str_t *
ngx_svc_webhook_own_hash(void)
{
    return ngx_svc_webhook_own.hash;
}


ngx_uint_t
ngx_svc_webhook_own_count(void)
{
    return ngx_svc_webhook_own.n;
}


void
ngx_svc_webhook_own_forget(void)
{
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    ngx_svc_webhook_own_tell();
    ngx_svc_webhook_own_tell_forget();

    ngx_rbtree_init(&own->tree, &own->sentinel, ngx_str_rbtree_insert_value);
    own->n = 0;
    ngx_svc_gauge_set(NGX_SVC_G_PENDING, 0);
}


static void
ngx_svc_webhook_own_free(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_own_t  *own;

    own = &ngx_svc_webhook_own;

    ngx_rbtree_delete(&own->tree, &d->node.node);
    ngx_svc_gauge_set(NGX_SVC_G_PENDING, --own->n);

    own->handlers->told(d);

    ngx_free(d);
}
