/*
 * In the helper: what its lanes have in common.
 *
 * A lane is a kind of work.  Each is a const table: how it begins and ends;
 * where PostgreSQL has its work, how that is claimed; and where a row is one
 * request (NGX_SVC_LANE_ROWS), what it says, and what becomes of the row.  Who
 * claims a row has it until it is due again, which the statement puts off, so
 * each is done at least once, whoever dies on the way.
 */

#ifndef _NGX_SVC_LANE_H_INCLUDED_
#define _NGX_SVC_LANE_H_INCLUDED_


#include "ngx_svc_metrics.h"
#include "ngx_svc_webhook_op.h"
#include "ngx_svc_webhook_request.h"


#define NGX_SVC_LANE_BUSY  2


typedef struct ngx_svc_lane_s      ngx_svc_lane_t;
typedef struct ngx_svc_lane_job_s  ngx_svc_lane_job_t;


/* What became of a job, as its lane is told. */

typedef enum {
    NGX_SVC_LANE_DONE = 0,              /* the answer was a 2xx */
    NGX_SVC_LANE_RETRIED,               /* another attempt follows */
    NGX_SVC_LANE_ABANDONED,             /* none does */
    NGX_SVC_LANE_REFUSED,               /* its address was, by us */
    NGX_SVC_LANE_COUNTED,               /* those before have a metric */
    NGX_SVC_LANE_POSTPONED = NGX_SVC_LANE_COUNTED,  /* nothing was sent */
    NGX_SVC_LANE_NOBODY                 /* nobody wants it any more */
} ngx_svc_lane_outcome_e;


/* A row that is here; in its pool. */

struct ngx_svc_lane_job_s {
    const ngx_svc_lane_t       *lane;
    ngx_pool_t                 *pool;
    ngx_queue_t                 queue;
    ngx_svc_pg_op_t            *op;         /* what becomes of it, or NULL */
    ngx_str_t                  *row;        /* its columns, NUL-terminated; no
                                               data: NULL */
    void                       *data;       /* the lane's own */
    ngx_svc_lane_outcome_e      outcome;
    ngx_svc_webhook_request_t   request;    /* its handler and data are ours */
};


typedef struct {
    ngx_event_t              timer;     /* of the next claim */
    ngx_svc_pg_op_t         *claim;     /* under way, or NULL */
    ngx_queue_t              jobs;
    ngx_uint_t               njobs;
    void                   (*drained)(void);
} ngx_svc_lane_state_t;


/* Of one value of a column more jobs than "most" are not claimed, about. */

typedef struct {
    ngx_uint_t               column;
    ngx_uint_t               most;
} ngx_svc_lane_busy_t;


struct ngx_svc_lane_s {

    /*
     * At the helper's start, behind that of PostgreSQL and Redis; id, before:
     * as of ngx_svc_webhook_queue_start().  NGX_DECLINED: it is off, and
     * nothing more is asked of it.
     */
    ngx_int_t              (*init)(const ngx_svc_lane_t *lane,
                                   ngx_cycle_t *cycle, const u_char *id,
                                   const ngx_str_t *before);

    /* Begins nothing more; done, once: what was under way has ended. */
    void                   (*drain)(const ngx_svc_lane_t *lane,
                                    void (*done)(void));

    /* What is left is for others; done, once: they can have it. */
    void                   (*leave)(const ngx_svc_lane_t *lane,
                                    void (*done)(void));

    /* At the helper's end, behind that of Redis; or NULL. */
    void                   (*exit)(const ngx_svc_lane_t *lane);

    /*
     * Claims, of which one is under way at a time.  due: whether it is time for
     * one.  claim: adds its statements; NGX_ERROR: memory.  claimed: it has
     * ended, well or not.
     */
    ngx_svc_lane_state_t    *state;
    ngx_msec_t               look;      /* ms between them */
    ngx_uint_t               lazy;      /* their commits need not wait */
    const char              *waits;     /* what is logged of one that fails */
    ngx_uint_t             (*due)(const ngx_svc_lane_t *lane);
    ngx_int_t              (*claim)(const ngx_svc_lane_t *lane,
                                    ngx_svc_pg_op_t *op);
    void                   (*claimed)(const ngx_svc_lane_t *lane,
                                      ngx_svc_pg_op_t *op);

    /* Of NGX_SVC_LANE_ROWS. */

    size_t                   on;        /* offset of a flag */
    const char              *name;      /* of a job, in the log */
    const char              *again;     /* what is logged when its outcome
                                           cannot be */
    ngx_msec_t               soon;      /* ms, when there may be more */
    ngx_uint_t               most;      /* jobs at the same time */
    const ngx_svc_pg_statement_t  *take;    /* $1: at most so many rows, $2...:
                                               arrays of what is busy */
    ngx_uint_t               ncolumns;
    ngx_uint_t               tenant;    /* a column */
    ngx_uint_t               attempt;   /* likewise: with this one */
    ngx_svc_lane_busy_t      busy[NGX_SVC_LANE_BUSY];
    ngx_uint_t               nbusy;
    ngx_uint_t               attempts;
    ngx_svc_metric_e         metrics[NGX_SVC_LANE_COUNTED];

    ngx_int_t              (*can)(ngx_cycle_t *cycle);  /* NGX_OK: it can work;
                                           or NULL: it always can */

    /*
     * Says what the request is; NGX_DECLINED: there is nothing to do;
     * NGX_ERROR: it cannot be made now, and the row is due again by itself.
     */
    ngx_int_t              (*request)(ngx_svc_lane_job_t *job);

    /* Adds what becomes of the row; NGX_ERROR: memory. */
    ngx_int_t              (*finish)(ngx_svc_lane_job_t *job,
                                     ngx_svc_pg_op_t *op);
};


/* Begins to claim, and ends it; and, looks in so many ms. */
void ngx_svc_lane_start(const ngx_svc_lane_t *lane, ngx_cycle_t *cycle);
void ngx_svc_lane_stop(const ngx_svc_lane_t *lane);
void ngx_svc_lane_look(const ngx_svc_lane_t *lane, ngx_msec_t ms);

/* Calls *done, if there is one, for the only time. */
void ngx_svc_lane_done(void (**done)(void));

/* The place of a member in a struct of ngx_str_t, which is a row's. */
#define ngx_svc_lane_column(type, member)                                     \
    (offsetof(type, member) / sizeof(ngx_str_t))

/* What such a lane's table begins with. */
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
