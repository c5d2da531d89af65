/*
 * What a worker knows of directories.
 */

#include "ngx_svc_ldap_kept.h"


#define NGX_SVC_LDAP_KEPT      4        /* connections of a directory */
#define NGX_SVC_LDAP_KEPT_ALL  256      /* connections of all */
#define NGX_SVC_LDAP_IDLE      60000    /* ms without use */
#define NGX_SVC_LDAP_LIFE      600000   /* ms of a connection */
#define NGX_SVC_LDAP_SWEEP     5000     /* ms */
#define NGX_SVC_LDAP_LATE_MAX  3        /* in a row */
#define NGX_SVC_LDAP_REST      10000    /* ms */
#define NGX_SVC_LDAP_BUCKETS   64


struct ngx_svc_ldap_known_s {
    ngx_queue_t   queue;                /* of its bucket */
    u_char        id[NGX_SVC_UUID_LEN];
    u_char        version[64];
    size_t        version_len;
    ngx_queue_t   kept;                 /* ngx_svc_ldap_conn_t, the one used
                                           last is the first */
    ngx_uint_t    nkept;
    ngx_uint_t    held;
    ngx_uint_t    stale;                /* 1: another version was asked for
                                           last */
    ngx_uint_t    late;                 /* times in a row */
    ngx_msec_t    rests;                /* until then, if it was late */
    ngx_msec_t    usual;
    ngx_msec_t    used;
};


typedef struct {
    ngx_queue_t   buckets[NGX_SVC_LDAP_BUCKETS];
    ngx_uint_t    known;
    ngx_uint_t    kept;
    ngx_event_t   sweep;
} ngx_svc_ldap_all_t;


static void ngx_svc_ldap_init(void);
static ngx_queue_t *ngx_svc_ldap_bucket(
    const u_char id[NGX_SVC_UUID_LEN]);
static ngx_svc_ldap_known_t *ngx_svc_ldap_find(
    const ngx_svc_ldap_directory_t *directory);
static ngx_uint_t ngx_svc_ldap_old(const ngx_svc_ldap_conn_t *conn);
static void ngx_svc_ldap_sweep(ngx_event_t *ev);
static void ngx_svc_ldap_sweep_one(ngx_svc_ldap_known_t *known,
    ngx_uint_t all);
static void ngx_svc_ldap_forget(ngx_svc_ldap_known_t *known);


static ngx_svc_ldap_all_t  ngx_svc_ldap_all;


ngx_svc_ldap_known_t *
ngx_svc_ldap_hold(const ngx_svc_ldap_directory_t *directory)
{
    ngx_svc_ldap_known_t  *known;

    if (ngx_svc_ldap_all.sweep.handler == NULL) {
        ngx_svc_ldap_init();
    }

    known = ngx_svc_ldap_find(directory);

    if (known == NULL) {
        known = ngx_calloc(sizeof(ngx_svc_ldap_known_t), ngx_cycle->log);
        if (known == NULL) {
            return NULL;
        }

        ngx_memcpy(known->id, directory->id, NGX_SVC_UUID_LEN);
        known->version_len = ngx_min(directory->version.len,
                                     sizeof(known->version));
        ngx_memcpy(known->version, directory->version.data,
                   known->version_len);

        ngx_queue_init(&known->kept);
        ngx_queue_insert_head(ngx_svc_ldap_bucket(known->id), &known->queue);

        ngx_svc_ldap_all.known++;
    }

    known->held++;

    if (!ngx_svc_ldap_all.sweep.timer_set) {
        ngx_add_timer(&ngx_svc_ldap_all.sweep, NGX_SVC_LDAP_SWEEP);
    }

    return known;
}


static void
ngx_svc_ldap_init(void)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_SVC_LDAP_BUCKETS; i++) {
        ngx_queue_init(&ngx_svc_ldap_all.buckets[i]);
    }

    ngx_svc_ldap_all.sweep.handler = ngx_svc_ldap_sweep;
    ngx_svc_ldap_all.sweep.log = ngx_cycle->log;
    ngx_svc_ldap_all.sweep.cancelable = 1;
}


/* Ids are random. */

static ngx_queue_t *
ngx_svc_ldap_bucket(const u_char id[NGX_SVC_UUID_LEN])
{
    return &ngx_svc_ldap_all.buckets[id[NGX_SVC_UUID_LEN - 1]
                                     % NGX_SVC_LDAP_BUCKETS];
}


/* A slow request may come with an older version: that counts for its moment. */

static ngx_svc_ldap_known_t *
ngx_svc_ldap_find(const ngx_svc_ldap_directory_t *directory)
{
    ngx_queue_t           *q, *next, *bucket;
    ngx_svc_ldap_known_t  *known, *found;

    found = NULL;
    bucket = ngx_svc_ldap_bucket(directory->id);

    for (q = ngx_queue_head(bucket);
         q != ngx_queue_sentinel(bucket);
         q = next)
    {
        next = ngx_queue_next(q);
        known = ngx_queue_data(q, ngx_svc_ldap_known_t, queue);

        if (ngx_memcmp(known->id, directory->id, NGX_SVC_UUID_LEN) != 0) {
            continue;
        }

        if (known->version_len == directory->version.len
            && ngx_memcmp(known->version, directory->version.data,
                          known->version_len)
               == 0)
        {
            known->stale = 0;
            found = known;

        } else {
            known->stale = 1;
            ngx_svc_ldap_sweep_one(known, 0);
        }
    }

    return found;
}


void
ngx_svc_ldap_let(ngx_svc_ldap_known_t *known)
{
    known->held--;
    known->used = ngx_current_msec;
}


