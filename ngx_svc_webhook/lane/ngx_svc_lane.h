/*
 * In the helper: what its lanes have in common.
 *
 * A lane is one kind of work.  Each is a const table: how it begins and ends;
 * how its work is claimed in PostgreSQL; and if a row is one request
 * (NGX_SVC_LANE_ROWS), what the request is, and what becomes of the row.  The
 * statement that claims a row puts off when it is due again.  Until then the
 * helper has it, so each row is done at least once even if helpers die.
 */

#ifndef _NGX_SVC_LANE_H_INCLUDED_
#define _NGX_SVC_LANE_H_INCLUDED_


#include "ngx_svc_helper_op.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_outbound.h"


#define NGX_SVC_LANE_BUSY  2


typedef struct ngx_svc_lane_s      ngx_svc_lane_t;
typedef struct ngx_svc_lane_job_s  ngx_svc_lane_job_t;


/* The outcome of a job, for its lane. */

typedef enum {
    NGX_SVC_LANE_DONE = 0,              /* the answer was a 2xx */
    NGX_SVC_LANE_RETRIED,               /* another attempt follows */
    NGX_SVC_LANE_ABANDONED,             /* the last attempt has failed */
    NGX_SVC_LANE_REFUSED,               /* we refused the address */
    NGX_SVC_LANE_COUNTED,               /* the outcomes above have a metric */
    NGX_SVC_LANE_POSTPONED = NGX_SVC_LANE_COUNTED,  /* nothing was sent */
    NGX_SVC_LANE_NOBODY                 /* nobody wants the request any more */
} ngx_svc_lane_outcome_e;


/* A row that is being worked on; in its pool. */

struct ngx_svc_lane_job_s {
    const ngx_svc_lane_t    *lane;
    ngx_pool_t              *pool;
    ngx_queue_t              queue;
    ngx_svc_pg_op_t         *op;            /* stores the outcome; or NULL */
    ngx_str_t               *row;           /* the row's columns,
                                               NUL-terminated; without data:
                                               NULL */
    void                    *data;          /* for the lane */
    ngx_svc_lane_outcome_e   outcome;
    ngx_svc_outbound_t       request;       /* its handler and data are ours */
};


typedef struct {
    ngx_event_t              timer;     /* until the next claim */
    ngx_svc_pg_op_t         *claim;     /* under way, or NULL */
    ngx_queue_t              jobs;
    ngx_uint_t               njobs;
    void                   (*drained)(void);
} ngx_svc_lane_state_t;


/* Values of a column with about "most" jobs or more are not claimed. */

typedef struct {
    ngx_uint_t               column;
    ngx_uint_t               most;
} ngx_svc_lane_busy_t;


struct ngx_svc_lane_s {

    /*
     * Called at the helper's start, after PostgreSQL's and Redis'; id, before:
     * see ngx_svc_webhook_queue_start().  NGX_DECLINED: the lane is off, and
     * not used.
     */
    ngx_int_t              (*init)(const ngx_svc_lane_t *lane,
                                   ngx_cycle_t *cycle, const u_char *id,
                                   const ngx_str_t *before);

    /* Begins nothing new; done() is called once, when all has ended. */
    void                   (*drain)(const ngx_svc_lane_t *lane,
                                    void (*done)(void));

    /*
     * Leaves the rest to other helpers; done() is called once, when they can
     * have it.
     */
    void                   (*leave)(const ngx_svc_lane_t *lane,
                                    void (*done)(void));

    /* Called at the helper's end, after Redis'; or NULL. */
    void                   (*exit)(const ngx_svc_lane_t *lane);

    /*
     * Claims; one is under way at a time.  due: returns whether it is time for
     * one.  claim: adds its statements; NGX_ERROR: no memory.  claimed: it has
     * ended, well or not.
     */
    ngx_svc_lane_state_t    *state;
    ngx_msec_t               look;      /* ms between claims */
    ngx_uint_t               lazy;      /* 1: commits do not wait for the
                                           disk */
    const char              *waits;     /* text for the log when a claim
                                           fails */
    ngx_uint_t             (*due)(const ngx_svc_lane_t *lane);
    ngx_int_t              (*claim)(const ngx_svc_lane_t *lane,
                                    ngx_svc_pg_op_t *op);
    void                   (*claimed)(const ngx_svc_lane_t *lane,
                                      ngx_svc_pg_op_t *op);

