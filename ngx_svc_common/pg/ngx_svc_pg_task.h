/*
 * Work in PostgreSQL that nobody has asked for: a statement that runs from time
 * to time.
 */

#ifndef _NGX_SVC_PG_TASK_H_INCLUDED_
#define _NGX_SVC_PG_TASK_H_INCLUDED_


#include "ngx_svc_pg.h"


/*
 * Those up to "failed" are the caller's to set.  The statement answers with how
 * many rows it has changed: when that is a full round, the next one follows
 * after a pause.  bind: adds its parameters, NGX_OK or NGX_ERROR; or NULL.
 * done: sees the results of a round, which are gone after it; or NULL.  The log
 * has an error when it begins to fail, or fails in another way, and a notice
 * when it is over.
 */

typedef struct {
    const ngx_svc_pg_statement_t  *statement;
    ngx_int_t                    (*bind)(ngx_svc_pg_op_t *op,
                                         ngx_svc_pg_call_t *call);
    void                         (*done)(ngx_svc_pg_op_t *op);
    ngx_svc_pg_pool_e              pool;        /* not the one for reads */
    ngx_msec_t                     period;
    ngx_msec_t                     pause;
    ngx_int_t                      full;
    const char                    *failed;      /* what the error log says */

    ngx_event_t                    timer;
    ngx_svc_pg_op_t               *op;          /* in flight, or NULL */
    uint32_t                       trouble;     /* of the last round: a status,
                                                   or its error's checksum */
} ngx_svc_pg_task_t;


/*
 * At a process's start and end.  The first round is within a period, at a time
 * that is another one on each node.
 */
NGX_SVC_API void ngx_svc_pg_task_init(ngx_svc_pg_task_t *task,
    ngx_cycle_t *cycle);
NGX_SVC_API void ngx_svc_pg_task_exit(ngx_svc_pg_task_t *task);


#endif /* _NGX_SVC_PG_TASK_H_INCLUDED_ */