ngx_uint_t
ngx_svc_ldap_resting(const ngx_svc_ldap_known_t *known)
{
    return known->late >= NGX_SVC_LDAP_LATE_MAX
           && (ngx_msec_int_t) (known->rests - ngx_current_msec) > 0;
}


ngx_svc_ldap_conn_t *
ngx_svc_ldap_take_kept(ngx_svc_ldap_known_t *known)
{
    ngx_queue_t          *q;
    ngx_svc_ldap_conn_t  *conn;

    while (!ngx_queue_empty(&known->kept)) {
        q = ngx_queue_head(&known->kept);
        conn = ngx_queue_data(q, ngx_svc_ldap_conn_t, queue);

        ngx_queue_remove(q);
        known->nkept--;
        ngx_svc_ldap_all.kept--;

        if (!ngx_svc_ldap_old(conn)) {
            return conn;
        }

        ngx_svc_ldap_close(conn);
    }

    return NULL;
}


static ngx_uint_t
ngx_svc_ldap_old(const ngx_svc_ldap_conn_t *conn)
{
    return ngx_current_msec - conn->used >= NGX_SVC_LDAP_IDLE
           || ngx_current_msec - conn->made >= NGX_SVC_LDAP_LIFE;
}


void
ngx_svc_ldap_keep(ngx_svc_ldap_known_t *known, ngx_svc_ldap_conn_t *conn)
{
    conn->used = ngx_current_msec;

    if (known->stale || known->nkept == NGX_SVC_LDAP_KEPT
        || ngx_svc_ldap_all.kept == NGX_SVC_LDAP_KEPT_ALL || ngx_exiting
        || ngx_svc_ldap_old(conn))
    {
        ngx_svc_ldap_close(conn);
        return;
    }

    ngx_queue_insert_head(&known->kept, &conn->queue);
    known->nkept++;
    ngx_svc_ldap_all.kept++;
}


void
ngx_svc_ldap_note(ngx_svc_ldap_known_t *known, ngx_uint_t late)
{
    if (!late) {
        known->late = 0;
        return;
    }

    known->late++;
    known->rests = ngx_current_msec + NGX_SVC_LDAP_REST;
}


void
ngx_svc_ldap_took(ngx_svc_ldap_known_t *known, ngx_msec_t ms)
{
    ms = ngx_max(ms, 1);

    known->usual = known->usual ? (7 * known->usual + ms) / 8 : ms;
    known->usual = ngx_max(known->usual, 1);
}


void
ngx_svc_ldap_complete(const ngx_svc_ldap_directory_t *directory, ngx_msec_t ms)
{
    ngx_svc_ldap_known_t  *known;

    known = ngx_svc_ldap_hold(directory);

    if (known) {
        ngx_svc_ldap_took(known, ms);
        ngx_svc_ldap_let(known);
    }
}


ngx_msec_t
ngx_svc_ldap_usual(const ngx_svc_ldap_known_t *known)
{
    return known->usual;
}


static void
ngx_svc_ldap_sweep(ngx_event_t *ev)
{
    ngx_uint_t             i;
    ngx_queue_t           *q, *next, *bucket;

    for (i = 0; i < NGX_SVC_LDAP_BUCKETS; i++) {
        bucket = &ngx_svc_ldap_all.buckets[i];

        for (q = ngx_queue_head(bucket);
             q != ngx_queue_sentinel(bucket);
             q = next)
        {
            next = ngx_queue_next(q);
            ngx_svc_ldap_sweep_one(ngx_queue_data(q, ngx_svc_ldap_known_t,
                                                  queue), ngx_exiting);
        }
    }

    if (ngx_svc_ldap_all.known) {
        ngx_add_timer(ev, NGX_SVC_LDAP_SWEEP);
    }
}


/* The connections that were used first are the last ones. */

static void
ngx_svc_ldap_sweep_one(ngx_svc_ldap_known_t *known, ngx_uint_t all)
{
    ngx_queue_t          *q;
    ngx_svc_ldap_conn_t  *conn;

    while (!ngx_queue_empty(&known->kept)) {
        q = ngx_queue_last(&known->kept);
        conn = ngx_queue_data(q, ngx_svc_ldap_conn_t, queue);

        if (!all && !known->stale && !ngx_svc_ldap_old(conn)) {
            break;
        }

        ngx_queue_remove(q);
        known->nkept--;
        ngx_svc_ldap_all.kept--;
        ngx_svc_ldap_close(conn);
    }

    if (known->held == 0 && known->nkept == 0
        && (all || known->stale
            || ngx_current_msec - known->used >= NGX_SVC_LDAP_LIFE))
    {
        ngx_svc_ldap_forget(known);
    }
}


static void
ngx_svc_ldap_forget(ngx_svc_ldap_known_t *known)
{
    ngx_queue_remove(&known->queue);
    ngx_svc_ldap_all.known--;
    ngx_free(known);
}


/* What a job still holds goes with the process. */

void
ngx_svc_ldap_drop_all(void)
{
    ngx_uint_t   i;
    ngx_queue_t  *q, *next, *bucket;

    if (ngx_svc_ldap_all.sweep.handler == NULL) {
        return;
    }

    if (ngx_svc_ldap_all.sweep.timer_set) {
        ngx_del_timer(&ngx_svc_ldap_all.sweep);
    }

    for (i = 0; i < NGX_SVC_LDAP_BUCKETS; i++) {
        bucket = &ngx_svc_ldap_all.buckets[i];

        for (q = ngx_queue_head(bucket);
             q != ngx_queue_sentinel(bucket);
             q = next)
        {
            next = ngx_queue_next(q);
            ngx_svc_ldap_sweep_one(ngx_queue_data(q, ngx_svc_ldap_known_t,
                                                  queue), 1);
        }
    }
}
