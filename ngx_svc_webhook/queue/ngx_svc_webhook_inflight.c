/*
 * The in-flight set of this helper.
 */

#include "ngx_svc_webhook_inflight.h"
#include "ngx_svc_webhook_ack.h"
#include "ngx_svc_webhook_entry.h"

#include "ngx_svc_log_limit.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_WEBHOOK_DAMAGED_LINES     10        /* lines in the log, per
                                                       interval */
#define NGX_SVC_WEBHOOK_DAMAGED_INTERVAL  10000     /* ms */


typedef struct {
    ngx_log_t           *log;
    ngx_str_t           *hash;
    const ngx_svc_webhook_queue_handlers_t  *handlers;
    ngx_rbtree_t         tree;          /* deliveries by id */
    ngx_rbtree_node_t    sentinel;
    ngx_uint_t           n;             /* in the tree */
    ngx_svc_log_limit_t  damaged;       /* limits lines about damaged entries */
    unsigned             refused:1;     /* deliver() had no memory */
} ngx_svc_webhook_inflight_t;


static void ngx_svc_webhook_inflight_damaged(redisReply *entry, ngx_int_t rc);
static ngx_int_t ngx_svc_webhook_inflight_id(redisReply *entry, ngx_str_t *id);
static void ngx_svc_webhook_inflight_free(ngx_svc_webhook_delivery_t *d);
static void ngx_svc_webhook_inflight_ignored(redisReply *reply, void *data);


static ngx_svc_webhook_inflight_t  ngx_svc_webhook_inflight;


void
ngx_svc_webhook_inflight_init(ngx_log_t *log, ngx_str_t *hash,
    const ngx_svc_webhook_queue_handlers_t *handlers)
{
    ngx_svc_webhook_inflight_t  *inflight;

    inflight = &ngx_svc_webhook_inflight;

    inflight->log = log;
    inflight->hash = hash;
    inflight->handlers = handlers;
    inflight->n = 0;

    ngx_rbtree_init(&inflight->tree, &inflight->sentinel,
                    ngx_str_rbtree_insert_value);

    ngx_svc_webhook_ack_init(log, hash, ngx_svc_webhook_inflight_free);
}


ngx_int_t
ngx_svc_webhook_inflight_add(redisReply *entry, ngx_uint_t started)
{
    uint32_t                     hash;
    ngx_int_t                    rc;
    ngx_svc_webhook_inflight_t  *inflight;
    ngx_svc_webhook_delivery_t  *d;

    inflight = &ngx_svc_webhook_inflight;

    if (entry->type != REDIS_REPLY_STRING) {
        return NGX_OK;
    }

    rc = ngx_svc_webhook_entry_read((u_char *) entry->str, entry->len,
                                    inflight->log, &d);
    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc != NGX_OK) {
        ngx_svc_webhook_inflight_damaged(entry, rc);
        return NGX_OK;
    }

    hash = ngx_crc32_short(d->id.data, d->id.len);

    if (ngx_str_rbtree_lookup(&inflight->tree, &d->id, hash)) {
        ngx_free(d);
        return NGX_OK;
    }

    /*
     * not under the MAC: a forged number can end a delivery, but who can write
     * it could delete the delivery, too
     */

    d->attempts = ngx_min(ngx_max(d->attempts, started),
                          NGX_SVC_WEBHOOK_ATTEMPTS);

    d->node.str = d->id;
    d->node.node.key = hash;
    ngx_rbtree_insert(&inflight->tree, &d->node.node);

    ngx_svc_gauge_set(NGX_SVC_G_PENDING, ++inflight->n);

    inflight->refused = 0;

    inflight->handlers->deliver(d);

    return inflight->refused ? NGX_ERROR : NGX_OK;
}


/*
 * Logs nothing of the entry's text, which may be anything; the lines are
 * limited.
 */

static void
ngx_svc_webhook_inflight_damaged(redisReply *entry, ngx_int_t rc)
{
    ngx_str_t                    args[6];
    ngx_uint_t                   level;
    ngx_svc_webhook_inflight_t  *inflight;

    inflight = &ngx_svc_webhook_inflight;

    level = ngx_svc_log_limit_level(&inflight->damaged,
                                    NGX_SVC_WEBHOOK_DAMAGED_LINES,
                                    NGX_SVC_WEBHOOK_DAMAGED_INTERVAL,
                                    NGX_LOG_ERR);

    if (rc == NGX_ABORT) {
        ngx_svc_metric_add(NGX_SVC_M_DROPPED_FORGED, 1);
        ngx_log_error(level, inflight->log, 0,
                      "a webhook delivery of %uz bytes in Redis is dropped: it "
                      "is not authentic, or its key is not in "
                      "\"svc_key_file\"", (size_t) entry->len);

    } else {
        ngx_svc_metric_add(NGX_SVC_M_DROPPED_DAMAGED, 1);
        ngx_log_error(level, inflight->log, 0,
                      "a damaged webhook delivery of %uz bytes in Redis is "
                      "dropped", (size_t) entry->len);
    }

    if (ngx_svc_webhook_inflight_id(entry, &args[3]) != NGX_OK) {
        return;
    }

    args[0] = *inflight->hash;
    ngx_str_set(&args[1], NGX_SVC_WEBHOOK_PENDING);
    ngx_str_set(&args[2], NGX_SVC_WEBHOOK_QUEUE);
    ngx_str_set(&args[4], "-");
    ngx_str_set(&args[5], "0");

    (void) ngx_svc_redis_call(&ngx_svc_webhook_ack_script, args, 6, 3,
                              ngx_svc_webhook_inflight_ignored, NULL);
}


/* Finds the third word, the field of the hash if the entry is there. */

static ngx_int_t
ngx_svc_webhook_inflight_id(redisReply *entry, ngx_str_t *id)
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
ngx_svc_webhook_inflight_refuse(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_inflight.refused = 1;
    ngx_svc_webhook_inflight_free(d);
}


static void
ngx_svc_webhook_inflight_ignored(redisReply *reply, void *data)
{
}


const ngx_str_t *
ngx_svc_webhook_inflight_hash(void)
{
    return ngx_svc_webhook_inflight.hash;
}


ngx_uint_t
ngx_svc_webhook_inflight_count(void)
{
    return ngx_svc_webhook_inflight.n;
}


void
ngx_svc_webhook_inflight_forget(void)
{
    ngx_svc_webhook_inflight_t  *inflight;

    inflight = &ngx_svc_webhook_inflight;

    ngx_svc_webhook_ack_flush();
    ngx_svc_webhook_ack_forget();

    ngx_rbtree_init(&inflight->tree, &inflight->sentinel,
                    ngx_str_rbtree_insert_value);
    inflight->n = 0;
    ngx_svc_gauge_set(NGX_SVC_G_PENDING, 0);
}


static void
ngx_svc_webhook_inflight_free(ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_inflight_t  *inflight;

    inflight = &ngx_svc_webhook_inflight;

    ngx_rbtree_delete(&inflight->tree, &d->node.node);
    ngx_svc_gauge_set(NGX_SVC_G_PENDING, --inflight->n);

    inflight->handlers->confirmed(d);

    ngx_free(d);
}
