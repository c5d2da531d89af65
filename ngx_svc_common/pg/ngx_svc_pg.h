/*
 * PostgreSQL: pools of pipelined connections in a worker's event loop.
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


#define NGX_SVC_PG_CALLS       14       /* in one op, at most */
#define NGX_SVC_PG_MAX_CONNS   64       /* of one pool in one worker */
#define NGX_SVC_PG_MAX_DEPTH   256      /* ops in flight on one connection */

/* The schema that these modules need; an older one is refused. */
#define NGX_SVC_PG_SCHEMA      56


/*
 * Reads share a few connections, many in flight on each.  A write has one
 * nearly to itself, since a commit waits for the disk in line.  Slow work must
 * not stand in front of either.
 */

typedef enum {
    NGX_SVC_PG_READ = 0,
    NGX_SVC_PG_WRITE,
    NGX_SVC_PG_SLOW,
    NGX_SVC_PG_NPOOLS
} ngx_svc_pg_pool_e;


/*
 * Results come as text.  Each session prepares a statement when it is first
 * given it.  One whose name is empty is that of one op, which it and its text
 * live as long as: it is planned with its values, which costs four times as
 * much.  What is behind nparams is for who runs routes, see ngx_svc_route.h, and
 * may be NULL.
 */

struct ngx_svc_pg_statement_s {
    const char                      *name;      /* of the prepared statement;
                                                   empty: of none */
    const char                      *text;
    ngx_uint_t                       nparams;
    const struct ngx_svc_param_s    *params;    /* their sources */
    const struct ngx_svc_verdict_s  *verdicts;  /* of one of its columns */
    int                              verdict;   /* which one; 0: the first */
    const char                      *missing;   /* 404 when it has no row */
    ngx_uint_t                     (*when)(const void *body);
                                                /* 0: it is left out */
};


typedef struct {
    ngx_uint_t                 connections;
    ngx_uint_t                 depth;
} ngx_svc_pg_pool_conf_t;


typedef struct {
    ngx_str_t                  conninfo;    /* as configured; may hold a
                                               password, never logged */
    const char               **keywords;    /* of PQconnectStartParams() */
    const char              ***values;      /* one list for each address, from
                                               which it begins */
    ngx_uint_t                 naddrs;
    ngx_svc_pg_pool_conf_t     pools[NGX_SVC_PG_NPOOLS];
    ngx_flag_t                 fence;       /* former primaries are refused */
    ngx_msec_t                 connect_timeout;
    ngx_msec_t                 timeout;
    ngx_uint_t                 queue;
    ngx_msec_t                 queue_timeout;
} ngx_svc_pg_conf_t;


typedef enum {
    NGX_SVC_PG_OK = 0,
    NGX_SVC_PG_FAILED,          /* op->error says how; rolled back */
    NGX_SVC_PG_BUSY,            /* not sent: no place free in time */
    NGX_SVC_PG_UNAVAILABLE,     /* not sent: no connection in time */
    NGX_SVC_PG_LOST             /* sent, no answer: of a write nobody knows */
} ngx_svc_pg_status_e;


/*
 * One statement of an op.  Parameters go in binary format.  Arrays are of the
 * op's pool, and so is what they point to, until the op is done.
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

/* results: NULL when the connection was lost, and nobody knows. */
typedef void (*ngx_svc_pg_committed_pt)(const ngx_svc_pg_results_t *results);


/*
 * One round trip and one transaction: statements that go out as one pipeline
 * with one Sync.  Lives in the pool that it was created in.
 */

struct ngx_svc_pg_op_s {
    ngx_svc_pg_handler_pt      handler;
    void                      *data;
    ngx_pool_t                *pool;
    ngx_svc_pg_pool_e          kind;
    ngx_uint_t                 ncalls;
    ngx_uint_t                 nhidden;     /* of the calls, the first ones
                                               whose results nobody is shown */
    ngx_svc_pg_call_t          calls[NGX_SVC_PG_CALLS];

    /*
     * Called before the handler when the transaction is, or may be, committed,
     * also when the op has been cancelled; or NULL.
     */
    ngx_svc_pg_committed_pt    committed;

    /*
     * Whose turn it takes in the write and the slow pool: the 16 bytes of a
     * tenant's id, which live as long as the op.  NULL: our own work, which
     * takes turns too, but is not held to a share.
     */
    const u_char              *tenant;

    /* the outcome, for the handler */

