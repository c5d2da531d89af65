/*
 * Notes in PostgreSQL which deliveries have ended, some hundreds of all
 * tenants at a time.  The commits do not wait for the disk.
 */

#include "ngx_svc_webhook_note.h"
#include "ngx_svc_lane.h"
#include "ngx_svc_webhook_script.h"

#include <ngx_event.h>


#define NGX_SVC_WEBHOOK_NOTES        16384      /* notes in memory, at most */
#define NGX_SVC_WEBHOOK_NOTES_BATCH  512        /* notes in an op */
#define NGX_SVC_WEBHOOK_NOTES_DELAY  250        /* ms that the first note
                                                   waits */
#define NGX_SVC_WEBHOOK_NOTES_PAUSE  1000       /* ms after PostgreSQL failed */
#define NGX_SVC_WEBHOOK_NOTES_TRIES  10         /* tries of an op that
                                                   PostgreSQL refuses */
#define NGX_SVC_WEBHOOK_NOTES_KEPT   4096       /* ids in a call to Redis */


typedef struct {
    u_char              tenant[NGX_SVC_UUID_TEXT_LEN];
    u_char              id[NGX_SVC_ID_DIGITS];
} ngx_svc_webhook_note_t;


/* A ring; the first nsent notes are in the op. */

typedef struct {
    ngx_svc_webhook_note_t   *notes;
    ngx_uint_t                first;
    ngx_uint_t                n;
    ngx_uint_t                nsent;
    ngx_uint_t                kept;         /* index of the next to be kept
                                               known */
    ngx_uint_t                nlost;
    ngx_uint_t                tries;
    ngx_svc_pg_op_t          *op;
    ngx_event_t               timer;
    void                    (*flushed)(void);
} ngx_svc_webhook_notes_t;


static void ngx_svc_webhook_notes_timer(ngx_event_t *ev);
static void ngx_svc_webhook_notes_lost(void);
static ngx_int_t ngx_svc_webhook_notes_send(void);
static u_char *ngx_svc_webhook_notes_list(ngx_pool_t *pool, size_t offset,
    size_t len, size_t *size);
static void ngx_svc_webhook_notes_done(ngx_svc_pg_op_t *op);
static void ngx_svc_webhook_notes_written(void);
static void ngx_svc_webhook_notes_late(void);
static void ngx_svc_webhook_notes_keep(void);
static void ngx_svc_webhook_notes_kept(redisReply *reply, void *data);
static void ngx_svc_webhook_notes_next(ngx_msec_t ms);


#include "ngx_svc_webhook_note.sql.h"


static ngx_svc_webhook_notes_t  ngx_svc_webhook_notes;

static ngx_svc_pg_task_t  ngx_svc_webhook_notes_expire = {
    .statement = &ngx_svc_sql_webhook_done_expire,
    .pool = NGX_SVC_PG_WRITE,
    .period = 3600000,
    .pause = 1000,
    .full = 1000,
    .failed = "old notes of webhook deliveries cannot be deleted"
};


void
ngx_svc_webhook_notes_init(ngx_cycle_t *cycle)
{
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    ngx_memzero(notes, sizeof(ngx_svc_webhook_notes_t));

    notes->timer.handler = ngx_svc_webhook_notes_timer;
    notes->timer.data = notes;
    notes->timer.log = cycle->log;
    notes->timer.cancelable = 1;

    ngx_svc_pg_task_init(&ngx_svc_webhook_notes_expire, cycle);
}


void
ngx_svc_webhook_notes_exit(void)
{
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    ngx_svc_pg_task_exit(&ngx_svc_webhook_notes_expire);

    ngx_svc_pg_drop(&notes->op);

    if (notes->timer.timer_set) {
        ngx_del_timer(&notes->timer);
    }

    if (notes->notes) {
        ngx_free(notes->notes);
        notes->notes = NULL;
    }

    notes->n = 0;
}


