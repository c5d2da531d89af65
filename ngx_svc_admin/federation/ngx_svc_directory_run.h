/*
 * One import that is under way, and its steps.  It belongs to whoever has its
 * lease, which each step renews: when a worker ends, or PostgreSQL is away, the
 * import just ends, and another one begins when the lease is over.
 */

#ifndef _NGX_SVC_DIRECTORY_RUN_H_INCLUDED_
#define _NGX_SVC_DIRECTORY_RUN_H_INCLUDED_


#include "ngx_svc_ldap.h"
#include "ngx_svc_pg.h"


typedef struct ngx_svc_directory_run_s  ngx_svc_directory_run_t;

typedef enum {
    NGX_SVC_DIRECTORY_OK = 0,
    NGX_SVC_DIRECTORY_HELD,             /* too many would be deactivated */
    NGX_SVC_DIRECTORY_FAILED,
    NGX_SVC_DIRECTORY_ENDS
} ngx_svc_directory_end_e;


typedef void (*ngx_svc_directory_step_pt)(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op);


struct ngx_svc_directory_run_s {
    ngx_pool_t                *pool;
    ngx_pool_t                *step;    /* of the page, or the op */
    ngx_svc_pg_op_t           *op;      /* in flight, or NULL */
    ngx_event_t                timer;
    u_char                     tenant[NGX_SVC_UUID_LEN];
    ngx_str_t                  tenant_id;   /* the same bytes */
    ngx_str_t                  number;  /* of the run, as text */
    ngx_svc_directory_step_pt  next;    /* what follows the op */
    ngx_svc_directory_end_e    end;     /* how it ends, once it does */
    void                     (*over)(ngx_svc_directory_run_t *run);
                                        /* called once, when it has ended */

    /* what its last step has told */

    unsigned                   forced:1;    /* 1: whoever leaves may leave */
    unsigned                   deactivates:1;

    ngx_svc_ldap_directory_t   directory;
    ngx_svc_ldap_t             ldap;
    ngx_svc_ldap_page_t        page;
    u_char                     digest[NGX_SVC_SHA256_LEN];  /* of the page */
    ngx_uint_t                 pages;
    ngx_msec_t                 began;   /* the write */

    u_char                     after[2 * NGX_SVC_SHA256_LEN];
    size_t                     after_len;   /* the identity looked at last */
    ngx_int_t                  active;  /* users of the directory */
    ngx_int_t                  ending;  /* those to be deactivated */
};


/* Destroys the pool of the step before, and makes another one, or NULL. */
ngx_pool_t *ngx_svc_directory_run_step(ngx_svc_directory_run_t *run);

/*
 * Returns an op in the step's pool, with the tenant, and the lease, without
 * which there is no tenant for the rest; or NULL.
 */
ngx_svc_pg_op_t *ngx_svc_directory_run_op(ngx_svc_directory_run_t *run);

/*
 * Submits the op; next is called when it is done and the run still has its
 * lease, and the directory is as it was read.  op: NULL, or rc no NGX_OK: the
 * run ends.
 */
void ngx_svc_directory_run_submit(ngx_svc_directory_run_t *run,
    ngx_svc_pg_op_t *op, ngx_int_t rc, ngx_svc_directory_step_pt next);

/* Binds the connection and the number of the run. */
void ngx_svc_directory_run_bind(ngx_svc_directory_run_t *run,
    ngx_svc_pg_call_t *call);

/* Ends the run; error: the sentence of one that has failed, or NULL. */
void ngx_svc_directory_run_end(ngx_svc_directory_run_t *run,
    ngx_svc_directory_end_e end, const ngx_str_t *error);

/* Ends the run without a word, and frees it. */
void ngx_svc_directory_run_drop(ngx_svc_directory_run_t *run);


#endif /* _NGX_SVC_DIRECTORY_RUN_H_INCLUDED_ */