    ngx_svc_pg_status_e        status;
    const ngx_svc_pg_results_t  *results;   /* of the calls that are not
                                               hidden; gone after it */
    PGresult                  *error;
    unsigned                   unprepared:1; /* FAILED: a statement of it could
                                                not be prepared */

    /* private */

    ngx_svc_pg_slot_t         *slot;        /* while in flight */
    ngx_svc_pg_backlog_t      *backlog;     /* while waiting for a slot */
    ngx_queue_t                queue;       /* the same */
    ngx_event_t                timer;       /* while waiting */
    unsigned                   waiting:1;
    unsigned                   retried:1;
};


/* A worker's start and end; a child that a worker forked calls these too. */
NGX_SVC_API ngx_int_t ngx_svc_pg_init_worker(ngx_cycle_t *cycle,
    ngx_svc_pg_conf_t *conf);
NGX_SVC_API void ngx_svc_pg_exit_worker(void);

/*
 * In such a child, first of all: forgets its parent's connections, of which the
 * sockets are closed by the caller.
 */
NGX_SVC_API void ngx_svc_pg_forked(void);


/* NULL when memory runs out. */
NGX_SVC_API ngx_svc_pg_op_t *ngx_svc_pg_op_create(ngx_pool_t *pool,
    ngx_svc_pg_pool_e kind, ngx_svc_pg_handler_pt handler, void *data);

/*
 * Adds a statement to an op, then its parameters in order.  The bytes bound
 * must live as long as the op.  NULL for an SQL NULL.
 */
NGX_SVC_API ngx_svc_pg_call_t *ngx_svc_pg_call(ngx_svc_pg_op_t *op,
    const ngx_svc_pg_statement_t *statement);
NGX_SVC_API void ngx_svc_pg_bind(ngx_svc_pg_call_t *call, const u_char *data,
    size_t len);
NGX_SVC_API void ngx_svc_pg_bind_str(ngx_svc_pg_call_t *call,
    const ngx_str_t *str);
NGX_SVC_API void ngx_svc_pg_bind_bool(ngx_svc_pg_call_t *call, ngx_uint_t b);
NGX_SVC_API ngx_int_t ngx_svc_pg_bind_int(ngx_svc_pg_op_t *op,
    ngx_svc_pg_call_t *call, int32_t n);

/*
 * Sends the op, or lets it wait for a slot.  NGX_OK: the handler will be
 * called, once, and never from within this call.  NGX_BUSY: the queue is full,
 * or the tenant's part of it; NGX_ERROR: memory; the handler will not be
 * called.
 *
 * An op that the handler has seen may be submitted again after
 * ngx_svc_pg_op_reset().
 */
NGX_SVC_API ngx_int_t ngx_svc_pg_submit(ngx_svc_pg_op_t *op);
NGX_SVC_API void ngx_svc_pg_op_reset(ngx_svc_pg_op_t *op);

/*
 * The op's owner goes away: the handler will not be called.  What is in flight
 * still runs, and its answer is dropped.
 */
NGX_SVC_API void ngx_svc_pg_cancel(ngx_svc_pg_op_t *op);

/* The same, with the op's pool, if there is one; it is NULL behind this. */
NGX_SVC_API void ngx_svc_pg_drop(ngx_svc_pg_op_t **op);

/* For the handler: ngx_svc_pg_result() of the op. */
#define ngx_svc_pg_op_result(op, statement)                                   \
    ngx_svc_pg_result((op)->results, statement)

/* Of an op that is FAILED: whether the same may work later. */
NGX_SVC_API ngx_uint_t ngx_svc_pg_op_transient(ngx_svc_pg_op_t *op);

/* Logs at error level why an op has failed, but not all too often. */
NGX_SVC_API void ngx_svc_pg_op_failed(ngx_svc_pg_op_t *op, const char *what);

/* A worker's pool, for the other files of this folder. */
struct ngx_svc_pg_pool_s *ngx_svc_pg_pool(ngx_svc_pg_pool_e kind);

/*
 * What keeps the pool without a connection: NGX_SVC_PG_UP or _SCHEMA_NEW when
 * one is ready.
 */
NGX_SVC_API ngx_svc_pg_trouble_e ngx_svc_pg_trouble(ngx_svc_pg_pool_e kind);

/*
 * Whether a statement of this worker has met a full disk in the last so many
 * ms.  What needs no new page is written all the same.
 */
NGX_SVC_API ngx_uint_t ngx_svc_pg_disk_full(ngx_msec_t ms);


#endif /* _NGX_SVC_PG_H_INCLUDED_ */