void
ngx_svc_webhook_note(const ngx_svc_webhook_delivery_t *d)
{
    ngx_svc_webhook_note_t   *note;
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    if (notes->notes == NULL) {
        notes->notes = ngx_alloc(NGX_SVC_WEBHOOK_NOTES
                                 * sizeof(ngx_svc_webhook_note_t),
                                 ngx_cycle->log);
    }

    if (notes->notes == NULL || notes->n == NGX_SVC_WEBHOOK_NOTES
        || d->tenant.len != NGX_SVC_UUID_TEXT_LEN
        || d->id.len != NGX_SVC_ID_DIGITS)
    {
        notes->nlost++;
        return;
    }

    note = &notes->notes[(notes->first + notes->n++) % NGX_SVC_WEBHOOK_NOTES];

    ngx_memcpy(note->tenant, d->tenant.data, NGX_SVC_UUID_TEXT_LEN);
    ngx_memcpy(note->id, d->id.data, NGX_SVC_ID_DIGITS);

    ngx_svc_webhook_notes_next(NGX_SVC_WEBHOOK_NOTES_DELAY);
}


void
ngx_svc_webhook_notes_flush(void (*done)(void))
{
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    if (notes->n == 0) {
        done();
        return;
    }

    notes->flushed = done;

    if (notes->op == NULL) {

        if (notes->timer.timer_set) {
            ngx_del_timer(&notes->timer);
        }

        ngx_add_timer(&notes->timer, 1);
    }
}


static void
ngx_svc_webhook_notes_next(ngx_msec_t ms)
{
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    if (notes->n && notes->op == NULL && !notes->timer.timer_set) {
        ngx_add_timer(&notes->timer, ms);
    }
}


static void
ngx_svc_webhook_notes_timer(ngx_event_t *ev)
{
    ngx_svc_webhook_notes_lost();

    if (ngx_svc_webhook_notes_send() != NGX_OK) {
        ngx_svc_webhook_notes_late();
    }
}


static void
ngx_svc_webhook_notes_lost(void)
{
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    if (notes->nlost) {
        ngx_log_error(NGX_LOG_ERR, notes->timer.log, 0,
                      "%ui ended webhook deliveries are not noted: PostgreSQL "
                      "does not take them in time, and they may come twice",
                      notes->nlost);
        notes->nlost = 0;
    }
}


static ngx_int_t
ngx_svc_webhook_notes_send(void)
{
    size_t                    size;
    u_char                   *list;
    ngx_svc_pg_op_t          *op;
    ngx_svc_pg_call_t        *call;
    ngx_svc_webhook_notes_t  *notes;

    static ngx_str_t  nobody = ngx_string("");

    notes = &ngx_svc_webhook_notes;
    notes->nsent = ngx_min(notes->n, NGX_SVC_WEBHOOK_NOTES_BATCH);

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE, &nobody, 1,
                                  ngx_svc_webhook_notes_done, notes);
    if (op == NULL) {
        return NGX_ERROR;
    }

    call = ngx_svc_pg_call(op, &ngx_svc_sql_webhook_note);
    if (call == NULL) {
        goto failed;
    }

    list = ngx_svc_webhook_notes_list(op->pool,
                                      offsetof(ngx_svc_webhook_note_t, tenant),
                                      NGX_SVC_UUID_TEXT_LEN, &size);
    if (list == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind(call, list, size);

    list = ngx_svc_webhook_notes_list(op->pool,
                                      offsetof(ngx_svc_webhook_note_t, id),
                                      NGX_SVC_ID_DIGITS, &size);
    if (list == NULL) {
        goto failed;
    }

    ngx_svc_pg_bind(call, list, size);

    return ngx_svc_helper_op_submit(op, NGX_OK, &notes->op);

failed:

    ngx_destroy_pool(op->pool);

    return NGX_ERROR;
}


/* Writes a PostgreSQL array of one member of the notes that are sent. */

