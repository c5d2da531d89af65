/*
 * One PostgreSQL connection; and what the ngx_svc_pg*.c share, its pool and a
 * tenant's backlog.
 */

#ifndef _NGX_SVC_PG_CONN_H_INCLUDED_
#define _NGX_SVC_PG_CONN_H_INCLUDED_


#include "ngx_svc_crypto.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_pg.h"
#include "ngx_svc_pg_fence.h"
#include "ngx_svc_pg_prepared.h"


/* PostgreSQL's own statement_timeout, of the same length, answers first. */

#define NGX_SVC_PG_GRACE    500         /* ms */

#define NGX_SVC_PG_START    40          /* bytes of a timestamp, with NUL */

#define NGX_SVC_PG_BUCKETS  64          /* of backlogs, a power of two */

_Static_assert(NGX_SVC_PG_NPOOLS == NGX_SVC_G_PG_POOLS, "gauges of each pool");

typedef struct ngx_svc_pg_conn_s  ngx_svc_pg_conn_t;
typedef struct ngx_svc_pg_pool_s  ngx_svc_pg_pool_t;


typedef enum {
    NGX_SVC_PG_CLOSED = 0,      /* waits for its timer to connect again */
    NGX_SVC_PG_CONNECTING,
    NGX_SVC_PG_SETTING_UP,
    NGX_SVC_PG_READY,
    NGX_SVC_PG_BROKEN,          /* to be closed from the event loop */
    NGX_SVC_PG_ENDING           /* silent: closed when its backend is gone */
} ngx_svc_pg_state_e;


/*
 * An op's place in the pipeline.  It is the connection's, not the request's:
 * when the request is gone, op is NULL and the answer is still read into here.
 */

struct ngx_svc_pg_slot_s {
    ngx_queue_t                queue;       /* in flight, in order; or free */
    ngx_svc_pg_op_t           *op;
    ngx_svc_pg_committed_pt    committed;   /* of the op, which may be gone */
    ngx_uint_t                 ncalls;
    ngx_uint_t                 ndone;
    const ngx_svc_pg_statement_t  *statements[NGX_SVC_PG_CALLS];
    PGresult                  *results[NGX_SVC_PG_CALLS];
    ngx_svc_pg_results_t       shown;       /* of both, what is not hidden */
    PGresult                  *error;       /* one of results, of the Sync, or of
                                               a statement being prepared */
    unsigned                   preparing:1; /* answers up to the next Sync are
                                               those of its statements */
    unsigned                   unprepared:1; /* one of them has failed */
};


/*
 * A server's process for a session, which PostgreSQL knows it by also behind a
 * pooler; pid 0: unknown.
 */

typedef struct {
    ngx_uint_t                 pid;
    u_char                     start[NGX_SVC_PG_START];
} ngx_svc_pg_backend_t;


struct ngx_svc_pg_conn_s {
    ngx_svc_pg_pool_t         *pool;
    PGconn                    *pg;          /* owns the socket */
    ngx_connection_t          *connection;  /* borrows it */
    ngx_svc_pg_state_e         state;
    ngx_event_t                timer;       /* back-off, connect, silence */
    ngx_event_t                close;       /* posted when BROKEN */
    ngx_event_t                flush;       /* posted when something is sent */
    ngx_msec_t                 progress;    /* when an answer last came */
    ngx_msec_t                 since;       /* when it became ready */
    ngx_uint_t                 failures;    /* in a row */
    ngx_uint_t                 first;       /* address that it began with */
    ngx_uint_t                 ninflight;
    ngx_svc_pg_backlog_t      *backlog;     /* whose ops are in flight; NULL in
                                               the read pool */
    ngx_uint_t                 nsetup;      /* answers of the setup so far */
    ngx_svc_pg_timeline_t      timeline;
    ngx_svc_pg_backend_t       backend;
    ngx_svc_pg_backend_t       left;        /* that may live still, of before */
    ngx_msec_t                 looked;      /* when the look began */
    ngx_svc_pg_op_t           *look;        /* at the timeline, in flight; and
                                               to end the backend; or NULL */
    ngx_svc_pg_op_t           *end;
    unsigned                   held:1;      /* set up, and waits for what other
                                               nodes know of its server */
    unsigned                   retired:1;   /* gets no more ops, and is closed
                                               behind those in flight */
    ngx_queue_t                inflight;
    ngx_queue_t                free;
    ngx_svc_pg_slot_t         *slots;
    ngx_svc_pg_prepared_t     *prepared;
};


/*
 * A tenant in the write or the slow pool, for as long as it has ops that wait
 * or connections; or our own work.  Of the pool's memory, and used again.
 */

struct ngx_svc_pg_backlog_s {
    ngx_queue_t                turn;        /* while ops wait; or free */
    ngx_queue_t                link;        /* of a bucket */
    ngx_queue_t                waiting;     /* ngx_svc_pg_op_t */
    ngx_uint_t                 nwaiting;
    ngx_uint_t                 nconns;      /* that its ops are in flight on */
    ngx_svc_pg_pool_t         *pool;
    u_char                     tenant[NGX_SVC_UUID_LEN];
};


#define NGX_SVC_PG_DISK_FULL  "53100"       /* an SQLSTATE */


struct ngx_svc_pg_pool_s {
    ngx_svc_pg_conf_t         *conf;

    /* the queue's: nothing is in flight on the connection any more */
    void                     (*idle)(ngx_svc_pg_conn_t *conn);

    /* NGX_OK: PostgreSQL is asked to end the backend; NULL: nobody can ask */
    ngx_int_t                (*end)(ngx_svc_pg_conn_t *conn);

    ngx_svc_pg_pool_e          kind;
    ngx_uint_t                 depth;
    ngx_uint_t                 nconns;
    ngx_svc_pg_conn_t         *conns;
    ngx_uint_t                 nready;
    ngx_uint_t                 nwaiting;    /* in all backlogs */
    ngx_msec_t                 full_at;     /* the disk, the last time */
    unsigned                   full:1;
    ngx_queue_t                turns;       /* backlogs in which ops wait */
    ngx_svc_pg_backlog_t       own;         /* in the read pool: the only one */
    ngx_queue_t                buckets[NGX_SVC_PG_BUCKETS];
    ngx_queue_t                free_backlogs;
    ngx_pool_t                *memory;      /* of backlogs */
    ngx_uint_t                 first;       /* address to begin with */
    ngx_uint_t                 down;        /* said in the log */
    ngx_uint_t                 started;     /* one of its connections was ready
                                               at least once */
    ngx_svc_pg_trouble_e       trouble;     /* of the latest attempt; UP before
                                               the end of the first one */
    ngx_uint_t                 newer;       /* the schema is, than we */
    ngx_log_t                 *log;
};


void ngx_svc_pg_conn_init(ngx_svc_pg_conn_t *conn, ngx_svc_pg_pool_t *pool);
void ngx_svc_pg_conn_start(ngx_svc_pg_conn_t *conn);

/* One that was held goes on, unless it still has to be. */
void ngx_svc_pg_conn_release(ngx_svc_pg_conn_t *conn);


#endif /* _NGX_SVC_PG_CONN_H_INCLUDED_ */
