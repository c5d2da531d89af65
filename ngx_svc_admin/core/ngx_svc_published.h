/*
 * What other servers publish, as their keys: what fetches and stores it.
 *
 * A refresh is no request's: it goes on when those that wait for it have gone.
 * There is one for each id and minute on all nodes, as PostgreSQL says who may
 * fetch; what is fetched is stored unless another fetch has begun by then, so
 * that a slow answer brings nothing back that was taken away.
 */

#ifndef _NGX_SVC_PUBLISHED_H_INCLUDED_
#define _NGX_SVC_PUBLISHED_H_INCLUDED_


#include "ngx_svc_fetch.h"
#include "ngx_svc_request.h"


typedef struct ngx_svc_published_s  ngx_svc_published_t;

/* What is to be fetched, for whom, and where it is stored. */

typedef struct {
    const ngx_svc_pg_statement_t  *claim;   /* binds the id; no row: not now */

    /* of a row of "claim": sets asked_at, fetch.url and fetch.limit; NGX_OK or
       NGX_ERROR */
    ngx_int_t                    (*claimed)(ngx_svc_published_t *published,
                                            PGresult *res);

    /* of an answer with status 200: NGX_OK when it is to be stored; NGX_AGAIN
       with another URL in "fetch"; NGX_DECLINED with "error"; NGX_ERROR */
    ngx_int_t                    (*answered)(ngx_svc_published_t *published);

    /* adds the calls that store it, or "error": NGX_OK or NGX_ERROR */
    ngx_int_t                    (*store)(ngx_svc_published_t *published,
                                          ngx_svc_pg_op_t *op);
    ngx_str_t                      accept;  /* a header */
    ngx_msec_t                     time;    /* of each fetch */
    ngx_msec_t                     late;    /* for how long those wait whose
                                               claim others have; 0: not */
    const char                    *failed;  /* what the error log says */
} ngx_svc_published_kind_t;

/* A refresh, in a pool of its own. */

struct ngx_svc_published_s {
    ngx_queue_t                queue;
    ngx_queue_t                waiting;     /* ngx_svc_published_wait_t */
    ngx_uint_t                 nwaiting;
    ngx_pool_t                *pool;
    ngx_svc_pg_op_t           *op;          /* in flight, or NULL */
    ngx_event_t                timer;
    const ngx_svc_published_kind_t  *kind;
    ngx_svc_fetch_t            fetch;
    ngx_str_t                  tenant;      /* UUID, as bytes */
    ngx_str_t                  id;
    ngx_str_t                  asked_at;    /* when it was claimed */
    ngx_str_t                  text;        /* that is stored */
    ngx_str_t                  error;
    void                      *data;        /* the kind's */
};

/* One that waits: the caller's, zeroed, until it is called or forgotten. */

typedef struct {
    ngx_queue_t                queue;
    ngx_uint_t                *nwaiting;    /* NULL: it does not wait */
    ngx_svc_request_t         *sr;
    ngx_svc_pg_pool_e          pool;
    ngx_int_t                (*calls)(ngx_svc_request_t *sr);
    ngx_int_t                (*reply)(ngx_svc_request_t *sr);
} ngx_svc_published_wait_t;


/*
 * Begins a refresh, unless one is under way in this worker.  tenant: the bytes
 * of its id.  Returns NGX_OK; NGX_DECLINED when nothing fetches here, or too
 * much is under way; NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_published_refresh(const ngx_svc_published_kind_t *kind,
    const u_char *tenant, const ngx_str_t *id);

/*
 * Makes a refresh that was claimed, or returns NULL: one is under way, or too
 * much is.  tenant: its id, as text.  ngx_svc_published_fetch() begins it.
 */
ngx_svc_published_t *ngx_svc_published_create(
    const ngx_svc_published_kind_t *kind, const ngx_str_t *tenant,
    const ngx_str_t *id);

/* Begins the fetch of fetch.url, unless rc, of what has set it, is an error. */
void ngx_svc_published_fetch(ngx_svc_published_t *published, ngx_int_t rc);

/* Copies a text into the pool.  Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_svc_published_copy(ngx_svc_published_t *published, ngx_str_t *to,
    const ngx_str_t *from);

/* How long the answer is good: what it says, of an hour to a day, in s. */
int32_t ngx_svc_published_age(const ngx_svc_published_t *published);

/*
 * For a reply: waits for the refresh that is under way in this worker.  When it
 * is over, whatever has come of it, a round trip with calls and reply follows,
 * as ngx_svc_request_again() makes it.  Returns NGX_DONE: the request waits;
 * NGX_DECLINED: there is none, or too many wait for it; or NGX_ERROR.
 */
ngx_int_t ngx_svc_published_wait(const ngx_svc_published_kind_t *kind,
    const ngx_str_t *id, ngx_svc_request_t *sr, ngx_svc_pg_pool_e pool,
    ngx_int_t (*calls)(ngx_svc_request_t *sr),
    ngx_int_t (*reply)(ngx_svc_request_t *sr));

/* Sets the tenant of an op that no request asks for: binds its id, as bytes. */
extern const ngx_svc_pg_statement_t  ngx_svc_sql_published_tenant;

/* Call it at the end of a worker. */
void ngx_svc_published_exit_worker(void);


#endif /* _NGX_SVC_PUBLISHED_H_INCLUDED_ */
