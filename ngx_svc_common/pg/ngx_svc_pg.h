/*
 * PostgreSQL: pools of pipelined connections, in a worker's event loop.
 */

#ifndef _NGX_SVC_PG_H_INCLUDED_
#define _NGX_SVC_PG_H_INCLUDED_


#include "ngx_svc_common.h"
#include "ngx_svc_pg_error.h"
#include "ngx_svc_pg_results.h"
#include "ngx_svc_pg_trouble.h"
#include "ngx_svc_pg_value.h"

#include <ngx_event.h>
#include <libpq-fe.h>


#define NGX_SVC_PG_CALLS       24       /* in one op, at most */
#define NGX_SVC_PG_MAX_CONNS   64       /* of one pool in one worker */
#define NGX_SVC_PG_MAX_DEPTH   256      /* ops in flight on one connection */

/* The schema that these modules need; an older one is refused. */
#define NGX_SVC_PG_SCHEMA      63


/*
 * Reads share a few connections, with many ops in flight on each.  A write has
 * a connection nearly to itself, since an op after it would wait until its
 * commit is on the disk.  Slow work must not delay reads or writes.
 */

typedef enum {
    NGX_SVC_PG_READ = 0,
    NGX_SVC_PG_WRITE,
    NGX_SVC_PG_SLOW,
    NGX_SVC_PG_NPOOLS
} ngx_svc_pg_pool_e;


/*
 * Results come as text.  A connection prepares a statement when it first runs
 * it.  A statement whose name is empty is not prepared: it and its text must
 * live as long as its op, and it is planned with its values, which costs four
 * times as much.  The members after nparams are for routes, see
 * ngx_svc_route.h, and may be NULL.
 */

struct ngx_svc_pg_statement_s {
    const char                      *name;      /* of the prepared statement;
                                                   empty: it is not prepared */
    const char                      *text;
    ngx_uint_t                       nparams;
    const struct ngx_svc_param_s    *params;    /* where they come from */
    const struct ngx_svc_verdict_s  *verdicts;  /* that a column may have */
    int                              verdict;   /* the index of that column */
    const char                      *missing;   /* the detail of the 404 when
                                                   there is no row */
    ngx_uint_t                     (*when)(const void *body);
                                                /* returns 0 when the statement
                                                   is to be left out */
};


typedef struct {
    ngx_uint_t                 connections;
    ngx_uint_t                 depth;
} ngx_svc_pg_pool_conf_t;


typedef struct {
    ngx_str_t                  conninfo;    /* as configured; may hold a
                                               password, never logged */
    const char               **keywords;    /* of PQconnectStartParams() */
    const char              ***values;      /* a list for each address, in which
                                               that address comes first */
    ngx_uint_t                 naddrs;
    ngx_svc_pg_pool_conf_t     pools[NGX_SVC_PG_NPOOLS];
    ngx_flag_t                 fence;       /* 1: former primaries are not
                                               used */
    ngx_msec_t                 connect_timeout;
    ngx_msec_t                 timeout;
    ngx_uint_t                 queue;
    ngx_msec_t                 queue_timeout;
} ngx_svc_pg_conf_t;


typedef enum {
    NGX_SVC_PG_OK = 0,
    NGX_SVC_PG_FAILED,          /* rolled back: op->error is the error */
    NGX_SVC_PG_BUSY,            /* not sent: no slot was free in time */
    NGX_SVC_PG_UNAVAILABLE,     /* not sent: there was no connection in time */
    NGX_SVC_PG_LOST             /* sent, and not answered: a write may have been
                                   committed */
} ngx_svc_pg_status_e;


/*
 * One statement of an op.  Parameters are sent in binary format.  The arrays
 * are of the op's pool; what they point to must live until the op is done.
 */

typedef struct {
    const ngx_svc_pg_statement_t  *statement;
    ngx_uint_t                     nbound;
    const char                   **values;
    int                           *lengths;
    int                           *formats;
} ngx_svc_pg_call_t;


typedef struct ngx_svc_pg_op_s    ngx_svc_pg_op_t;
typedef struct ngx_svc_pg_slot_s  ngx_svc_pg_slot_t;
typedef struct ngx_svc_pg_backlog_s  ngx_svc_pg_backlog_t;

typedef void (*ngx_svc_pg_handler_pt)(ngx_svc_pg_op_t *op);

/*
 * results: NULL when the connection was lost, and the transaction may be
 * committed.
 */
typedef void (*ngx_svc_pg_committed_pt)(const ngx_svc_pg_results_t *results);


/*
 * One round trip and one transaction: statements that are sent as one pipeline
 * with one Sync.  An op lives in the pool that it was created in.
 */

struct ngx_svc_pg_op_s {
    ngx_svc_pg_handler_pt      handler;
    void                      *data;
    ngx_pool_t                *pool;
    ngx_svc_pg_pool_e          kind;
    ngx_uint_t                 ncalls;
    ngx_uint_t                 nhidden;     /* how many of the first calls have
                                               results that are not in
                                               "results" */
    ngx_svc_pg_call_t          calls[NGX_SVC_PG_CALLS];

    /*
     * Called before the handler when the transaction is, or may be, committed,
     * also when the op has been cancelled; or NULL.
     */
    ngx_svc_pg_committed_pt    committed;