    /* the rest is for NGX_SVC_LANE_ROWS */

    size_t                   on;        /* offset of the flag in the
                                           configuration */
    const char              *name;      /* a job's name in the log */
    const char              *again;     /* text for the log when an outcome
                                           cannot be stored */
    ngx_msec_t               soon;      /* ms until the next claim, if there may
                                           be more rows */
    ngx_uint_t               most;      /* jobs at a time */
    const ngx_svc_pg_statement_t  *take;    /* $1: number of rows, at most;
                                               $2...: arrays of busy values */
    ngx_uint_t               ncolumns;
    ngx_uint_t               tenant;    /* number of the tenant's column */
    ngx_uint_t               attempt;   /* column with the attempt's number */
    ngx_svc_lane_busy_t      busy[NGX_SVC_LANE_BUSY];
    ngx_uint_t               nbusy;
    ngx_uint_t               attempts;
    ngx_svc_metric_e         metrics[NGX_SVC_LANE_COUNTED];

    ngx_int_t              (*can)(ngx_cycle_t *cycle);  /* NGX_OK: the lane can
                                                           work; or NULL */

    /*
     * Sets the request.  NGX_DECLINED: there is nothing to do; NGX_ERROR: it
     * cannot be made now, and the row will be due again.
     */
    ngx_int_t              (*request)(ngx_svc_lane_job_t *job);

    /* Adds the statement for the row's outcome.  NGX_ERROR: no memory. */
    ngx_int_t              (*finish)(ngx_svc_lane_job_t *job,
                                     ngx_svc_pg_op_t *op);
};


/* Begins to claim. */
void ngx_svc_lane_start(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle);

/* Claims no more. */
void ngx_svc_lane_stop(const ngx_svc_lane_t *lane);

/* Sets the next claim to be due in ms. */
void ngx_svc_lane_look(const ngx_svc_lane_t *lane, ngx_msec_t ms);

/* Calls *done, unless it is NULL, and sets it to NULL. */
void ngx_svc_lane_done(void (**done)(void));

/* The number of the column that is this member of a struct of ngx_str_t. */
#define ngx_svc_lane_column(type, member)                                     \
    (offsetof(type, member) / sizeof(ngx_str_t))

/* The first members of such a lane's table. */
#define NGX_SVC_LANE_ROWS                                                     \
    .init = ngx_svc_lane_rows_init,                                           \
    .drain = ngx_svc_lane_rows_drain,                                         \
    .leave = ngx_svc_lane_rows_leave,                                         \
    .exit = ngx_svc_lane_rows_exit,                                           \
    .due = ngx_svc_lane_rows_due,                                             \
    .claim = ngx_svc_lane_rows_claim,                                         \
    .claimed = ngx_svc_lane_rows_claimed,                                     \
    .lazy = 1

ngx_int_t ngx_svc_lane_rows_init(const ngx_svc_lane_t *lane,
    ngx_cycle_t *cycle, const u_char *id, const ngx_str_t *before);
void ngx_svc_lane_rows_drain(const ngx_svc_lane_t *lane, void (*done)(void));
void ngx_svc_lane_rows_leave(const ngx_svc_lane_t *lane, void (*done)(void));
void ngx_svc_lane_rows_exit(const ngx_svc_lane_t *lane);
ngx_uint_t ngx_svc_lane_rows_due(const ngx_svc_lane_t *lane);
ngx_int_t ngx_svc_lane_rows_claim(const ngx_svc_lane_t *lane,
    ngx_svc_pg_op_t *op);
void ngx_svc_lane_rows_claimed(const ngx_svc_lane_t *lane,
    ngx_svc_pg_op_t *op);


#endif /* _NGX_SVC_LANE_H_INCLUDED_ */