static u_char *
ngx_svc_webhook_notes_list(ngx_pool_t *pool, size_t offset, size_t len,
    size_t *size)
{
    u_char                   *p, *list;
    ngx_uint_t                i;
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    list = ngx_pnalloc(pool, 1 + notes->nsent * (len + 1));
    if (list == NULL) {
        return NULL;
    }

    p = list;

    for (i = 0; i < notes->nsent; i++) {
        *p++ = i ? ',' : '{';
        p = ngx_cpymem(p, (u_char *) &notes->notes[(notes->first + i)
                                                   % NGX_SVC_WEBHOOK_NOTES]
                          + offset, len);
    }

    *p++ = '}';
    *size = p - list;

    return list;
}


static void
ngx_svc_webhook_notes_done(ngx_svc_pg_op_t *op)
{
    ngx_uint_t                refused;
    ngx_svc_pg_status_e       status;
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;
    status = op->status;
    refused = status == NGX_SVC_PG_FAILED && !ngx_svc_pg_op_transient(op);

    if (status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "ended webhook deliveries cannot be noted");
    }

    ngx_destroy_pool(op->pool);
    notes->op = NULL;

    if (status == NGX_SVC_PG_OK) {
        ngx_svc_webhook_notes_written();
        return;
    }

    if (refused && ++notes->tries >= NGX_SVC_WEBHOOK_NOTES_TRIES) {
        notes->nlost += notes->nsent;
        ngx_svc_webhook_notes_lost();
        ngx_svc_webhook_notes_written();
        return;
    }

    ngx_svc_webhook_notes_late();
}


static void
ngx_svc_webhook_notes_written(void)
{
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;

    notes->tries = 0;
    notes->first = (notes->first + notes->nsent) % NGX_SVC_WEBHOOK_NOTES;
    notes->n -= notes->nsent;

    if (notes->n) {
        ngx_svc_webhook_notes_next(notes->flushed
                                   || notes->n >= NGX_SVC_WEBHOOK_NOTES_BATCH
                                   ? 1 : NGX_SVC_WEBHOOK_NOTES_DELAY);
        return;
    }

    ngx_svc_lane_done(&notes->flushed);
}


static void
ngx_svc_webhook_notes_late(void)
{
    ngx_svc_webhook_notes_keep();
    ngx_svc_webhook_notes_next(NGX_SVC_WEBHOOK_NOTES_PAUSE);
}


/*
 * Keeps the next notes known in Redis: a delivery that neither PostgreSQL nor
 * Redis knows would be queued again by the outbox of any helper.  If there are
 * many notes, several calls of this are needed for all: that takes far less
 * time than Redis remembers.
 */

static void
ngx_svc_webhook_notes_keep(void)
{
    ngx_str_t                *ids;
    ngx_uint_t                i, n;
    ngx_svc_webhook_note_t   *note;
    ngx_svc_webhook_notes_t  *notes;

    notes = &ngx_svc_webhook_notes;
    n = ngx_min(notes->n, NGX_SVC_WEBHOOK_NOTES_KEPT);

    if (n == 0) {
        return;
    }

    ids = ngx_alloc(n * sizeof(ngx_str_t), ngx_cycle->log);
    if (ids == NULL) {
        return;
    }

    for (i = 0; i < n; i++) {
        note = &notes->notes[(notes->first + (notes->kept + i) % notes->n)
                             % NGX_SVC_WEBHOOK_NOTES];
        ids[i].data = note->id;
        ids[i].len = NGX_SVC_ID_DIGITS;
    }

    if (ngx_svc_redis_call(&ngx_svc_webhook_known_script, ids, n, 0,
                           ngx_svc_webhook_notes_kept, NULL)
        == NGX_OK)
    {
        notes->kept = (notes->kept + n) % notes->n;
    }

    ngx_free(ids);
}


/* Ignores the answer: the next call tells the ids again. */

static void
ngx_svc_webhook_notes_kept(redisReply *reply, void *data)
{
    /* void */
}