    /*
     * The tenant whose turn the op takes in the write and the slow pool: the 16
     * bytes of its id, which live as long as the op.  NULL: our own work, which
     * takes turns too, but is not limited to a share.
     */
    const u_char              *tenant;

    /* the outcome, for the handler */

    ngx_svc_pg_status_e        status;
    const ngx_svc_pg_results_t  *results;   /* of the calls that are not hidden;
                                               freed after the handler */
    PGresult                  *error;
    unsigned                   unprepared:1; /* FAILED: one of the statements
                                                could not be prepared */

    /* private */

    ngx_svc_pg_slot_t         *slot;        /* while the op is in flight */
    ngx_svc_pg_backlog_t      *backlog;     /* while the op waits for a slot */
    ngx_queue_t                queue;       /* in backlog->waiting */
    ngx_event_t                timer;       /* ends the wait for a slot */
    unsigned                   waiting:1;
    unsigned                   retried:1;
};


/* Called when a worker starts, or a child that a worker has forked. */
NGX_SVC_API ngx_int_t ngx_svc_pg_init_worker(ngx_cycle_t *cycle,
    ngx_svc_pg_conf_t *conf);

/* Called when a worker, or such a child, ends. */
NGX_SVC_API void ngx_svc_pg_exit_worker(void);

/*
 * Forgets the parent's connections, whose sockets the caller closes.  Such a
 * child calls this first of all.
 */
NGX_SVC_API void ngx_svc_pg_forked(void);


/* Creates an op; returns NULL when memory runs out. */
NGX_SVC_API ngx_svc_pg_op_t *ngx_svc_pg_op_create(ngx_pool_t *pool,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler, void *data);

/*
 * Adds a statement to an op; its parameters are bound afterwards, in their
 * order.  Returns NULL when memory runs out.
 */
NGX_SVC_API ngx_svc_pg_call_t *ngx_svc_pg_call(ngx_svc_pg_op_t *op,
    const ngx_svc_pg_statement_t *statement);

/*
 * These bind the next parameter.  The bytes must live as long as the op.  A
 * NULL pointer is an SQL NULL; an ngx_str_t without data is an empty text.
 * ngx_svc_pg_bind_int() copies its number, and returns NGX_OK, or NGX_ERROR
 * when memory runs out.
 */
NGX_SVC_API void ngx_svc_pg_bind(ngx_svc_pg_call_t *call, const u_char *data,
    size_t len);
NGX_SVC_API void ngx_svc_pg_bind_str(ngx_svc_pg_call_t *call,
    const ngx_str_t *str);
NGX_SVC_API void ngx_svc_pg_bind_bool(ngx_svc_pg_call_t *call, ngx_uint_t b);
NGX_SVC_API ngx_int_t ngx_svc_pg_bind_int(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call, int32_t n);

/*
 * Sends the op, or lets it wait for a slot.  Returns NGX_OK, and the handler
 * will be called, once, and never from within this call.  Otherwise the handler
 * will not be called: returns NGX_BUSY when the queue, or the tenant's part of
 * it, is full; NGX_ERROR when memory runs out.
 */
NGX_SVC_API ngx_int_t ngx_svc_pg_submit(ngx_svc_pg_op_t *op);

/* Empties an op, which may be submitted again, when its handler was called. */
NGX_SVC_API void ngx_svc_pg_op_reset(ngx_svc_pg_op_t *op);

/*
 * Lets go of an op whose owner ends: the handler will not be called.  If the op
 * is in flight it still runs, and its answer is dropped.
 */
NGX_SVC_API void ngx_svc_pg_cancel(ngx_svc_pg_op_t *op);

/* Cancels *op if it is not NULL, destroys its pool, and sets *op to NULL. */
NGX_SVC_API void ngx_svc_pg_drop(ngx_svc_pg_op_t **op);

/* The result of a statement of the op, for its handler. */
#define ngx_svc_pg_op_result(op, statement)                                   \
    ngx_svc_pg_result((op)->results, statement)

/* Returns 1 if an op that is FAILED may succeed when it is sent again later. */
NGX_SVC_API ngx_uint_t ngx_svc_pg_op_transient(ngx_svc_pg_op_t *op);

/* Logs at error level why an op has failed, the same text once in a while. */
NGX_SVC_API void ngx_svc_pg_op_failed(ngx_svc_pg_op_t *op, const char *what);

/* Returns a worker's pool, for the other files of this folder. */
struct ngx_svc_pg_pool_s *ngx_svc_pg_pool(ngx_svc_pg_pool_e kind);

/*
 * Tells why the pool has no connection; NGX_SVC_PG_UP or _SCHEMA_NEW when it
 * has one that is ready.
 */
NGX_SVC_API ngx_svc_pg_trouble_e ngx_svc_pg_trouble(ngx_svc_pg_pool_e kind);

/*
 * Returns 1 if a statement of this worker has met a full disk in the last "ms"
 * milliseconds.  Writes that need no new page succeed nevertheless.
 */
NGX_SVC_API ngx_uint_t ngx_svc_pg_disk_full(ngx_msec_t ms);


#endif /* _NGX_SVC_PG_H_INCLUDED_ */
