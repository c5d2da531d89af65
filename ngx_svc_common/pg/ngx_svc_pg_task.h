/*
 * Tasks: statements that a process runs from time to time, without a request.
 */

#ifndef _NGX_SVC_PG_TASK_H_INCLUDED_
#define _NGX_SVC_PG_TASK_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * The caller sets the members up to "failed".  The statement answers with how
 * many rows it has changed: after a full round the next one follows after
 * "pause".  bind adds the parameters, and returns NGX_OK or NGX_ERROR; or NULL.
 * done is called with the results of a round, which are freed after it; or
 * NULL.  An error is logged when the task begins to fail, or fails in another
 * way, and a notice when it succeeds again.
 */

typedef struct {
    const ngx_svc_pg_statement_t  *statement;
    ngx_int_t                    (*bind)(ngx_svc_pg_op_t *op,
                                         ngx_svc_pg_call_t *call);
    void                         (*done)(ngx_svc_pg_op_t *op);
    ngx_svc_pg_pool_e              pool;        /* not the one for reads */
    ngx_msec_t                     period;
    ngx_msec_t                     pause;
    ngx_int_t                      full;        /* rows of a full round */
    const char                    *failed;      /* what the error log says */

    ngx_event_t                    timer;
    ngx_svc_pg_op_t               *op;          /* in flight, or NULL */
    uint32_t                       trouble;     /* of the last round: its
                                                   status, or the checksum of
                                                   its error */
} ngx_svc_pg_task_t;


/*
 * Called when a process starts.  The first round is within a period, at another
 * time on each node.
 */
NGX_SVC_API void ngx_svc_pg_task_init(ngx_svc_pg_task_t *task,
    ngx_cycle_t *cycle);

/* Called when a process ends. */
NGX_SVC_API void ngx_svc_pg_task_exit(ngx_svc_pg_task_t *task);


#endif /* _NGX_SVC_PG_TASK_H_INCLUDED_ */
