/*
 * A PostgreSQL connection, its pool, and a tenant's backlog, which the files of
 * this folder share.
 */

#ifndef _NGX_SVC_PG_CONN_H_INCLUDED_
#define _NGX_SVC_PG_CONN_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_pg.h"
#include "ngx_svc_pg_fence.h"
#include "ngx_svc_pg_prepared.h"


/*
 * We wait so much longer than PostgreSQL's own statement_timeout, so that the
 * latter answers first.
 */

#define NGX_SVC_PG_GRACE    500         /* ms */

#define NGX_SVC_PG_START    40          /* bytes of a timestamp, with NUL */

#define NGX_SVC_PG_BUCKETS  64          /* for backlogs, a power of two */

_Static_assert(NGX_SVC_PG_NPOOLS == NGX_SVC_G_PG_POOLS, "gauges of each pool");

typedef struct ngx_svc_pg_conn_s  ngx_svc_pg_conn_t;
typedef struct ngx_svc_pg_pool_s  ngx_svc_pg_pool_t;


typedef enum {
    NGX_SVC_PG_CLOSED = 0,      /* waits for its timer to connect again */
    NGX_SVC_PG_CONNECTING,
    NGX_SVC_PG_SETTING_UP,
    NGX_SVC_PG_READY,
    NGX_SVC_PG_BROKEN,          /* the event loop will close it */
    NGX_SVC_PG_ENDING           /* it was silent, and is closed when its backend
                                   is gone */
} ngx_svc_pg_state_e;


/*
 * The place of an op in the pipeline.  The connection owns it, not the request:
 * when the request has ended, op is NULL, and the answer is still read into the
 * slot.
 */

struct ngx_svc_pg_slot_s {
    ngx_queue_t                queue;       /* in conn->inflight, in the order
                                               of sending; or in conn->free */
    ngx_svc_pg_op_t           *op;
    ngx_svc_pg_committed_pt    committed;   /* of the op, which may be gone */
    ngx_uint_t                 ncalls;
    ngx_uint_t                 ndone;
    const ngx_svc_pg_statement_t  *statements[NGX_SVC_PG_CALLS];
    PGresult                  *results[NGX_SVC_PG_CALLS];
    ngx_svc_pg_results_t       shown;       /* the statements and results that
                                               are not hidden */
    PGresult                  *error;       /* one of the results, or that of
                                               the Sync or of a statement that
                                               is being prepared */
    unsigned                   preparing:1; /* answers up to the next Sync are
                                               of preparing its statements */
    unsigned                   unprepared:1; /* preparing one has failed */
};


/*
 * The process of the server that serves a connection.  PostgreSQL knows it by
 * these two, also behind a pooler; pid 0: unknown.
 */

typedef struct {
    ngx_uint_t                 pid;
    u_char                     start[NGX_SVC_PG_START];
} ngx_svc_pg_backend_t;


struct ngx_svc_pg_conn_s {
    ngx_svc_pg_pool_t         *pool;
    PGconn                    *pg;          /* owns the socket */
    ngx_connection_t          *connection;  /* borrows the socket */
    ngx_svc_pg_state_e         state;
    ngx_event_t                timer;       /* for the back-off, connecting, or
                                               silence */
    ngx_event_t                close;       /* posted when BROKEN */
    ngx_event_t                flush;       /* posted when something is sent */
    ngx_msec_t                 progress;    /* when an answer last came */
    ngx_msec_t                 since;       /* when it became ready */
    ngx_uint_t                 failures;    /* in a row */
    ngx_uint_t                 first;       /* the address that connecting began
                                               with */
    ngx_uint_t                 ninflight;
    ngx_svc_pg_backlog_t      *backlog;     /* the one whose ops are in flight;
                                               NULL in the read pool */
    ngx_uint_t                 nsetup;      /* answers of the setup so far */
    ngx_svc_pg_timeline_t      timeline;
    ngx_svc_pg_backend_t       backend;
    ngx_svc_pg_backend_t       left;        /* the backend of the connection
                                               before, which may still live */
    ngx_msec_t                 looked;      /* when "look" was sent */
    ngx_svc_pg_op_t           *look;        /* the op in flight that asks for
                                               the timeline; or NULL */
    ngx_svc_pg_op_t           *end;         /* the op that ends the backend; or
                                               NULL */
    unsigned                   held:1;      /* set up, and waits until other
                                               nodes have told the timeline that
                                               they know */
    unsigned                   retired:1;   /* gets no more ops, and is closed
                                               after those in flight */
    ngx_queue_t                inflight;
    ngx_queue_t                free;
    ngx_svc_pg_slot_t         *slots;
    ngx_svc_pg_prepared_t     *prepared;
};


/*
 * The backlog of a tenant, or of our own work, in the write or the slow pool,
 * for as long as ops wait in it or connections carry its ops.  It is of the
 * pool's memory, and is used again for others.
 */

struct ngx_svc_pg_backlog_s {
    ngx_queue_t                turn;        /* in pool->turns while ops wait; or
                                               in pool->free_backlogs */
    ngx_queue_t                link;        /* in a bucket */
    ngx_queue_t                waiting;     /* ngx_svc_pg_op_t */
    ngx_uint_t                 nwaiting;
    ngx_uint_t                 nconns;      /* connections with its ops in
                                               flight */
    ngx_svc_pg_pool_t         *pool;
    u_char                     tenant[NGX_SVC_UUID_LEN];
};


#define NGX_SVC_PG_DISK_FULL  "53100"       /* an SQLSTATE */


struct ngx_svc_pg_pool_s {
    ngx_svc_pg_conf_t         *conf;

    /* called when nothing is in flight on the connection any more */
    void                     (*idle)(ngx_svc_pg_conn_t *conn);

    /* asks PostgreSQL to end the backend, and returns NGX_OK; or NULL */
    ngx_int_t                (*end)(ngx_svc_pg_conn_t *conn);

    ngx_svc_pg_pool_e          kind;
    ngx_uint_t                 depth;
    ngx_uint_t                 nconns;
    ngx_svc_pg_conn_t         *conns;
    ngx_uint_t                 nready;
    ngx_uint_t                 nwaiting;    /* in all backlogs */
    ngx_msec_t                 full_at;     /* when the disk was full last */
    unsigned                   full:1;      /* full_at is set */
    ngx_queue_t                turns;       /* backlogs in which ops wait */
    ngx_svc_pg_backlog_t       own;         /* our own work's; the only one in
                                               the read pool */
    ngx_queue_t                buckets[NGX_SVC_PG_BUCKETS];
    ngx_queue_t                free_backlogs;
    ngx_pool_t                *memory;      /* for backlogs */
    ngx_uint_t                 first;       /* the address that connecting
                                               begins with */
    ngx_uint_t                 down;        /* 1: logged that it is down */
    ngx_uint_t                 started;     /* one of its connections was ready
                                               at least once */
    ngx_svc_pg_trouble_e       trouble;     /* of the last try to connect; UP
                                               before the first one has ended */
    ngx_uint_t                 newer;       /* 1: the schema is newer than the
                                               modules */
    ngx_log_t                 *log;
};


/* Initializes a connection of the pool, which is CLOSED. */
void ngx_svc_pg_conn_init(ngx_svc_pg_conn_t *conn, ngx_svc_pg_pool_t *pool);

/* Begins to connect. */
void ngx_svc_pg_conn_start(ngx_svc_pg_conn_t *conn);

/* Lets a connection that is held go on, unless it still has to wait. */
void ngx_svc_pg_conn_release(ngx_svc_pg_conn_t *conn);


#endif /* _NGX_SVC_PG_CONN_H_INCLUDED_ */
